#!/usr/bin/env python3
"""The floors of the library: no header includes one from a floor above its own, the kernels know
nothing of the language, one file alone holds the thread pool, and none of the headers that a user
should not pay for can be reached from the umbrella.

usage: floors.py [--compiler g++]
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Lowest first. `detail` holds helpers for every floor, so it stands below them all.
FLOORS = ('detail axis tensor error pattern expr plan exec grad nn optim precision data io account '
          'trace').split()
# tensor throws the exceptions of error; steering an einsum asks the plan's functions, which are plain data.
ALLOWED_CLIMBS = {('tensor', 'error'), ('expr', 'plan')}
# Plain data; the rest of the floors is the language, or stands above it.
KERNELS_MAY_INCLUDE = {'detail', 'tensor', 'error', 'plan'}
THREADS = re.compile(r'(thrust/|omp\.h$)')
THREADS_LIVE_IN = 'kernels/parallel/host.cpp'
DECLARATIONS_ONLY = 'ricci/fwd.hpp'
UMBRELLA = 'ricci/ricci.hpp'
# Slow to compile, or a library that is used in src/ and kernels/ alone.
FORBIDDEN = re.compile(
    r'/(c\+\+/\d+|c\+\+/v1)/(iostream|regex|filesystem|thread|random|ranges)$'
    r'|/(dnnl|oneapi|nlohmann|CLI|fmt|thrust|cub|doctest)/|/dnnl[^/]*$|/cublas|/cuda|/omp\.h$|/boost/hana\.hpp$')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def climbs(include):
    """What is wrong with the include lines of the public headers, a sentence each."""
    for path in sorted((include / 'ricci').rglob('*.hpp')):
        own = path.relative_to(include).parts
        if len(own) < 3:
            continue
        if own[1] not in FLOORS:
            yield f'{path.relative_to(include)}: `{own[1]}` is not a floor'
            continue
        for match in INCLUDE.finditer(path.read_text()):
            target = match[2]
            where = f'{path.relative_to(include)}: includes {target}'
            if match[1] == '"':
                yield f'{where} in quotes: public headers include <ricci/...>'
            if not target.startswith('ricci/') or target == DECLARATIONS_ONLY:
                continue
            parts = target.split('/')
            if len(parts) < 3:
                yield f'{where}, which includes every floor'
            elif parts[1] not in FLOORS:
                yield f'{where}: `{parts[1]}` is not a floor'
            elif (FLOORS.index(parts[1]) > FLOORS.index(own[1])
                  and (own[1], parts[1]) not in ALLOWED_CLIMBS):
                yield f'{where}, a floor above its own'


def compiled_once(root):
    """What is wrong with the include lines of kernels/ and src/."""
    for path in sorted([*(root / 'kernels').rglob('*.?pp'), *(root / 'src').rglob('*.?pp')]):
        name = str(path.relative_to(root))
        for _, target in INCLUDE.findall(path.read_text()):
            if THREADS.match(target) and name != THREADS_LIVE_IN:
                yield f'{name}: includes {target}; parallel loops go through {THREADS_LIVE_IN}'
            floor = target.split('/')[1] if target.count('/') > 1 else ''
            if (name.startswith('kernels/') and target.startswith('ricci/')
                    and floor not in KERNELS_MAY_INCLUDE):
                yield f'{name}: includes {target}, which is not plain data'


def reached(include, compiler):
    """What the umbrella reaches and must not, each with the chain of includes that leads there."""
    run = subprocess.run([compiler, '-std=c++20', '-fsyntax-only', '-H', '-x', 'c++', f'-I{include}', '-'],
                         input=f'#include <{UMBRELLA}>\n', text=True, capture_output=True)
    if run.returncode:
        yield f'the umbrella does not compile:\n{run.stderr}'
        return
    chain = []
    for line in run.stderr.splitlines():
        match = re.match(r'(\.+) (.*)', line)
        if not match:
            continue
        depth = len(match[1])
        chain = chain[:depth - 1] + [match[2]]
        if FORBIDDEN.search(match[2]):
            yield f'{UMBRELLA} reaches ' + '\n    <- '.join(reversed(chain))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--compiler', default='g++')
    parser.add_argument('--include', type=pathlib.Path, default=ROOT / 'include')
    arguments = parser.parse_args()
    problems = [*climbs(arguments.include), *compiled_once(ROOT)]
    if (arguments.include / UMBRELLA).exists():
        problems += reached(arguments.include, arguments.compiler)
    else:
        problems.append(f'there is no {UMBRELLA}')
    print(*problems, sep='\n')
    print(f'{len(problems)} problems with the floors')
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main())
