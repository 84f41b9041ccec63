#!/usr/bin/env python3
"""Compiles each mistake of this folder and writes README.md: the wrong lines, the sentence, the right
lines, and all that the compilers print. Nothing in README.md is typed.

A mistake is one file: its title in the first line, then a program with
`#ifdef RICCI_MISTAKE / wrong lines / #else / right lines / #endif`.

usage: gallery.py [--compiler g++ --compiler clang++-19] [--output README.md] [--compare README.md]
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

os.environ['LC_ALL'] = 'C'  # compilers quote names as the locale says
HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / 'include'
HEAD = """# Twelve common mistakes

What Ricci says to each. Written by `python3 examples/errors/gallery.py`, which compiles the programs of
this folder with source echo off; the numbers of lines in the library are left out.
"""


def compile_program(compiler, path, *options):
    echo_off = '-fno-caret-diagnostics' if 'clang' in compiler else '-fno-diagnostics-show-caret'
    run = subprocess.run([compiler, '-std=c++20', '-fsyntax-only', echo_off, '-I', str(INCLUDE), *options,
                          str(path)], text=True, capture_output=True, errors='replace')
    return run.returncode, run.stdout + run.stderr


def parts(path):
    """(title, wrong lines, right lines)"""
    text = path.read_text()
    title = text.splitlines()[0].removeprefix('// ')
    wrong, right = re.search(r'#ifdef RICCI_MISTAKE\n(.*?)#else\n(.*?)#endif', text, re.DOTALL).groups()
    cut = lambda lines: ''.join(line.removeprefix('  ') + '\n' for line in lines.splitlines())
    return title, cut(wrong), cut(right)


def without_paths(printed, path):
    printed = printed.replace(str(path), path.name)
    return re.sub(re.escape(str(INCLUDE)) + r'/([^:\s]+)(:\d+)*', r'\1', printed)


def sentence(printed):
    """The text that the library wrote: a template argument, which clang also prints cut short."""
    quoted = re.findall(r'sentence<\d+>\{"(.*?)"\}', printed)
    return max(quoted, key=len, default='(none)')


def describe(path, compilers):
    title, wrong, right = parts(path)
    printed = {}
    for compiler in compilers:
        status, text = compile_program(compiler, path, '-DRICCI_MISTAKE')
        if status == 0:
            sys.exit(f'{path.name}: {compiler} accepts the mistake')
        status, complaint = compile_program(compiler, path)
        if status or complaint:
            sys.exit(f'{path.name}: {compiler} does not accept the right program:\n{complaint}')
        printed[compiler] = without_paths(text, path)
    said = {sentence(text) for text in printed.values()}
    if len(said) != 1:
        sys.exit(f'{path.name}: the compilers do not say the same: {said}')
    number = int(path.name.split('_')[0])
    section = f'\n## {number}. {title}\n```cpp\n{wrong}```\n> {said.pop()}\n\nRight:\n```cpp\n{right}```\n'
    for compiler, text in printed.items():
        section += f'<details><summary>{compiler} prints</summary>\n\n```\n{text}```\n</details>\n'
    return section


def sentences(text):
    """A README without what the compilers add, which depends on their versions."""
    return re.sub(r'<details>.*?</details>\n', '', text, flags=re.DOTALL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--compiler', action='append')
    parser.add_argument('--output', type=pathlib.Path, default=HERE / 'README.md')
    parser.add_argument('--compare', type=pathlib.Path, help='fail where its sentences differ')
    arguments = parser.parse_args()
    compilers = arguments.compiler or ['g++', 'clang++-19']

    paths = sorted(HERE.glob('*.cpp'))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        sections = list(pool.map(lambda path: describe(path, compilers), paths))
    text = HEAD + ''.join(sections)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text)
    if not arguments.compare:
        return 0
    have, want = sentences(arguments.compare.read_text()), sentences(text)
    if have == want:
        print(f'{len(paths)} mistakes, the sentences of {arguments.compare} are what the compilers say')
        return 0
    for a, b in zip(have.splitlines(), want.splitlines()):
        if a != b:
            print(f'{arguments.compare} says: {a}\nthe compilers say: {b}')
            break
    print('write it again: python3 examples/errors/gallery.py')
    return 1


if __name__ == '__main__':
    sys.exit(main())
