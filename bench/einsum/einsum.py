#!/usr/bin/env python3
"""How one einsum is lowered, and what every other way would cost.

  bash bench/einsum.sh "batch seq hidden, hidden mlp -> batch seq mlp" batch=8 seq=128 hidden=768 mlp=3072

name=128 fixes an extent at compile time, name=?128 gives it at run time. Axes that only the result has are declared
by themselves; hidden' is a second axis as long as hidden (quote it for the shell). With two operands every lowering
is forced in turn, with more every order of three, or the usual ones.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'report'))
import build
from cases import ELEMENT_BYTES
from roofs import Roofs

from pattern import Extents, Mistake, Pattern, read_extent
from program import HEADERS, Program

FOLDER = build.ROOT / 'build' / 'einsum'


def note(text):
    print(f'-- {text}', file=sys.stderr, flush=True)


def sentence(log):
    """What the library says in a compiler's log, or the first error."""
    quoted = re.findall(r'sentence<\d+[^>]*>\{"(.*?)"\}', log)
    if quoted:
        return max(quoted, key=len)
    errors = [line for line in log.splitlines() if 'error:' in line]
    return errors[0] if errors else log.strip()


def compile_seconds(compiler, source):
    """(processor seconds of one compilation, its log where it fails)"""
    command = [part for part in build.compile_command(compiler, ['-O2', '-DNDEBUG'], source.with_suffix('.o'), source)
               if not part.endswith('ccache')]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, LC_ALL='C'))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.stderr if done.returncode else None


def compiled(program, arguments):
    """The program's path, and seconds by what was compiled."""
    text = program.text(arguments.threads, arguments.budget)
    name = hashlib.sha1(text.encode()).hexdigest()[:10]
    FOLDER.mkdir(parents=True, exist_ok=True)
    sources = {'single': program.single(), 'empty': '#include <ricci/ricci.hpp>\n', 'all': text}
    seconds = {}
    for what, content in sources.items():
        source = FOLDER / (f'{name}.cpp' if what == 'all' else f'{name}_{what}.cpp')
        source.write_text(content)
        seconds[what], log = compile_seconds(arguments.compiler, source)
        if log:
            raise Mistake(f'the compiler refuses it:\n  {sentence(log)}\n(the program is {source})')
    for what in ('single', 'empty'):
        for suffix in ('.cpp', '.o'):
            (FOLDER / f'{name}_{what}{suffix}').unlink(missing_ok=True)
    binary = FOLDER / name
    library = build.build_library(subprocess.DEVNULL)
    fault = build.run_quietly(build.link_command(arguments.compiler, [binary.with_suffix('.o')], binary, library))
    if fault:
        raise Mistake(f'it does not link:\n{fault}')
    return binary, seconds


def si(value, unit):
    """1234567 -> '1.23 M'"""
    for factor, letter in ((1e12, 'T'), (1e9, 'G'), (1e6, 'M'), (1e3, 'k')):
        if value >= factor:
            return f'{value / factor:.3g} {letter}{unit}'
    return f'{value:.3g} {unit}'


def duration(us):
    return f'{us:.2f} us' if us < 100 else f'{us:.0f} us' if us < 1e4 else f'{us / 1e3:.1f} ms'


def table(runs, case):
    """Lines: the candidates, the fastest first, the chosen one marked."""
    chosen = runs[0]
    rows = [run for run in runs if 'us' in run]
    # The chosen run and the same one forced are one candidate: the one that a user gets is shown.
    same = next((run for run in rows[1:] if case['operands'] == 2 and run['name'] == chosen['lowering']), None)
    if case['operands'] > 2:
        same = next((run for run in rows[1:] if run['plan'] == chosen['plan']), None)
    label = {id(run): run['name'] for run in rows}
    label[id(chosen)] = same['name'] if same else chosen['lowering'] or 'as written'
    if case['operands'] > 2:
        label[id(chosen)] = 'best order' + (f' = {same["name"]}' if same else '')
    shown = sorted((run for run in rows if run is not same), key=lambda run: run['us'])
    best = min(run['us'] for run in shown)
    width = max(len('candidate'), *(len(text) for text in label.values()))
    orders = f' {"operations":>11}' if case['operands'] > 2 else ''
    lines = [f'  {"candidate":{width}} {"time":>10} {"GFLOP/s":>9} {"of roofline":>12} {"of the best":>12} '
             f'{"copies":>7}{orders}']
    for run in shown:
        rate = run['operations'] / run['us'] * 1e-3
        # What an order does beyond the chosen one's operations is no merit of it.
        share = case['operations'] / run['us'] * 1e-3 / case['roof'] if case['roof'] else 0
        count = f' {si(run["operations"], "FLOP"):>11}' if orders else ''
        lines.append(f'{"*" if run is chosen else " "} {label[id(run)]:{width}} {duration(run["us"]):>10} {rate:9.1f} '
                     f'{share * 100:10.0f} % {best / run["us"] * 100:10.0f} % {run.get("copies", ""):>7}{count}')
    lines.append(f'* what the library chooses; {chosen["us"] / best - 1:.1%} behind the fastest')
    lines += [f'! {run["name"]} computes something else' for run in runs if run.get('wrong')]
    return lines


def parse(words):
    parser = argparse.ArgumentParser(prog='einsum.sh', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('pattern', help='"i k, k j -> i j": grammar of include/ricci/pattern/scan.hpp')
    parser.add_argument('extents', nargs='*', metavar='name=128', help='or name=?128: known at run time only')
    parser.add_argument('--dtype', choices=list(ELEMENT_BYTES), default='f32')
    parser.add_argument('--threads', type=int, default=os.cpu_count())
    parser.add_argument('--compiler', default='g++', help='g++ or clang++-19')
    parser.add_argument('--budget', type=float, default=2, help='seconds that all candidates are timed for (2)')
    parser.add_argument('--json', type=pathlib.Path, help='writes everything to this file')
    parser.add_argument('--program', action='store_true', help='prints the C++ program and stops')
    arguments = parser.parse_intermixed_args(words)
    if arguments.threads < 1:
        raise Mistake(f'--threads {arguments.threads}: at least one is needed')
    return arguments


def report(arguments):
    pattern = Pattern(arguments.pattern)
    given = {}
    for word in arguments.extents:
        name, extent = read_extent(word)
        if given.get(name, extent) != extent:
            raise Mistake(f'`{name}` is given twice: {given[name]} and {extent}')
        given[name] = extent
    extents = Extents(pattern, given)
    program = Program(pattern, extents, arguments.dtype)
    if arguments.program:
        print(program.text(arguments.threads, arguments.budget), end='')
        return
    numbers = [factor for items in pattern.operands for item in items for factor in item.factors
               if isinstance(factor, int)]
    # Of a diagonal only what stands on it.
    sizes = [math.prod(factor if isinstance(factor, int) else extents.of[factor].value
                       for factor in dict.fromkeys(factor for item in items for factor in item.factors))
             for items in pattern.operands + [pattern.result]]
    moved = sum(sizes) * ELEMENT_BYTES[arguments.dtype]
    if moved > 64 << 30:
        raise Mistake(f'operands and result take {si(moved, "B")}')

    note('compiling (the program, the einsum alone, the headers alone)')
    binary, seconds = compiled(program, arguments)
    note('measuring the roofs')
    roofs = Roofs.measure(arguments.threads, build.build_library(subprocess.DEVNULL))
    note('timing')
    done = subprocess.run([binary], capture_output=True, text=True)
    if done.returncode:
        raise Mistake(f'the program fails: {done.stderr.strip() or f"status {done.returncode}"}')
    result = json.loads(done.stdout)
    runs = result['runs']
    simple = len(pattern.operands) <= 2
    operations = (2 if len(pattern.operands) > 1 else 1) * math.prod(
        [extents.of[index].value for index in pattern.indices] + numbers)
    # What one operand alone sums is summed first: the plan's count is the least, where there is a plan.
    operations = runs[0].get('operations', operations)
    for run in runs:
        if simple or 'operations' not in run:
            run['operations'] = operations
    # Compulsory traffic: each operand and the result once. With more operands the chosen order's operations.
    case = dict(operands=len(pattern.operands), bytes=moved, operations=runs[0]['operations'],
                roof=roofs.gflops(arguments.dtype, runs[0]['operations'], moved))

    print(f'einsum<"{pattern.text}"> of {arguments.dtype}, {arguments.threads} '
          f'thread{"s" if arguments.threads > 1 else ""}: '
          + ' '.join(f'{name}={extents.of[name]}' for name in pattern.indices))
    print(f'{si(case["operations"], "FLOP")}, {si(moved, "B")} moved at least, '
          f'{case["operations"] / max(moved, 1):.3g} FLOP/B\n')
    print((result['plan'] or 'explain is not there yet').rstrip() + '\n')
    print('\n'.join(table(runs, case)))
    print(f'\nroofs    {roofs.describe(arguments.dtype, moved)}')
    print(f'         here {case["roof"]:.3g} GFLOP/s: bound by '
          f'{"memory" if case["roof"] < 0.999 * roofs.peak(arguments.dtype) else "arithmetic"}')
    further = 1e3 * (seconds['single'] - seconds['empty'])
    print(f'compile  {seconds["empty"]:.2f} s the headers, {further:.0f} ms more with this einsum; '
          f'{seconds["all"]:.2f} s the program of {len(runs)} ways  ({arguments.compiler} -O2)')
    print(f'program  {binary.relative_to(build.ROOT)}.cpp')
    if arguments.json:
        arguments.json.write_text(json.dumps(dict(
            pattern=pattern.text, dtype=arguments.dtype, threads=arguments.threads, case=case, compile_seconds=seconds,
            extents={name: str(extent) for name, extent in extents.of.items()}, roofs=roofs.data, runs=runs),
            indent=1) + '\n')


def main():
    try:
        report(parse(sys.argv[1:]))
    except Mistake as mistake:
        print(f'einsum.sh: {mistake}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
