#!/usr/bin/env python3
"""What Ricci costs the compiler: seconds and megabytes of the umbrella, of each further einsum, and of
examples/gpt, beside their limits. g++ -O2 without ccache or precompiled headers; the best of the
repetitions, and processor time, so that other work on the machine disturbs little.

usage: run.py [--compiler g++] [--repeat 3] [--einsums 20] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UMBRELLA_SECONDS, EINSUM_MILLISECONDS, GPT_SECONDS = 2.5, 40, 15


def measure(command, repeat):
    """(least seconds of user and system time, most megabytes resident) of the compiler."""
    seconds, megabytes = [], []
    for _ in range(repeat):
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f'failed: {" ".join(map(str, command))}')
        seconds.append(usage.ru_utime + usage.ru_stime)
        megabytes.append(usage.ru_maxrss / 1024)
    return min(seconds), max(megabytes)


def einsum(number):
    """(declarations of axes, parameters, statement) of the einsum of that number: operands of 2 to 5
    axes, its own axes and its own pattern."""
    def axes(letter, count):
        return [f'{letter}{number}_{k}' for k in range(count)]

    # Batch, rows, columns and summed axes by turns: 2 to 5 axes an operand.
    batch, rows = axes('b', number % 2), axes('m', 1 + number // 2 % 2)
    summed, columns = axes('k', 1 + number // 4 % 2), axes('n', 1 + number // 8 % 2)
    left, right, result = batch + rows + summed, batch + summed + columns, batch + rows + columns
    declared = ''.join(f'struct {name.upper()} : axis<"{name}", {2 + position}> {{}};\n'
                       for position, name in enumerate(batch + rows + summed + columns))

    def parameter(name, of):
        return f'tensor<f32, {", ".join(axis.upper() for axis in of)}> const& {name}{number}'

    pattern = f'{" ".join(left)}, {" ".join(right)} -> {" ".join(result)}'
    return (declared, [parameter('x', left), parameter('w', right)],
            f'  tensor r{number} = einsum<"{pattern}">(x{number}, w{number});\n  keep(&r{number});\n')


def einsums(count):
    """A program of so many einsums, each with axes and a pattern of its own, which are counted with it."""
    parts = [einsum(number) for number in range(count)]
    return ('#include <ricci/ricci.hpp>\nusing namespace ricci;\nvoid keep(void const*);\n'
            + ''.join(declared for declared, _, _ in parts)
            + ''.join(f'void statement{number}({", ".join(parameters)}) {{\n{statement}}}\n'
                      for number, (_, parameters, statement) in enumerate(parts)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--compiler', default='g++')
    parser.add_argument('--repeat', type=int, default=3)
    parser.add_argument('--einsums', type=int, default=20, help='N: programs of N and 2 N are compared')
    parser.add_argument('--json', type=pathlib.Path)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        command = [arguments.compiler, '-std=c++20', '-O2', '-I', ROOT / 'include', '-c', '-o', folder / 'out.o']

        def of_text(text):
            source = folder / 'source.cpp'
            source.write_text(text)
            return measure(command + [source], arguments.repeat)

        rows = []

        def row(what, value, unit, limit, megabytes):
            rows.append(dict(what=what, value=round(value, 2), unit=unit, limit=limit, megabytes=round(megabytes)))
            print(f'{what:34} {value:8.2f} {unit:2}  limit {limit:5} {unit:2}  {megabytes:6.0f} MB'
                  f'  {"ok" if value <= limit else "OVER"}', flush=True)

        seconds, megabytes = of_text('#include <ricci/ricci.hpp>\n')
        row('#include <ricci/ricci.hpp>', seconds, 's', UMBRELLA_SECONDS, megabytes)
        few, _ = of_text(einsums(arguments.einsums))
        many, megabytes = of_text(einsums(2 * arguments.einsums))
        each = (many - few) / arguments.einsums * 1e3
        row('a further tensor r = einsum<...>', each, 'ms', EINSUM_MILLISECONDS, megabytes)
        sources = sorted((ROOT / 'examples' / 'gpt').glob('*.cpp'))
        if sources:
            measured = [measure(command + ['-I', ROOT, source], arguments.repeat) for source in sources]
            row('examples/gpt', sum(s for s, _ in measured), 's', GPT_SECONDS, max(m for _, m in measured))
        else:
            print('SKIP examples/gpt: there is none')
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + '\n')
    return any(row['value'] > row['limit'] for row in rows)


if __name__ == '__main__':
    sys.exit(main())
