// expect: reduce: a pattern has at most 32 indices
#include <ricci/ricci.hpp>
using namespace ricci;

struct Batch : axis<"batch"> {};
struct Row : axis<"row"> {};

int main() {
  tensor x = zeros<f32, Batch>(Batch{4});
#ifdef RICCI_MISTAKE
  tensor y = reduce<op::sum, "batch=(i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 i10 i11 i12 i13 i14 i15 i16 i17 i18 i19 i20 i21 i22 i23 i24 i25 i26 i27 i28 i29 i30 i31 i32) -> ">(x);
#else
  tensor y = reduce<op::sum, "batch=(i0 2) -> row=i0", Row>(x);
#endif
}
