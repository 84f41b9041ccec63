#!/usr/bin/env python3
"""What Ricci costs the compiler: seconds and megabytes of the umbrella, of each further einsum of some
forms, and of examples/gpt, beside their limits. g++ -O2 without ccache or precompiled headers; the best of the
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
UMBRELLA_SECONDS, GPT_SECONDS = 2.5, 15


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


def axes(letter, number, count):
    return [f'{letter}{number}_{k}' for k in range(count)]


def statement(number, operands, result, views=None):
    """(declarations of axes, parameters, statement) of an einsum of groups of axes; views: what the operands are
    where they aren't the parameters themselves, position -> (axes of the parameter, expression)."""
    names = sorted({name for operand in operands for name in operand})
    declared = ''.join(f'struct {name.upper()} : axis<"{name}", {2 + position}> {{}};\n'
                       for position, name in enumerate(names))
    parameters, arguments = [], []
    for position, operand in enumerate(operands):
        of, expression = (views or {}).get(position, (operand, '{}'))
        parameter = f'x{number}_{position}'
        parameters.append(f'tensor<f32, {", ".join(axis.upper() for axis in of)}> const& {parameter}')
        arguments.append(expression.format(parameter))
    pattern = f'{", ".join(" ".join(operand) for operand in operands)} -> {" ".join(result)}'
    return (declared, parameters,
            f'  tensor r{number} = einsum<"{pattern}">({", ".join(arguments)});\n  keep(&r{number});\n')


def two_operands(number, views=None):
    """Of 2 to 5 axes each, with batch, rows, columns and summed axes by turns."""
    batch, rows = axes('b', number, number % 2), axes('m', number, 1 + number // 2 % 2)
    summed, columns = axes('k', number, 1 + number // 4 % 2), axes('n', number, 1 + number // 8 % 2)
    right = batch + summed + columns
    return statement(number, [batch + rows + summed, right], batch + rows + columns, views and views(right))


def permuted_operand(number):
    """The same where the second operand is a view in the reverse order."""
    def views(right):
        reverse = right[::-1]
        return {1: (reverse, f'rearrange<"{" ".join(reverse)} -> {" ".join(right)}">({{}})')}
    return two_operands(number, views)


def six_operands(number):
    """A chain of matrices, the order of which has to be found."""
    along = axes('a', number, 7)
    return statement(number, [along[i:i + 2] for i in range(6)], [along[0], along[6]])


# What each further einsum of a form may cost, milliseconds.
FORMS = [('a further einsum of two', two_operands, 35), ('of two, one a permuted view', permuted_operand, 45),
         ('of six', six_operands, 150)]


def einsums(count, form):
    """A program of so many einsums, each with axes and a pattern of its own, which are counted with it."""
    parts = [form(number) for number in range(count)]
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
        for what, form, limit in FORMS:
            few, _ = of_text(einsums(arguments.einsums, form))
            many, megabytes = of_text(einsums(2 * arguments.einsums, form))
            row(what, (many - few) / arguments.einsums * 1e3, 'ms', limit, megabytes)
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
