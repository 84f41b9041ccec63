"""The roofline: each contraction a point at its operations per byte and its rate, below the measured roofs."""
import math

from drawing import INK, MUTED, Drawing, Scale, colours_of, short

WIDTH, HEIGHT = 800, 470
LEFT, RIGHT, TOP, BOTTOM = 64, 780, 86, 416
HALO = dict(stroke='#ffffff', stroke_width=4, stroke_linejoin='round', paint_order='stroke')


def draw(path, points, roofs, dtype, what):
    """points: dicts of suite, equation, operations, bytes, gflops."""
    points = [point for point in points if point['bytes'] and point['gflops'] > 0]
    if not points:
        return False
    peak = roofs.peak(dtype)
    slowest_rate, fast_rate = roofs.data['copy_gbs'][-1][1], max(rate for _, rate in roofs.data['copy_gbs'])
    at = [point['operations'] / point['bytes'] for point in points]
    x = Scale(min(at) / 1.6, max(at + [peak / slowest_rate * 2]) * 1.6, LEFT, RIGHT)
    y = Scale(min([point['gflops'] for point in points] + [peak / 50]) / 1.5,
              max([point['gflops'] for point in points] + [peak]) * 1.9, BOTTOM, TOP)
    picture = Drawing(WIDTH, HEIGHT)
    picture.text(LEFT, 26, f'Contractions below the roofs of this machine, {dtype}', font_size=16, font_weight='bold')
    picture.text(LEFT, 46, what, fill=MUTED)
    for tick in y.ticks():
        picture.line(LEFT, y(tick), RIGHT, y(tick))
        picture.text(LEFT - 8, y(tick) + 4.5, short(tick), text_anchor='end', fill=MUTED)
    for tick in x.ticks((1,) if x.high / x.low > 300 else (1, 2, 5)):
        picture.line(x(tick), BOTTOM, x(tick), BOTTOM + 5, stroke=MUTED)
        picture.text(x(tick), BOTTOM + 20, short(tick), text_anchor='middle', fill=MUTED)
    picture.line(LEFT, BOTTOM, RIGHT, BOTTOM, stroke=MUTED)
    picture.text((LEFT + RIGHT) / 2, HEIGHT - 14, 'operations per byte that must move', text_anchor='middle')
    picture.text(LEFT, TOP - 8, 'GFLOP/s', fill=MUTED)

    suites = colours_of([point['suite'] for point in points])
    for suite, colour in reversed(suites.items()):
        for point in points:
            if point['suite'] == suite:
                picture.add('circle', cx=float(x(point['operations'] / point['bytes'])), cy=float(y(point['gflops'])),
                            r=4.5, fill=colour, fill_opacity=0.75, stroke='#ffffff',
                            title=f'{point["equation"]}: {point["gflops"]:.1f} GFLOP/s')
    def slope(rate, label, **style):
        # From where it enters below or at the left to where it meets the flat roof.
        begin, end = max(x.low, y.low / rate), min(x.high, peak / rate)
        if begin >= end:
            return
        picture.line(x(begin), y(begin * rate), x(end), y(end * rate), stroke=INK, stroke_width=1.5, **style)
        middle = begin * (end / begin) ** 0.5
        if x(end) - x(begin) < 160:
            return
        angle = -57.29578 * math.atan2(y(begin * rate) - y(end * rate), x(end) - x(begin))
        px, py = x(middle), y(middle * rate)
        picture.text(px, py - 6, label, fill=INK, font_size=12, text_anchor='middle', **HALO,
                     transform=f'rotate({angle:.1f} {px:.1f} {py:.1f})')

    slope(slowest_rate, f'copies in memory, {slowest_rate:.0f} GB/s')
    if fast_rate > 1.5 * slowest_rate:
        slope(fast_rate, f'copies in caches, {fast_rate:.0f} GB/s', stroke_dasharray='5 4')
    picture.line(x(max(x.low, peak / fast_rate)), y(peak), RIGHT, y(peak), stroke=INK, stroke_width=1.5)
    kinds = [(name, roofs.data[key][dtype]) for key, name in
             (('gemm_gflops', "oneDNN's 2048 cubed"), ('fma_gflops', 'multiply-adds')) if dtype in roofs.data[key]]
    picture.text(RIGHT, y(peak) - 8, ', '.join(f'{name} {rate:.0f}' for name, rate in kinds) + ' GFLOP/s',
                 text_anchor='end', font_size=12, **HALO)

    right = RIGHT
    for suite, colour in reversed(suites.items()):
        label = f'{suite} ({sum(point["suite"] == suite for point in points)})'
        right -= 7.2 * len(label) + 24
        picture.add('circle', cx=float(right + 6), cy=float(TOP - 12), r=5, fill=colour)
        picture.text(right + 16, TOP - 8, label)
    picture.write(path)
    return True
