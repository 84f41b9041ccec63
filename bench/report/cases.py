"""Files of contractions: lines `name; ab,bc->ac; a=2 b=3 c=4`, or without a name. # begins a comment."""
import dataclasses
import functools
import operator

ELEMENT_BYTES = dict(f32=4, f64=8, bf16=2, f16=2, i32=4)


@dataclasses.dataclass(frozen=True)
class Case:
    suite: str
    name: str
    equation: str
    extents: dict

    @property
    def groups(self):
        """First, second and result."""
        operands, result = self.equation.split('->')
        return [*operands.split(','), result]

    @property
    def text(self):
        """As the peers' tables name it."""
        return f'{self.equation}; ' + ' '.join(f'{letter}={extent}' for letter, extent in self.extents.items())

    @property
    def operations(self):
        return 2 * self.count(self.extents)

    def count(self, group):
        return functools.reduce(operator.mul, (self.extents[letter] for letter in group), 1)

    def bytes(self, dtype):
        return sum(map(self.count, self.groups)) * ELEMENT_BYTES[dtype]


def read_cases(path, suite=None):
    """The cases of a file, of two operands each."""
    cases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        parts = [part.strip() for part in line.split('#')[0].split(';')]
        if parts == ['']:
            continue
        if len(parts) not in (2, 3) or '->' not in parts[-2] or parts[-2].count(',') != 1:
            raise ValueError(f'{path}:{number}: a case is `name; ab,bc->ac; a=2 b=3 c=4`, this is `{line}`')
        extents = {e.split('=')[0]: int(e.split('=')[1]) for e in parts[-1].split()}
        cases.append(Case(suite or path.stem, parts[0], parts[-2], extents))
    return cases
