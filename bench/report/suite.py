#!/usr/bin/env python3
"""Runs every benchmark of the repository, prints a table for each suite, and writes results.json and the pictures.

The contraction sets (tccg.txt, transformer.txt, einsum_benchmark.txt) are read from --cases; the repository holds no
copy of them. What is not installed is skipped, and said so. Peers: torch (RICCI_PEERS_PYTHON or python3), Eigen's
Tensor, xtensor-blas, plain loops. A machine that does something else meanwhile gives wrong figures.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'peers'))
import bars
import build
import machine
import roofline
import tables
from cases import read_cases
from race import race
from roofs import Roofs

import generate

SUITES = ['copies', 'lowerings', 'race', 'programs', 'compile_time']
BENCH = build.RELEASE / 'bench'
# What a contestant may take at most, so that a case takes a second or two.
LIMITS = dict(plain=1.5e9, xtensor=1.5e9, eigen=2e10)


class Report:
    def __init__(self, arguments):
        self.arguments = arguments
        self.begin = time.monotonic()
        self.results = dict(machine=machine.facts(build.ROOT, arguments.threads),
                            command=' '.join(['bash bench/run.sh', *sys.argv[1:]]), commands=[], skipped=[])

    def note(self, text):
        print(f'[{time.monotonic() - self.begin:5.0f} s] {text}', file=sys.stderr, flush=True)

    def skip(self, what, why):
        self.results['skipped'].append(dict(what=what, why=why))
        print(f'SKIP {what}: {why}', flush=True)

    def table(self, title, lines):
        print(f'\n== {title}', *lines, sep='\n', flush=True)

    def run(self, command, stderr=None):
        """A program's output, also where it fails, which is said."""
        command = [str(part) for part in command]
        self.results['commands'].append(' '.join(command))
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        if done.returncode:
            print(done.stderr or '', end='', file=sys.stderr)
            self.skip(' '.join(command), f'it ended with status {done.returncode}')
        return done.stdout

    def json_lines(self, command, suite):
        lines = []
        for line in (self.run(command) or '').splitlines():
            lines.append(dict(json.loads(line), suite=suite))
        return lines

    # --- the suites ------------------------------------------------------------------------------
    def case_files(self):
        """suite -> (file, cases): quick ones hold the cases below the limit of operations."""
        files, self.known = {}, {}
        for suite in ('tccg', 'transformer', 'einsum_benchmark'):
            path = self.arguments.cases / f'{suite}.txt'
            if not path.exists():
                self.skip(suite, f'{path} is not there (--cases FOLDER says where)')
                continue
            self.known[suite] = read_cases(path, suite)
            cases = [case for case in self.known[suite]
                     if self.arguments.least <= case.operations <= self.arguments.most
                     and self.arguments.filter in f'{case.name};{case.equation}']
            if suite == 'einsum_benchmark':
                # Most of them ask for memory: what fills half of it is no benchmark of ours.
                cases = [case for case in cases if case.bytes('f32') < 2e9]
                cases = cases[:: 8 if self.arguments.quick else 1]
            written = self.arguments.output / f'{suite}.txt'
            written.write_text(''.join(f'{case.name}; {case.text}\n' for case in cases))
            files[suite] = (written, cases)
        return files

    def options(self, budget):
        return ['--threads', self.arguments.threads, '--budget', budget * self.arguments.budget]

    def copies(self):
        lines = []
        for suite in ('tccg', 'transformer'):
            if suite in self.files:
                self.note(f'copies of {suite}')
                lines += self.json_lines([BENCH / 'bench_plan_copies', self.files[suite][0], *self.options(0.1),
                                          '--least', 1 << 20], suite)
        self.results['copies'] = lines
        self.table('transposing copies of 1 MB and more, beside memcpy of the same bytes', tables.copies(lines))

    def lowerings(self):
        lines = []
        for suite, (path, cases) in self.files.items():
            self.note(f'lowerings of {suite}: {len(cases)} cases, every candidate forced')
            budget = 0.1 if suite == 'einsum_benchmark' else 0.3
            for dtype in ['f32', 'bf16'] if suite == 'transformer' and not self.arguments.quick else ['f32']:
                command = [BENCH / 'bench_plan_lowerings', path, *self.options(budget), '--dtype', dtype]
                lines += self.json_lines(command, suite)
        self.results['lowerings'] = lines
        self.results['regret'] = tables.regrets(lines)
        self.table('regret: how far the chosen lowering is behind the fastest',
                   tables.regret_table(self.results['regret']))

    def peers(self, cases, dtype):
        """The commands of the contestants that are there."""
        folder = BENCH / 'peers' / dtype
        made = generate.generate(cases, dtype, folder, build.LIBRARY, note=self.note,
                                 only_made=('eigen', 'xtensor') if self.arguments.quick else ())
        commands = []
        for name, program in made.items():
            if isinstance(program, ValueError):
                self.skip(name, str(program))
            else:
                commands.append([str(program), str(self.arguments.threads)])
        python = self.arguments.python
        has_torch = subprocess.run([python, '-c', 'import torch'], capture_output=True).returncode == 0
        if has_torch:
            commands.append([python, str(pathlib.Path(generate.__file__).parent / 'torch_peer.py'),
                             str(self.arguments.threads), dtype])
        else:
            self.skip('torch', f'{python} cannot import it (RICCI_PEERS_PYTHON names one that can)')
        self.results['commands'] += [' '.join(command) for command in commands]
        return commands

    def race(self):
        self.results['race'] = []
        for dtype in ['f32'] if self.arguments.quick else ['f32', 'bf16']:
            suites = ('tccg', 'transformer') if dtype == 'f32' else ('transformer',)
            cases = [case for suite in suites if suite in self.files for case in self.files[suite][1]]
            if not cases:
                continue
            # All that there are, so that another choice of cases finds its programs made.
            commands = self.peers([case for suite in suites for case in self.known.get(suite, [])], dtype)
            records = race(cases, dtype, commands, self.arguments.threads, 0.3 * self.arguments.budget, LIMITS,
                           self.note)
            self.results['race'] += records
            for suite in suites:
                mine = [record for record in records if record['suite'] == suite]
                if mine:
                    self.table(f"{suite}, {dtype}: Ricci, and the others' time over Ricci's", tables.race(mine))
            for peer, reason, count in tables.skips(records):
                self.skip(peer, f'{count} of {len(records)} cases in {dtype}: {reason}')

    def programs(self):
        found = {}
        least = 0.01 if self.arguments.quick else 0.05
        quick = dict(bench_exec_gemm='^f32/2', bench_language_training_step=None)
        for program in sorted(BENCH.glob('bench_*')):
            if not program.is_file() or program.name in ('bench_plan_lowerings', 'bench_plan_copies',
                                                         'bench_report_roofs'):
                continue
            chosen = quick.get(program.name, '') if self.arguments.quick else ''
            if chosen is None:
                self.skip(program.name, '--quick leaves it out')
                continue
            self.note(program.name)
            file = self.arguments.output / f'{program.name}.json'
            file.unlink(missing_ok=True)
            self.run([program, f'--benchmark_out={file}', '--benchmark_out_format=json',
                      f'--benchmark_min_time={least}', *([f'--benchmark_filter={chosen}'] if chosen else [])],
                     stderr=subprocess.PIPE)
            try:
                found[program.name] = json.loads(file.read_text())['benchmarks']
            except (OSError, ValueError):
                self.skip(program.name, 'it wrote no report')
        self.results['programs'] = found
        self.table('programs of Google Benchmark', tables.programs(found))

    def compile_time(self):
        if self.arguments.quick:
            return self.skip('compile_time', '--quick leaves it out')
        self.note('compile time')
        file = self.arguments.output / 'compile_time.json'
        self.table('compile time', [(self.run([sys.executable, build.ROOT / 'bench' / 'compile_time' / 'run.py',
                                               '--repeat', 1, '--json', file]) or '').rstrip()])
        if file.exists():
            self.results['compile_time'] = json.loads(file.read_text())

    # --- the whole -------------------------------------------------------------------------------
    def pictures(self):
        facts = self.results['machine']
        what = f'{facts["processor"]}, {facts["threads"]} threads, {facts["date"][:10]}'
        for dtype in ('f32', 'bf16'):
            points = [dict(record, gflops=record['operations'] / record['contestants']['ricci'][tables.TIME] * 1e-3)
                      for record in self.results.get('race', [])
                      if record['dtype'] == dtype and 'us' in record['contestants'].get('ricci', {})]
            raced = {(point['suite'], point['equation'], point['operations']) for point in points}
            points += [dict(line, gflops=line['operations'] / line[tables.TIME] * 1e-3)
                       for line in self.results.get('lowerings', [])
                       if line['chosen'] and line['dtype'] == dtype
                       and (line['suite'], line['equation'], line['operations']) not in raced]
            name = 'roofline.svg' if dtype == 'f32' else f'roofline_{dtype}.svg'
            self.picture(name, roofline.draw, points, self.roofs, dtype, what)
            versions = self.versions(dtype)
            records = [record for record in self.results.get('race', []) if record['dtype'] == dtype]
            name = 'ratios.svg' if dtype == 'f32' else f'ratios_{dtype}.svg'
            self.picture(name, bars.draw, [(versions.get(peer, peer), tables.ratios(records, peer))
                                           for peer in tables.PEERS], f'{dtype}, {what}')

    def picture(self, name, draw, *arguments):
        path = self.arguments.output / name
        if draw(path, *arguments):
            self.results.setdefault('pictures', []).append(name)

    def versions(self, dtype):
        labels = dict(plain='plain loops, parallel outside')
        spelled = dict(torch='torch.einsum {}', eigen='Eigen Tensor {}',
                       xtensor=f'xtensor {{}}, {self.results["machine"]["blas"]}')
        for record in self.results.get('race', []):
            for peer, run in record['contestants'].items():
                if record['dtype'] == dtype and 'version' in run and peer in spelled:
                    labels[peer] = spelled[peer].format(run['version'].split('+')[0])
        return labels

    def measured_roofs(self):
        return Roofs(json.loads(self.run([BENCH / 'bench_report_roofs', self.arguments.threads])))

    def all(self):
        arguments, facts = self.arguments, self.results['machine']
        arguments.output.mkdir(parents=True, exist_ok=True)
        print(f'{facts["processor"]}, {facts["cores"]} cores, {arguments.threads} threads, {facts["compiler"]}')
        if facts['load'] > 0.5:
            print(f'NOTE the machine is busy (load {facts["load"]:.1f}): the figures are those of what it has left')
        self.note('roofs')
        self.roofs = self.measured_roofs()
        self.results['roofs'] = self.roofs.data
        for dtype in ('f32', 'bf16'):
            print(f'roofs: {self.roofs.describe(dtype, 256 << 20)}')
        self.files = self.case_files()
        for suite in arguments.only or SUITES:
            getattr(self, suite)()
        self.note('roofs again')
        self.roofs.raise_to(self.measured_roofs())
        self.pictures()
        self.table('figures and their targets', tables.claims(self.results))
        self.results['seconds'] = round(time.monotonic() - self.begin, 1)
        file = arguments.output / 'results.json'
        file.write_text(json.dumps(self.results, indent=1) + '\n')
        print(f'\n{self.results["seconds"]:.0f} s; everything is in {file}')
        for name in self.results.get('pictures', []):
            print(f'picture: {arguments.output / name}')
        return any(run.get('wrong') for record in self.results.get('race', [])
                   for run in record['contestants'].values())


def main():
    parser = argparse.ArgumentParser(prog='run.sh', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--quick', action='store_true', help='two minutes: fewer and smaller cases, smaller budgets')
    parser.add_argument('--cases', type=pathlib.Path, default=build.ROOT.parent / 'shared' / 'cases',
                        help='folder of tccg.txt, transformer.txt, einsum_benchmark.txt')
    parser.add_argument('--threads', type=int, default=os.cpu_count())
    parser.add_argument('--budget', type=float, help='1: 0.3 s for each contestant and case (quick: 0.2)')
    parser.add_argument('--least', type=float, default=1e6, help='cases of fewer operations are left out')
    parser.add_argument('--most', type=float, help='cases of more operations are left out (quick: 2e9)')
    parser.add_argument('--filter', default='', help='only cases whose name or equation has this text')
    parser.add_argument('--best', action='store_true',
                        help='ratios of the least times instead of the medians: for a machine that is busy')
    parser.add_argument('--only', nargs='+', choices=SUITES)
    parser.add_argument('--python', default=os.environ.get('RICCI_PEERS_PYTHON', 'python3'), help='one that has torch')
    parser.add_argument('--output', type=pathlib.Path, default=build.ROOT / 'build' / 'bench')
    arguments = parser.parse_args()
    arguments.budget = arguments.budget or (0.2 if arguments.quick else 1)
    arguments.most = arguments.most or (2e9 if arguments.quick else 1e12)
    tables.TIME = 'best_us' if arguments.best else 'us'
    return Report(arguments).all()


if __name__ == '__main__':
    sys.exit(main())
