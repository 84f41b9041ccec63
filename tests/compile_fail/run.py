#!/usr/bin/env python3
"""Programs that must not compile. Each rule of the language is one file, <folder>/<rule>.cpp:

    // expect: text of the message            one line or several; every text must appear
    // lines: 12                              optional: most lines that a compiler may print
    #include <ricci/ricci.hpp>
    ...
    #ifdef RICCI_MISTAKE
      the mistake
    #else
      the same, right
    #endif

With RICCI_MISTAKE the compiler must fail, print exactly one `error:` line, every expected text (g++ in
that line, clang anywhere), and no more lines than allowed. Without it the file must compile and print
nothing: otherwise a typo would pass for the mistake.

usage: run.py --compiler g++ [--compiler clang++-19] --build FOLDER [rule...]
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

os.environ['LC_ALL'] = 'C'  # compilers quote names as the locale says
HERE = pathlib.Path(__file__).resolve().parent
UMBRELLA = 'ricci/ricci.hpp'
DEFAULT_LINES = 12  # source echo off, the mistake written in main


@dataclasses.dataclass
class Rule:
    path: pathlib.Path

    def __post_init__(self):
        self.name = str(self.path.relative_to(HERE).with_suffix(''))
        self.text = self.path.read_text()
        self.expected = re.findall(r'^// expect: (.+?)\s*$', self.text, re.MULTILINE)
        lines = re.search(r'^// lines: (\d+)', self.text, re.MULTILINE)
        self.most_lines = int(lines[1]) if lines else DEFAULT_LINES

    def lines_of_mistake(self):
        """The numbers of the lines between `#ifdef RICCI_MISTAKE` and `#else`, all of them."""
        inside, numbers = False, set()
        for number, line in enumerate(self.text.splitlines(), start=1):
            if line.startswith('#'):
                inside = line.startswith('#ifdef RICCI_MISTAKE')
            elif inside:
                numbers.add(number)
        return numbers

    def malformed(self):
        """Why the file is no rule, a sentence each."""
        if not self.expected:
            yield 'has no `// expect:` line'
        if '#ifdef RICCI_MISTAKE' not in self.text or '#else' not in self.text:
            yield 'has no `#ifdef RICCI_MISTAKE ... #else ... #endif`'


class Compiler:
    """A compiler with source echo off. The right code is compiled with the umbrella precompiled; a
    mistake is not, since that changes the `In file included from` lines that a user would see."""

    def __init__(self, command, include, build):
        self.name = os.path.basename(command)
        self.is_clang = 'clang' in self.name
        self.build = build / self.name
        self.failure = ''
        echo_off = '-fno-caret-diagnostics' if self.is_clang else '-fno-diagnostics-show-caret'
        self.command = [command, '-std=c++20', '-fsyntax-only', echo_off]
        if not self.is_clang:
            self.command += ['-fdiagnostics-color=never', '-Winvalid-pch']
        self.include = ['-I', str(include)]
        self.precompiled = self.precompile(include)

    def precompile(self, include):
        """The options that use the precompiled umbrella."""
        header = include / UMBRELLA
        output = self.build / (UMBRELLA + ('.pch' if self.is_clang else '.gch'))
        output.parent.mkdir(parents=True, exist_ok=True)
        command = [argument for argument in self.command if argument != '-fsyntax-only']
        run = subprocess.run(command + self.include + ['-x', 'c++-header', str(header), '-o', str(output)],
                             text=True, capture_output=True)
        if run.returncode:
            self.failure = f'{self.name} does not compile {UMBRELLA}:\n{run.stderr}'
        return ['-include-pch', str(output)] if self.is_clang else ['-I', str(self.build)]

    def run(self, path, mistake):
        """(exit status, lines printed)"""
        options = ['-DRICCI_MISTAKE'] if mistake else self.precompiled
        run = subprocess.run(self.command + options + self.include + [str(path)],
                             text=True, capture_output=True, errors='replace')
        return run.returncode, (run.stdout + run.stderr).splitlines()


@dataclasses.dataclass
class Outcome:
    rule: Rule
    compiler: str
    problems: list
    lines: list

    def message(self):
        """The sentence that the user reads: a template argument's text, or the error line's own."""
        bearing = [line for line in self.lines if any(text in line for text in self.rule.expected)]
        errors = [line for line in self.lines if 'error:' in line]
        for line in bearing:
            if quoted := re.search(r'\{"(.+?)"\}', line):
                return quoted[1]
        line = re.sub(r'^.*?(error|note): ', '', (bearing or errors or [''])[0])
        return re.sub(r'^static assertion failed(?: due to requirement .*?)?: ', '', line)


def judge(rule, compiler):
    problems = list(rule.malformed())
    status, printed = compiler.run(rule.path, mistake=True)
    errors = [line for line in printed if re.search(r'\berror:', line)]
    if status == 0:
        problems.append('the mistake compiles')
    elif len(errors) != 1:
        problems.append(f'{len(errors)} `error:` lines')
    where = printed if compiler.is_clang else errors
    for text in rule.expected:
        if not any(text in line for line in where):
            problems.append(f'the message does not say: {text}')
    named = {int(number) for line in printed
             for number in re.findall(re.escape(str(rule.path)) + r':(\d+)', line)}
    if status and not named & rule.lines_of_mistake():
        problems.append('no line printed names a line of the mistake')
    if len(printed) > rule.most_lines:
        problems.append(f'{len(printed)} lines printed, at most {rule.most_lines} allowed')
    control_status, control_printed = compiler.run(rule.path, mistake=False)
    if control_status or control_printed:
        problems.append('the right code does not compile cleanly')
        if status:
            printed = printed + ['--- the right code:'] + control_printed
    return Outcome(rule, compiler.name, problems, printed)


def table(rules, compilers, outcomes):
    """Markdown: rule, message, lines that each compiler prints."""
    rows = [['rule', 'message'] + [f'lines ({compiler.name})' for compiler in compilers]]
    rows.append(['---'] * len(rows[0]))
    for rule in rules:
        of_rule = [outcomes[rule.name, compiler.name] for compiler in compilers]
        message = of_rule[0].message().replace('|', '\\|')
        cells = [('' if not outcome.problems else 'FAILED ') + str(len(outcome.lines)) for outcome in of_rule]
        rows.append([rule.name, message] + cells)
    return ''.join('| ' + ' | '.join(row) + ' |\n' for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--compiler', action='append', required=True)
    parser.add_argument('--include', type=pathlib.Path, default=HERE.parent.parent / 'include')
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--print', action='store_true', help='print what the compilers said')
    parser.add_argument('rules', nargs='*', help='only these, e.g. expr/einsum_extent')
    arguments = parser.parse_args()

    rules = [Rule(path) for path in sorted(HERE.rglob('*.cpp'))]
    if arguments.rules:
        rules = [rule for rule in rules if rule.name in arguments.rules]
    if not rules:
        print('no rules found')
        return 1
    arguments.build.mkdir(parents=True, exist_ok=True)
    jobs = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        compilers = list(pool.map(lambda command: Compiler(command, arguments.include, arguments.build),
                                  arguments.compiler))
        failed = [compiler.failure for compiler in compilers if compiler.failure]
        if failed:
            print(*failed, sep='\n')
            return 1
        pairs = [(rule, compiler) for rule in rules for compiler in compilers]
        outcomes = {(outcome.rule.name, outcome.compiler): outcome
                    for outcome in pool.map(lambda pair: judge(*pair), pairs)}

    text = table(rules, compilers, outcomes)
    (arguments.build / 'compile_fail.md').write_text(text)
    print(text)
    bad = [outcome for outcome in outcomes.values() if outcome.problems]
    for outcome in outcomes.values() if arguments.print else bad:
        print(f'{outcome.rule.name} on {outcome.compiler}:', *outcome.problems, sep='\n  ')
        print(*('    ' + line for line in outcome.lines), sep='\n')
    print(f'{len(outcomes) - len(bad)} passed, {len(bad)} failed')
    return bool(bad)


if __name__ == '__main__':
    sys.exit(main())
