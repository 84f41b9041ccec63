"""Bars: for each peer how many times Ricci's time it takes, a bar a contraction, sorted."""
import math

from drawing import INK, MUTED, Drawing, Scale, colours_of, short

WIDTH, LEFT, RIGHT, TOP, PANEL, GAP = 800, 64, 640, 72, 130, 30


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def draw(path, peers, what):
    """peers: (label, [(suite, equation, ratio)]) each."""
    peers = [(label, sorted(ratios, key=lambda entry: entry[2])) for label, ratios in peers if ratios]
    if not peers:
        return False
    height = TOP + len(peers) * (PANEL + GAP) + 10
    picture = Drawing(WIDTH, height)
    picture.text(LEFT, 26, "Time of others over Ricci's, contraction by contraction", font_size=16, font_weight='bold')
    picture.text(LEFT, 46, f'above 1 Ricci is faster; {what}', fill=MUTED)
    colours = colours_of([suite for _, ratios in peers for suite, _, _ in ratios])
    for row, (suite, colour) in enumerate(colours.items()):
        picture.add('rect', x=RIGHT + 18, y=float(TOP - 38 + 17 * row), width=11, height=11, fill=colour)
        picture.text(RIGHT + 35, TOP - 28 + 17 * row, suite)
    for number, (label, ratios) in enumerate(peers):
        top = TOP + number * (PANEL + GAP) + 12
        bottom = top + PANEL - 12
        values = [ratio for _, _, ratio in ratios]
        y = Scale(min(values + [0.8]) / 1.1, max(values + [2]) * 1.1, bottom, top)
        steps = (1, 2, 5) if y.high / y.low < 60 else (1,)
        for tick in y.ticks(steps):
            picture.line(LEFT, y(tick), RIGHT, y(tick))
            picture.text(LEFT - 8, y(tick) + 4.5, short(tick), text_anchor='end', fill=MUTED)
        step = (RIGHT - LEFT) / len(ratios)
        for place, (suite, equation, ratio) in enumerate(ratios):
            ends = sorted((y(1), y(ratio)))
            picture.add('rect', x=LEFT + place * step + step * 0.12, y=ends[0], width=step * 0.76,
                        height=max(ends[1] - ends[0], 0.8), fill=colours[suite], title=f'{equation}: {ratio:.2f}')
        picture.line(LEFT, y(1), RIGHT, y(1), stroke=INK)
        mean = geometric_mean(values)
        picture.line(LEFT, y(mean), RIGHT, y(mean), stroke=INK, stroke_dasharray='5 4')
        name, _, more = label.partition(', ')
        picture.text(RIGHT + 18, top + (16 if more else 34), name, font_weight='bold')
        if more:
            picture.text(RIGHT + 18, top + 34, more, fill=MUTED)
        picture.text(RIGHT + 18, top + 54, f'geometric mean {mean:.2f}')
        picture.text(RIGHT + 18, top + 72, f'least {min(values):.2f}, most {short(float(f"{max(values):.3g}"))}',
                     fill=MUTED)
        picture.text(RIGHT + 18, top + 90, f'{len(values)} contractions', fill=MUTED)
    picture.write(path)
    return True
