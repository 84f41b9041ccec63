#!/usr/bin/env python3
"""The README's first program does not compile, with the sentence that the README shows, and compiles once its mistake is mended.

usage: check.py README --compiler g++ --include include"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument('readme', type=pathlib.Path)
parser.add_argument('--compiler', required=True)
parser.add_argument('--include', required=True)
options = parser.parse_args()

text = options.readme.read_text()
program = re.search(r'```cpp\n(.*?)```', text, re.S).group(1)
sentence = re.search(r'```\nerror: \.\.\. (.*?)\n```', text, re.S).group(1)


def compile_text(source):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'readme.cpp'
        path.write_text(source)
        run = subprocess.run([options.compiler, '-std=c++20', '-fsyntax-only', '-I', options.include, str(path)],
                             capture_output=True, text=True)
        return run.returncode, run.stderr


failed = 0
code, output = compile_text(program)
if code == 0 or sentence not in output:
    print(f'the README promises `{sentence}`, {options.compiler} says:\n{output}')
    failed = 1
mended = program.replace('tensor<f32, Batch, Hidden> twice', 'tensor<f32, Batch, Mlp> once')
code, output = compile_text(mended)
if code != 0 or mended == program:
    print(f'without its mistake the program of the README does not compile:\n{output}')
    failed = 1
print('the README keeps its word' if not failed else 'the README is wrong')
sys.exit(failed)
