// expect: module: member `layers` is neither a tensor nor a module
#include <ricci/ricci.hpp>
using namespace ricci;

struct Hidden : axis<"hidden", 64> {};

struct Model2 {
  BOOST_HANA_DEFINE_STRUCT(Model2, (tensor<f32, Hidden>, weight), (int, layers));
};

int main() {
  Model2 model;
#ifdef RICCI_MISTAKE
  for_each_parameter(model, [](std::string const&, auto&) {});
#else
  (void)model;
#endif
}
