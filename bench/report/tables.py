"""The tables that run.sh prints, one a suite, out of the records that the JSON file holds."""
import statistics

from bars import geometric_mean

PEERS = ['torch', 'eigen', 'xtensor', 'plain']


def percent(value):
    return f'{100 * value:.1f} %'


def grid(header, rows, left=1):
    """Lines of aligned columns; the first `left` of them to the left."""
    cells = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return ['  ' + '  '.join(cell.ljust(width) if i < left else cell.rjust(width)
                             for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in cells]


TIME = 'us'  # or best_us: the least instead of the median, for a machine that is busy


def ratios(records, peer):
    """[(suite, equation, the peer's time over Ricci's)]"""
    found = []
    for record in records:
        ours, theirs = record['contestants'].get('ricci', {}), record['contestants'].get(peer, {})
        if 'us' in ours and 'us' in theirs:
            found.append((record['suite'], record['equation'], theirs[TIME] / ours[TIME]))
    return found


def race(records):
    """Case by case: Ricci's rate, each other one's time over Ricci's."""
    rows = []
    for record in records:
        runs = record['contestants']
        ours = runs.get('ricci', {})

        def ratio(peer):
            theirs = runs.get(peer, {})
            if theirs.get('wrong'):
                return 'WRONG'
            return f'{theirs[TIME] / ours[TIME]:.2f}' if 'us' in theirs and 'us' in ours else '-'

        share = f'{runs["onednn"][TIME] / ours[TIME]:.2f}' if 'us' in runs.get('onednn', {}) and 'us' in ours else '-'
        name = record['equation'] if record['case'] == record['equation'] else f'{record["case"]} {record["equation"]}'
        rows.append([name, f'{ours[TIME]:.0f}' if 'us' in ours else ours.get('skipped', '-')[:30],
                     f'{record["operations"] / ours[TIME] * 1e-3:.1f}' if 'us' in ours else '-',
                     ours.get('lowering', '-'), share, *map(ratio, PEERS)])
    return grid(['case', 'us', 'GFLOP/s', 'lowering', 'oneDNN share', *(f'{peer} /' for peer in PEERS)], rows)


def skips(records):
    """Why whom: [(peer, reason, cases)]"""
    counted = {}
    for record in records:
        for peer, run in record['contestants'].items():
            if 'skipped' in run and not (peer == 'onednn' and 'not one matrix product' in run['skipped']):
                reason = 'too many operations for it' if 'take it too long' in run['skipped'] else run['skipped']
                counted[peer, reason] = counted.get((peer, reason), 0) + 1
    return [(peer, reason, count) for (peer, reason), count in counted.items()]


def regrets(lines):
    """[(regret, case, chosen, best)], the worst first: how far the chosen lowering is behind the best one."""
    cases = {}
    for line in lines:
        cases.setdefault((line['suite'], line['case'], line['equation'], line['dtype']), []).append(line)
    found = []
    for (suite, name, equation, dtype), candidates in cases.items():
        chosen = next((line for line in candidates if line['chosen']), None)
        if chosen is None or len(candidates) < 2:
            continue
        best = min(candidates, key=lambda line: line[TIME])
        found.append(dict(regret=chosen[TIME] / best[TIME] - 1, suite=suite, case=name, equation=equation, dtype=dtype,
                          chosen=chosen['candidate'], best=best['candidate'], us=chosen[TIME], best_us=best[TIME]))
    return sorted(found, key=lambda entry: -entry['regret'])


def regret_table(found):
    rows = [[entry['suite'], entry['equation'], entry['dtype'], percent(entry['regret']), entry['chosen'],
             f'{entry["us"]:.0f}', entry['best'], f'{entry["best_us"]:.0f}'] for entry in found[:10]]
    lines = grid(['suite', 'case', 'dtype', 'regret', 'chosen', 'us', 'best', 'us'], rows, 3)
    summary = []
    for suite, dtype in dict.fromkeys((entry['suite'], entry['dtype']) for entry in found):
        regret = [entry['regret'] for entry in found if (entry['suite'], entry['dtype']) == (suite, dtype)]
        beyond = sum(x > 0.25 for x in regret)
        summary.append(f'  {suite} {dtype}: {len(regret)} cases with a choice, '
                       f'median {percent(statistics.median(regret))}, worst {percent(regret[0])}, {beyond} beyond 25 %')
    return lines + summary


def copies(lines):
    rows = [[f'{line["from"]} -> {line["to"]}', line['dtype'], f'{line["bytes"] / 1e6:.1f}', f'{line["gbs"]:.1f}',
             f'{line["share"]:.2f}'] for line in sorted(lines, key=lambda line: line['share'])]
    shown = rows if len(rows) <= 16 else rows[:8] + [['...', '', '', '', '']] + rows[-4:]
    return grid(['copy', 'dtype', 'MB', 'GB/s', 'of memcpy'], shown, 2)


def programs(results):
    """Google Benchmark's own: time and counters."""
    lines = []
    for name, benchmarks in results.items():
        lines.append(f'  {name}')
        rows = []
        for run in benchmarks:
            if run.get('error_occurred'):
                rows.append([run['name'], 'FAILED', run.get('error_message', '')])
                continue
            factor = dict(ns=1e-3, us=1, ms=1e3, s=1e6)[run['time_unit']]
            known = {'name', 'run_name', 'run_type', 'family_index', 'per_family_instance_index', 'repetitions',
                     'repetition_index', 'threads', 'iterations', 'real_time', 'cpu_time', 'time_unit'}
            counters = ' '.join(f'{key} {value / 1e9:.3g} G' if key.endswith('_per_second') else f'{key} {value:.4g}'
                                for key, value in run.items() if key not in known and isinstance(value, (int, float)))
            rows.append([run['name'].removesuffix('/real_time'), f'{run["real_time"] * factor:.1f}', counters])
        lines += grid(['benchmark', 'us', 'counters'], rows)
    return lines


def claims(results):
    """Figures beside their targets: [name, value, target, met]."""
    rows = []

    def add(name, value, target, is_met, show='{:.2f}'.format):
        rows.append([name, show(value), target, 'ok' if is_met else 'MISSED'])

    records = [record for record in results.get('race', []) if record['dtype'] == 'f32']
    for peer, least in (('torch', 1.15), ('eigen', 2), ('plain', None), ('xtensor', None)):
        values = [ratio for _, _, ratio in ratios(records, peer)]
        if not values:
            rows.append([f"{peer}'s time over Ricci's, geometric mean", '-', f'>= {least}' if least else '', 'skipped'])
            continue
        mean = geometric_mean(values)
        add(f"{peer}'s time over Ricci's, geometric mean of {len(values)}", mean, f'>= {least}' if least else '',
            least is None or mean >= least)
        if peer == 'torch':
            add('  the least of them', min(values), '>= 0.9', min(values) >= 0.9)
    shares = [record['contestants']['onednn'][TIME] / record['contestants']['ricci'][TIME] for record in records
              if all('us' in record['contestants'].get(name, {}) for name in ('ricci', 'onednn'))]
    if shares:
        mean = geometric_mean(shares)
        add(f"share of oneDNN's rate at the same m, n, k, geometric mean of {len(shares)}", mean, '>= 0.90',
            mean >= 0.90)
        add(f'  the least of them ({sum(x < 0.90 for x in shares)} below 0.90)', min(shares), '', True)
    large = [line['share'] for line in results.get('copies', []) if line['bytes'] >= 1 << 20]
    if large:
        mean = geometric_mean(large)
        add(f'transposing copies of 1 MB and more over memcpy, geometric mean of {len(large)}', mean, '>= 0.75',
            mean >= 0.75)
        add(f'  the least of them ({sum(x < 0.75 for x in large)} below 0.75)', min(large), '', True)
    found = results.get('regret', [])
    if found:
        median = statistics.median(entry['regret'] for entry in found)
        add(f'regret of the chosen lowering, median of {len(found)}', median, '<= 3 %', median <= 0.03, percent)
        add('  the worst of them', found[0]['regret'], '<= 25 %', found[0]['regret'] <= 0.25, percent)
    return grid(['what', 'figure', 'target', ''], rows)
