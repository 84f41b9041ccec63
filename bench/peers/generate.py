#!/usr/bin/env python3
"""Writes and compiles the contestants that know their cases while compiling: Ricci with static extents, the plain
loops, and Eigen's Tensor with the ranks that the cases need. race.py runs them.

usage: generate.py CASES... [--output FOLDER] [--dtype f32|f64|bf16]
"""
import argparse
import concurrent.futures
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'report'))
import build
from cases import read_cases

CPP_TYPES = dict(f32='float', f64='double', bf16='Eigen::bfloat16')
HERE = pathlib.Path(__file__).resolve().parent
EIGEN = ['-isystem', '/usr/include/eigen3']  # where Debian puts it
MAIN = 'int main(int count, char** arguments) {'


def quoted(text):
    return '"' + text + '"'


def ricci(cases, dtype):
    """One einsum a case, each with axes of its own extents."""
    axes, entries = {}, []
    for case in cases:
        def axis(letter):
            name = f'{letter}_{case.extents[letter]}'
            axes[name] = f'struct {name} : axis<"{letter}", {case.extents[letter]}> {{}};'
            return name

        tensors = [f'tensor<{dtype}{"".join(", " + axis(letter) for letter in group)}>' for group in case.groups[:2]]
        pattern = ', '.join(' '.join(group) for group in case.groups[:2]) + ' -> ' + ' '.join(case.groups[2])
        entries.append(f'  table[{quoted(case.text)}] = make_case<{tensors[0]}, {tensors[1]},\n      '
                       f'decltype([](auto const& a, auto const& b) {{ return einsum<"{pattern}">(a, b); }})>;')
    return '\n'.join(['#include "bench/peers/ricci_peer.hpp"', 'using namespace ricci;', 'using namespace peers;',
                      *axes.values(), MAIN, '  case_table table;', *entries,
                      f'  return serve_cases(dtype::{dtype}, table, count, arguments);', '}', ''])


def offset(case, group):
    """Where an element stands, `(i * 3 + k) * 4 + j`."""
    text = ''
    for letter in group:
        text = letter if not text else f'({text}) * {case.extents[letter]} + {letter}'
    return text or '0'


def plain(cases, dtype):
    element = CPP_TYPES[dtype]
    functions, entries = [], []
    for number, case in enumerate(cases):
        result = case.groups[2]
        summed = ''.join(letter for letter in case.extents if letter not in result)
        lines = [f'void case_{number}({element} const* x, {element} const* y, {element}* r) {{']
        if result:
            lines.append('#pragma omp parallel for')
        loop = 'for (std::int64_t {0} = 0; {0} < {1}; ++{0})'
        lines += [loop.format(letter, case.extents[letter]) for letter in result]
        lines.append(f'{{ {element} sum = 0;')
        lines += [loop.format(letter, case.extents[letter]) for letter in summed]
        lines.append(f'sum += x[{offset(case, case.groups[0])}] * y[{offset(case, case.groups[1])}];')
        lines += [f'r[{offset(case, result)}] = sum; }}', '}']
        functions.append('\n'.join(lines))
        entries.append(f'  table[{quoted(case.text)}] = case_{number};')
    return '\n'.join(['#include "bench/peers/plain_peer.hpp"', 'namespace {', *functions, '}', 'int main() {',
                      f'  peers::plain_table<{element}> table;', *entries, '  return peers::serve_plain(table);',
                      '}', ''])


def eigen_signature(case):
    """Ranks of the operands as they are called, axes contracted, whether the product is shuffled: what
    eigen_contestant looks up. None where it skips."""
    first, second, result = case.groups
    batch = [letter for letter in first if letter in second and letter in result]
    m = ''.join(letter for letter in first if letter not in second)
    n = ''.join(letter for letter in second if letter not in first)
    summed = sum(letter in second and letter not in result for letter in first)
    kept = ''.join(letter for letter in result if letter not in batch)
    if any(len(set(group)) < len(group) for group in case.groups) or not set(m + n) <= set(result):
        return None
    ranks = [len(first) - len(batch), len(second) - len(batch)]
    if n + m == kept:
        return ranks[1], ranks[0], summed, False
    return ranks[0], ranks[1], summed, m + n != kept


def eigen(cases, dtype):
    """main, and a source for each signature, named after it: they compile slowly, so apart and once."""
    element = CPP_TYPES[dtype]
    signatures = sorted({signature for signature in map(eigen_signature, cases) if signature})
    spelled = ['{}, {}, {}, {}'.format(*signature[:3], str(signature[3]).lower()) for signature in signatures]
    calls = [f'void peers::contract_with_eigen<{element}, {s}>(peers::eigen_call<{element}> const&, '
             'Eigen::ThreadPoolDevice&);' for s in spelled]
    include = '#include "bench/peers/eigen_peer.hpp"\n'
    entries = [f'  table[{{{s}}}] = contract_with_eigen<{element}, {s}>;' for s in spelled]
    main = '\n'.join([*(f'extern template {call}' for call in calls), 'using namespace peers;', MAIN,
                      f'  eigen_table<{element}> table;', *entries, '  return serve_eigen(table, count, arguments);',
                      '}', ''])
    parts = {'_'.join(map(str, map(int, signature))): f'{include}template {call}\n'
             for signature, call in zip(signatures, calls)}
    return {'main': include + main} | parts


def is_newer(made, sources):
    return made.exists() and all(made.stat().st_mtime >= source.stat().st_mtime for source in sources)


def has_header(compiler, flags, header):
    return build.run_quietly([compiler, '-std=c++20', *flags, '-fsyntax-only', '-include', header, '-x', 'c++',
                              '/dev/null']) is None


def programs(cases, dtype):
    """name -> (sources by name, compiler flags, libraries, header without which it is skipped)"""
    fast = ['-O3', '-march=native', '-fopenmp']
    result = dict(ricci=(dict(main=ricci(cases, dtype)), ['-O2'], build.LINKED, None))
    if dtype in CPP_TYPES and dtype != 'bf16':
        result['plain'] = (dict(main=plain(cases, dtype)), fast, ['-fopenmp'], None)
        result['eigen'] = (eigen(cases, dtype), ['-O3', '-march=native', '-DNDEBUG', *EIGEN], ['-lpthread'],
                           'unsupported/Eigen/CXX11/Tensor')
        xtensor = (HERE / 'xtensor_peer.cpp').read_text()
        result['xtensor'] = (dict(main=xtensor), [*fast, '-DNDEBUG', f'-DRICCI_PEER_TYPE={CPP_TYPES[dtype]}'],
                             ['-lblas', '-llapack', '-fopenmp'], 'xtensor-blas/xlinalg.hpp')
    return result


def generate(cases, dtype, output, library, compiler='g++', note=print, only_made=()):
    """Compiles all contestants; name -> program, or why it is skipped as a ValueError. Those of only_made are taken as
    they are, if an earlier call made them."""
    output.mkdir(parents=True, exist_ok=True)
    made, jobs = {}, []
    for name, (sources, flags, libraries, header) in programs(cases, dtype).items():
        if header and not has_header(compiler, flags, header):
            made[name] = ValueError(f'{header} is not installed')
            continue
        if name in only_made:
            made[name] = output / name if (output / name).exists() else ValueError(
                'it compiles for minutes, and no earlier run has done it')
            continue
        objects = []
        for part, text in sources.items():
            source = output / f'{name}_{part}.cpp'
            if not source.exists() or source.read_text() != text:
                source.write_text(text)
            objects.append(source.with_suffix('.o'))
            if name != 'ricci' and is_newer(objects[-1], [source, *HERE.glob('*.hpp')]):
                continue
            jobs.append((name, build.compile_command(compiler, flags, objects[-1], source)))
        made[name] = (objects, libraries)
    note(f'compiling {len(jobs)} sources of the contestants')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _), fault in zip(jobs, pool.map(lambda job: build.run_quietly(job[1]), jobs)):
            if fault and not isinstance(made[name], ValueError):
                made[name] = ValueError('it does not compile: ' + fault.strip()[:2000])
    for name, what in made.items():
        if not isinstance(what, tuple):
            continue
        fault = build.run_quietly(build.link_command(compiler, what[0], output / name,
                                                     library if name == 'ricci' else None, what[1]))
        made[name] = ValueError('it does not link: ' + fault.strip()[:2000]) if fault else output / name
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('cases', nargs='+', type=pathlib.Path)
    parser.add_argument('--output', type=pathlib.Path, default=build.RELEASE / 'bench' / 'peers')
    parser.add_argument('--dtype', choices=CPP_TYPES, default='f32')
    arguments = parser.parse_args()
    cases = [case for path in arguments.cases for case in read_cases(path)]
    made = generate(cases, arguments.dtype, arguments.output, build.build_library())
    for name, what in made.items():
        print(f'{name}: {"SKIP " if isinstance(what, ValueError) else ""}{what}')
    return any(isinstance(what, ValueError) for what in made.values())


if __name__ == '__main__':
    sys.exit(main())
