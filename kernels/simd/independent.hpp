#pragma once

/// Stands before a loop whose iterations do not depend on each other although its arrays may be
/// the same, so that the compiler vectorizes it without a run-time check.
#if defined(__clang__)
#define RICCI_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define RICCI_INDEPENDENT _Pragma("GCC ivdep")
#endif
