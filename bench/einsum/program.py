"""The C++ program that einsum.py compiles: the operands, the einsum as the user would write it, and with every way
to run it forced."""
LOWERINGS = ['loops', 'gemm', 'pack_first_gemm', 'pack_second_gemm', 'pack_gemm', 'gemm_permute',
             'pack_first_gemm_permute', 'pack_second_gemm_permute', 'pack_gemm_permute']
HEADERS = '#include <ricci/ricci.hpp>\n\n#include "bench/einsum/comparison.hpp"\n'


def paths(operands):
    """name -> positions of the orders worth comparing, as path<...> takes them."""
    left = [0, 1]
    for count in range(operands - 1, 1, -1):
        left += [0, count - 1]
    right = []
    for count in range(operands, 1, -1):
        right += [count - 2, count - 1]
    named = {'left to right': left, 'right to left': right}
    if operands == 3:
        named['ends first'] = [0, 2, 0, 1]
    return named


class Program:
    def __init__(self, pattern, extents, dtype):
        self.pattern, self.extents, self.dtype = pattern, extents, dtype
        self.types = {}
        for name in pattern.axes:
            self.type_of(name)

    def type_of(self, name):
        """The spelling of an axis as a type: HeadDimAxis, prime<HiddenAxis>. No other name ends so: not dtype, EOF."""
        if name.endswith("'"):
            return f'prime<{self.type_of(name[:-1])}>'
        if name not in self.types:
            spelled = ''.join(part.capitalize() for part in name.split('_')) + 'Axis'
            if not spelled[0].isalpha():
                spelled = 'Axis' + spelled
            while spelled in self.types.values():
                spelled += '_'
            self.types[name] = spelled
        return self.types[name]

    def axes(self):
        lines = []
        for name, spelled in self.types.items():
            extent = self.extents.of[name]
            lines.append(f'struct {spelled} : axis<"{name}"{"" if extent.is_dynamic else f", {extent.value}"}> {{}};')
        return lines

    def values(self, names):
        """`, Seq{128}` for each that is dynamic."""
        return ''.join(f', {self.type_of(name)}{{{self.extents.of[name].value}}}' for name in names
                       if self.extents.of[name.rstrip("'")].is_dynamic)

    def operands(self):
        lines = []
        for number, items in enumerate(self.pattern.operands):
            names = [item.axis for item in items]
            types = ', '.join([self.dtype] + [self.type_of(name) for name in names])
            lines.append(f'  tensor x{number} = bench::operand<{types}>({number}{self.values(names)});')
        return lines

    def new_axes(self):
        """Of the result and of no operand: written behind the pattern."""
        known = {item.axis for items in self.pattern.operands for item in items}
        return [item.axis for item in self.pattern.result if item.axis not in known]

    def given(self):
        """New axes whose extents no operand gives: factors of a split of which none other is known."""
        split = {factor for items in self.pattern.operands for item in items if len(item.factors) > 1
                 for factor in item.factors}
        alone = {item.factors[0] for items in self.pattern.operands for item in items if len(item.factors) == 1}
        return [item.axis for item in self.pattern.result if item.axis in self.new_axes()
                and len(item.factors) == 1 and item.factors[0] in split - alone]

    def einsum(self, steering=''):
        """As a user writes it."""
        types = ''.join(', ' + self.type_of(name) for name in self.new_axes())
        arguments = ', '.join(f'x{number}' for number in range(len(self.pattern.operands)))
        return f'einsum<"{self.pattern.text}"{types}{steering}>({arguments}{self.values(self.given())})'

    def text(self, threads, budget):
        count = len(self.pattern.operands)
        types = ''.join(', ' + self.type_of(name) for name in self.new_axes())
        asked = ''.join(f', {self.type_of(name)}' for name in self.given()
                        if self.extents.of[name.rstrip("'")].is_dynamic)
        operand_types = ''.join(f', decltype(x{number})' for number in range(count))
        lines = [HEADERS, 'using namespace ricci;', '', *self.axes(), '', 'int main() {', *self.operands(),
                 f'  bench::comparison runs({threads}, {budget});',
                 f'  runs.add("", [&] {{ return {self.einsum()}; }});']
        if count == 2:
            # In a template, so that a lowering that does not fit is not looked at.
            lines += ['  auto const force = [&]<class How>(char const* name, How) {',
                      f'    if constexpr (einsum_ok<"{self.pattern.text}"{types}, How{operand_types}{asked}>)',
                      f'      runs.add(name, [&] {{ return {self.einsum(", How")}; }});', '  };']
            lines += [f'  force("{name}", lowering::{name}{{}});' for name in LOWERINGS]
        elif count > 2:
            for name, positions in paths(count).items():
                steering = f', path<{", ".join(map(str, positions))}>'
                lines.append(f'  runs.add("{name}", [&] {{ return {self.einsum(steering)}; }});')
        lines += ['  return runs.print();', '}', '']
        return '\n'.join(lines)

    def single(self):
        """The einsum alone, as in a user's program: what it costs the compiler."""
        parameters = []
        for number, items in enumerate(self.pattern.operands):
            types = ', '.join([self.dtype] + [self.type_of(item.axis) for item in items])
            parameters.append(f'tensor<{types}> const& x{number}')
        return '\n'.join(['#include <ricci/ricci.hpp>', 'using namespace ricci;', *self.axes(),
                          'void keep(void const*);', f'void statement({", ".join(parameters)}) {{',
                          f'  tensor r = {self.einsum()};', '  keep(&r);', '}', ''])
