#include "bench/plan/cases.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

std::string refusal(std::string const& line) {
  try {
    bench::read_case(line);
  } catch (std::exception const& fault) {
    return fault.what();
  }
  return "";
}

bool says(std::string const& line, char const* what) {
  std::string const said = refusal(line);
  CAPTURE(said);
  return said.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a case of a benchmark's file") {
  bench::contraction_case const c = bench::read_case("scores; bqd,bkd->bqk; b=2 q=3 k=4 d=5");
  CHECK(c.name == "scores");
  CHECK(c.groups[0] == "bqd");
  CHECK(c.groups[1] == "bkd");
  CHECK(c.groups[2] == "bqk");
  CHECK(c.extents.at('d') == 5);
  CHECK(c.operations == 2 * 2 * 3 * 4 * 5);
  CHECK(bench::read_case("aa,ab->b; a=2 b=3").name == "aa,ab->b");
}

TEST_CASE("what is no case is refused with a sentence") {
  CHECK(says("garbage", "a case is"));
  CHECK(says("n; ab,bc->ac; a=2 b=3", "the extent of index `c` is missing"));
  CHECK(says("n; ab,bc->ac; a=2 b=3 c=x", "the extent of c is a whole number"));
  CHECK(says("n; ab,bc->ac; a=2 b=3 c=-4", "the extent of c is a whole number"));
  CHECK(says("n; ab,bc->ac; a=2 b=3 c=20x", "this is `20x`"));
  CHECK(says("n; ab,bc->ac; a=2 b=3 c=99999999999999999999", "this is `99999999999999999999`"));
  CHECK(says("n; ab,bc->ac; a b=3 c=4", "an extent is written a=2, this is `a`"));
  CHECK(says("n; ab,bc,cd->ad; a=2 b=3 c=4 d=5", "two operands and one result"));
  CHECK(says("n; ab,bc->ac->b; a=2 b=3 c=4", "two operands and one result"));
  CHECK(says("n; ab->ab; a=2 b=3", "two operands and one result"));
  CHECK(says("n; a b,bc->ac; a=2 b=3 c=4", "an index is one letter, this is ` `"));
  CHECK(says("n; ab,bc->aac; a=2 b=3 c=4", "index `a` stands twice in the result"));
  CHECK(says("n; ab,bc->ad; a=2 b=3 c=4 d=5", "index `d` of the result is in no operand"));
}
