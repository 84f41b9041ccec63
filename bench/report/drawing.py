"""Pictures as SVG, written by hand: text, lines, marks and axes of decades."""
import html
import math

INK, MUTED, RULE = '#1f2328', '#59636e', '#e4e8ec'
# Told apart by the colour-blind as well: Okabe and Ito's palette.
COLOURS = dict(tccg='#0072b2', transformer='#d55e00', einsum_benchmark='#009e73')
OTHER_COLOURS = ['#cc79a7', '#e69f00', '#56b4e9']


def colours_of(suites):
    """suite -> colour, in a fixed order, the same in every picture."""
    others = [suite for suite in dict.fromkeys(suites) if suite not in COLOURS]
    known = {suite: colour for suite, colour in COLOURS.items() if suite in suites}
    return known | {suite: OTHER_COLOURS[i % 3] for i, suite in enumerate(others)}


class Drawing:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def add(self, tag, content=None, title=None, **attributes):
        written = ''.join(f' {name.replace("_", "-")}="{value:.1f}"' if isinstance(value, float)
                          else f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        inside = (f'<title>{html.escape(title)}</title>' if title else '') + (html.escape(content) if content else '')
        self.parts.append(f'<{tag}{written}>{inside}</{tag}>' if inside else f'<{tag}{written}/>')

    def text(self, x, y, content, **attributes):
        self.add('text', content, x=float(x), y=float(y), **attributes)

    def line(self, x1, y1, x2, y2, stroke=RULE, **attributes):
        self.add('line', x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), stroke=stroke, **attributes)

    def write(self, path):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" '
                'font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif" font-size="13" '
                f'fill="{INK}">\n<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>\n')
        path.write_text(head + '\n'.join(self.parts) + '\n</svg>\n')


class Scale:
    """Logarithmic, from [low, high] to [begin, end]."""

    def __init__(self, low, high, begin, end):
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def __call__(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self, steps=(1, 2, 5)):
        decade = 10.0 ** math.floor(math.log10(self.low))
        while decade <= self.high:
            for step in steps:
                if self.low * 0.999 <= decade * step <= self.high * 1.001:
                    yield decade * step
            decade *= 10


def short(value):
    """A tick's text: 0.1, 1, 1000."""
    return f'{value:g}' if value < 1e4 else f'{value / 1e3:g}k'
