"""Reads an einsum pattern and its extents as the library's grammar does, far enough to write a program of it:
the operands are made from their groups."""
import dataclasses
import math
import re


class Mistake(Exception):
    """What the user wrote is refused; the text says why."""


@dataclasses.dataclass(frozen=True)
class Extent:
    value: int
    is_dynamic: bool = False

    def __str__(self):
        return ('?' if self.is_dynamic else '') + str(self.value)


@dataclasses.dataclass(frozen=True)
class Item:
    """`name`, `name=index` or `name=(p q 2)`: the axis, and its factors, names or numbers."""
    axis: str
    factors: tuple


def read_extent(word):
    """`seq=?128` -> ('seq', Extent(128, True))"""
    match = re.fullmatch(r"([a-z_][a-z0-9_]*'*)=(\??)(\d+)", word)
    if not match:
        raise Mistake(f'`{word}` is no extent: write `name=128`, or `name=?128` for one that is known at run time only')
    return match[1], Extent(int(match[3]), match[2] == '?')


TOKEN = re.compile(r"\s*(?:(?P<name>[a-z_][a-z0-9_]*'*)|(?P<number>\d+)|(?P<dots>\.\.\.)|(?P<arrow>->)|"
                   r"(?P<sign>[=(),]))")


def tokens(text):
    at, found = 0, []
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            place = len(text) - len(text[at:].lstrip())
            raise Mistake(f'the pattern has `{text[place]}`, which patterns do not have, '
                          f'in `{text[:place]}>>{text[place]}<<{text[place + 1:]}` '
                          '(names are of small letters, digits and `_`)')
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class Pattern:
    """operands, result: lists of Items."""

    def __init__(self, text):
        self.text = ' '.join(text.split())
        self.left = tokens(text)
        arrows = [kind for kind, _ in self.left].count('arrow')
        if arrows != 1:
            raise Mistake(f'the pattern has {arrows or "no"} `->`: write `i k, k j -> i j`')
        self.operands = [self.group()]
        while self.take('sign', ','):
            self.operands.append(self.group())
        if not self.take('arrow'):
            raise Mistake(f'`{self.left[0][1]}` stands where `,` or `->` is expected')
        self.result = self.group()
        if self.left:
            raise Mistake(f'`{self.left[0][1]}` stands behind the result')
        self.check()

    def next(self):
        return self.left[0] if self.left else ('end', '')

    def take(self, kind, text=None):
        if self.next()[0] != kind or text not in (None, self.next()[1]):
            return None
        return self.left.pop(0)[1]

    def group(self):
        items = []
        while self.next()[0] in ('name', 'number', 'dots'):
            if self.next()[0] == 'dots':
                raise Mistake('`...` stands for the axes of a tensor that exists; here the operands are made from the '
                              'pattern, so name the axes')
            if self.next()[0] == 'number':
                raise Mistake(f'the number {self.next()[1]} stands for no axis by itself: write '
                              f'`axis=(p {self.next()[1]})`')
            name = self.take('name')
            factors = (name,)
            if self.take('sign', '='):
                factors = self.index(name)
            items.append(Item(name, factors))
        return items

    def index(self, axis):
        if not self.take('sign', '('):
            name = self.take('name')
            if not name:
                raise Mistake(f'`{axis}=` wants an index: a name, or factors in parentheses')
            return (name,)
        factors = []
        while self.next()[0] in ('name', 'number'):
            kind, text = self.left.pop(0)
            factors.append(int(text) if kind == 'number' else text)
        if not self.take('sign', ')'):
            raise Mistake(f'`{axis}=(` has no `)` behind its factors, which are names and numbers')
        if not factors:
            raise Mistake(f'`{axis}=()` has no factors')
        return tuple(factors)

    def check(self):
        for number, items in enumerate(self.operands + [self.result], 1):
            where = f'operand {number}' if number <= len(self.operands) else 'the result'
            for i, item in enumerate(items):
                if any(other.axis == item.axis for other in items[:i]):
                    raise Mistake(f"axis `{item.axis}` stands twice in {where}: a diagonal is written "
                                  f'`row=i col=i`, a second axis of the same extent `{item.axis}\'`')
        indices = {factor for items in self.operands for item in items for factor in item.factors}
        seen = set()
        for item in self.result:
            for factor in item.factors:
                if isinstance(factor, int):
                    raise Mistake(f'the number {factor} in the result is an index that no operand has: einsum repeats '
                                  'nothing')
                if factor not in indices:
                    raise Mistake(f'index `{factor}` of the result is in no operand'
                                  + similar(factor, indices) + f' (they have: {" ".join(map(str, names_of(indices)))})')
                if factor in seen:
                    raise Mistake(f'index `{factor}` stands twice in the result')
                seen.add(factor)

    @property
    def indices(self):
        """Names of the indices, in order of appearance."""
        return list(dict.fromkeys(factor for items in self.operands for item in items for factor in item.factors
                                  if not isinstance(factor, int)))

    @property
    def axes(self):
        return list(dict.fromkeys(item.axis for items in self.operands + [self.result] for item in items))


def names_of(indices):
    return sorted(index for index in indices if not isinstance(index, int))


def distance(a, b):
    """Changes, insertions and deletions of letters from one word to the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def similar(name, names):
    near = [other for other in names_of(names) if other != name and len(name) > 2
            and distance(name, other) <= max(1, len(name) // 3)]
    return f'; did you mean `{near[0]}`?' if near else ''


class Extents:
    """The extent of every index and of every axis: what was given, and what follows from it."""

    def __init__(self, pattern, given):
        self.pattern = pattern
        self.of = dict(given)
        known = set(pattern.axes) | set(pattern.indices)
        for name in given:
            if name not in known:
                raise Mistake(f'an extent is given for `{name}`, which the pattern has not{similar(name, known)} '
                              f'(it has: {" ".join(sorted(known))})')
        while self.step():
            pass
        for name in pattern.indices + pattern.axes:
            if name not in self.of:
                raise Mistake(f'the extent of `{name}` is missing: add `{name}=128`, or `{name}=?128` for one that is '
                              f'known at run time only{similar(name, known)}')
        for name, extent in self.of.items():
            if extent.value >= 1 << 40:
                raise Mistake(f'`{name}={extent}` is beyond 2^40')

    def set(self, name, extent, why):
        if name not in self.of:
            self.of[name] = extent
            return True
        if self.of[name].value != extent.value:
            raise Mistake(f'`{name}` has extent {self.of[name].value}, but {why} makes it {extent.value}')
        return False

    def step(self):
        """Whether something new was learned."""
        learned = False
        for name in self.pattern.axes:  # hidden' is as long as hidden
            plain = name.rstrip("'")
            for a, b in ((name, plain), (plain, name)):
                if a != b and a in self.of:
                    learned |= self.set(b, self.of[a], f'`{a}`')
        for items in self.pattern.operands + [self.pattern.result]:
            for item in items:
                learned |= self.step_item(item)
        return learned

    def step_item(self, item):
        written = ' '.join(map(str, item.factors))
        written = f'`{item.axis}=({written})`' if len(item.factors) > 1 else f'`{item.axis}={written}`'
        factors = {f: Extent(f) if isinstance(f, int) else self.of.get(f) for f in item.factors}
        unknown = [f for f, extent in factors.items() if extent is None]
        known = [factors[f] for f in item.factors if factors[f] is not None]
        product = math.prod(extent.value for extent in known)
        is_dynamic = any(extent.is_dynamic for extent in known)
        if not unknown:
            return self.set(item.axis, Extent(product, is_dynamic), written)
        if len(unknown) > 1 or item.axis not in self.of:
            return False
        whole = self.of[item.axis]
        if product == 0 or whole.value % product:
            raise Mistake(f'{written}: {whole.value} is no multiple of {product}')
        return self.set(unknown[0], Extent(whole.value // product, whole.is_dynamic or is_dynamic), written)
