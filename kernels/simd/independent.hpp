#pragma once

/// Stands before a loop whose iterations do not depend on each other although its arrays may be
/// the same, so that g++ vectorizes it without a check at run time. clang checks: its pragma would
/// warn of the loops that no compiler vectorizes, integer division among them.
#if defined(__clang__)
#define RICCI_INDEPENDENT
#else
#define RICCI_INDEPENDENT _Pragma("GCC ivdep")
#endif
