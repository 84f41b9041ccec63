#!/usr/bin/env python3
"""Fits the constants of plan/cost_model.hpp to timings, so that the candidate with the least sum is the fastest.

usage: bench_plan_lowerings CASES --work > f32.json      (and again with --dtype bf16, of every file of cases)
       fit.py f32.json bf16.json ... [--write]

The kinds of work are those of plan/contraction_work.hpp, in the order of the header's table.

Prints the regret of the choice before and after: how much longer the chosen candidate takes than the fastest one.
Minimised is the expected logarithm of the regret of a soft choice, squared beyond a quarter, with a weak pull towards
the measured times themselves. Needs numpy.
"""
import argparse
import collections
import json
import math
import pathlib
import re

import numpy as np

HEADER = pathlib.Path(__file__).resolve().parents[2] / 'include/ricci/plan/cost_model.hpp'
ROW = re.compile(r'^    \{([^}]*)\},\s*// (\w+)$', re.MULTILINE)
PREFERENCE = 1.25  # candidates_of: a product without copies is taken up to so much above the least


class Timings:
    """Candidates as rows, the least time of all runs; the cases of one dtype lie one after another."""

    def __init__(self, lines, dtype):
        cases = collections.defaultdict(dict)
        for line in lines:
            # A product that the library refuses runs as loops.
            if line['ran'] == line['candidate'] and (line['dtype'] == 'bf16') == (dtype == 'bf16'):
                found = cases[line['case'], line['equation'], line['dtype']]
                same = found.setdefault(line['candidate'], line)
                same['best_us'] = min(same['best_us'], line['best_us'])
        kept = [(name, list(found.values())) for name, found in cases.items() if len(found) > 1]
        self.names = [name for name, _ in kept]
        rows = [line for _, found in kept for line in found]
        self.case = np.repeat(np.arange(len(kept)), [len(found) for _, found in kept])
        self.first = np.r_[0, np.cumsum([len(found) for _, found in kept])[:-1]].astype(int)
        self.work = np.array([line['work'] for line in rows])
        # The least: what else the machine does, it does not do each time.
        self.microseconds = np.array([line['best_us'] for line in rows])
        self.by_library = np.array([line['gemms'] > 0 for line in rows])
        self.candidates = [line['candidate'] for line in rows]
        # Those that the preference for no copies may take.
        self.may_prefer = np.array([line['candidate'] == 'gemm' and min(line['m'], line['n'], line['k']) >= 16
                                    for line in rows])
        best = np.minimum.reduceat(self.microseconds, self.first)
        self.regret = self.microseconds / best[self.case]

    def predicted(self, constants):
        return np.where(self.by_library, self.work @ constants[1], self.work @ constants[0])

    def chosen(self, constants, turns_index):
        predicted = self.predicted(constants)
        chosen = []
        for number, first in enumerate(self.first):
            end = self.first[number + 1] if number + 1 < len(self.first) else len(predicted)
            rows = range(first, end)
            least = min(rows, key=lambda row: predicted[row])
            for row in rows:
                if (self.may_prefer[row] and self.work[row][turns_index] <= 1
                        and predicted[row] <= PREFERENCE * predicted[least]):
                    least = row
            chosen.append(least)
        return np.array(chosen)


def fit(data, start, names, steps, temperature, pull, seed):
    """Constants [loops, library][kind] >= 0, in nanoseconds, by Adam on their logarithms."""
    # Every transpose of a matrix product is one without copies: what turning costs stays within the preference.
    bounded = [(names.index(f'operation_left_{how}'), names.index('operation'), math.log(0.15))
               for how in ('across', 'loose')]
    random = np.random.default_rng(seed)
    used = np.stack([np.abs(data.work[~data.by_library]).sum(0) > 0, np.abs(data.work[data.by_library]).sum(0) > 0])
    with np.errstate(divide='ignore'):
        hint = 0.03 * np.array([[np.median((data.microseconds * 1e3)[rows] / data.work[rows, kind]) if rows.any() else 1
                                 for kind in range(start.shape[1])
                                 for rows in [(data.by_library == side) & (data.work[:, kind] > 0)]]
                                for side in (False, True)])
    theta = np.log(np.maximum(start, hint if seed % 2 else 1e-6)) + random.normal(0, 0.3 if seed else 0, start.shape)
    log_time = np.log(data.microseconds * 1e3)
    log_regret = np.log(data.regret)
    price = log_regret + 8 * np.maximum(0, log_regret - math.log(1.1)) ** 2
    side = data.by_library.astype(int)
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        t = temperature * (1 + 3 * max(0, 1 - 2 * step / steps))
        constants = np.exp(theta)
        predicted = data.predicted(constants)
        z = -np.log(predicted) / t
        z -= np.maximum.reduceat(z, data.first)[data.case]
        soft = np.exp(z)
        soft /= np.add.reduceat(soft, data.first)[data.case]
        expected = np.add.reduceat(soft * price, data.first)[data.case]
        off = np.log(predicted) - log_time
        slope = -soft * (price - expected) / t / len(data.first) + pull * np.tanh(off) / len(off)
        share = data.work * constants[side] / predicted[:, None] * slope[:, None]
        gradient = np.stack([share[~data.by_library].sum(0), share[data.by_library].sum(0)])
        m = 0.9 * m + 0.1 * gradient
        v = 0.99 * v + 0.01 * gradient ** 2
        rate = 0.03 * (1 if step < steps / 2 else 0.2)
        theta -= rate * (m / (1 - 0.9 ** step)) / (np.sqrt(v / (1 - 0.99 ** step)) + 1e-9)
        theta = np.clip(theta, math.log(1e-7), math.log(1e5))
        for kind, of, most in bounded:
            theta[1, kind] = min(theta[1, kind], theta[1, of] + most)
    return np.where(used, np.exp(theta), 0)


def show(title, data, constants, turns, worst):
    chosen = data.chosen(constants, turns)
    regret = data.regret[chosen]
    print(f'{title}: {len(regret)} cases, median {100 * (np.median(regret) - 1):.1f} %, mean '
          f'{100 * (regret.mean() - 1):.1f} %, worst {100 * (regret.max() - 1):.0f} %, '
          f'{(regret > 1.25).sum()} beyond 25 %')
    for number in np.argsort(-regret)[:worst]:
        best = data.first[number] + np.argmin(data.regret[data.case == number])
        row = chosen[number]
        predicted = data.predicted(constants) * 1e-3
        print(f'  {100 * (regret[number] - 1):4.0f} %  {" ".join(data.names[number][:2])}: {data.candidates[row]} '
              f'{data.microseconds[row]:.0f} us (predicted {predicted[row]:.0f}), {data.candidates[best]} '
              f'{data.microseconds[best]:.0f} ({predicted[best]:.0f})')


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument('timings', nargs='+', type=pathlib.Path)
    arguments.add_argument('--write', action='store_true', help='put the constants into the header')
    arguments.add_argument('--steps', type=int, default=3000)
    arguments.add_argument('--starts', type=int, default=4, help='tries from other points; the best is kept')
    arguments.add_argument('--temperature', type=float, default=0.08)
    arguments.add_argument('--pull', type=float, default=0.05)
    arguments.add_argument('--worst', type=int, default=12, help='cases to print')
    options = arguments.parse_args()
    lines = [json.loads(line) for path in options.timings for line in path.read_text().splitlines()]
    text = HEADER.read_text()
    rows = ROW.findall(text)
    names = [name for _, name in rows]
    table = np.array([[float(x) for x in values.split(',')] for values, _ in rows])
    turns = names.index('item_left_across')
    for column, dtype in enumerate(['f32', 'bf16']):
        if not any((line['dtype'] == 'bf16') == (dtype == 'bf16') for line in lines):
            continue
        data = Timings(lines, dtype)
        before = np.stack([table[:, column], table[:, 2 + column]])
        show(f'{dtype} before', data, before, turns, options.worst)
        tries = [fit(data, before, names, options.steps, options.temperature, options.pull, seed)
                 for seed in range(options.starts)]

        def price(constants):
            regret = np.log(data.regret[data.chosen(constants, turns)])
            return (regret + 8 * np.maximum(0, regret - math.log(1.1)) ** 2).mean()
        best = min(tries, key=price)
        best = np.array([[float(f'{x:.2g}') if x > 1e-6 else 0 for x in side] for side in best])
        for kind, name in enumerate(names):  # of loops too, which no candidate shows
            if name.startswith('cop'):
                best[0, kind] = best[1, kind]
        show(f'{dtype} after', data, best, turns, options.worst)
        table[:, column], table[:, 2 + column] = best
    if options.write:
        new = iter(table)

        def row(match):
            values = '{' + ', '.join(np.format_float_positional(x, trim='-') for x in next(new)) + '},'
            return f'    {values:<35}// {match[2]}'
        HEADER.write_text(ROW.sub(row, text))


if __name__ == '__main__':
    main()
