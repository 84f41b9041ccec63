#!/usr/bin/env python3
"""Adds up what ctest ran: a doctest program counts its test cases, a runner that closes with
`N passed, N failed` counts those, any other test counts as one. Lines that begin with SKIP are repeated.

usage: summary.py [--also-failed N] PRESET=JUNIT.xml...
"""
import argparse
import re
import sys
import xml.etree.ElementTree

DOCTEST = re.compile(r'\[doctest\] test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped')
PLAIN = re.compile(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', re.MULTILINE)


def counts(case):
    """(passed, failed, skipped, lines that begin with SKIP) of one ctest test."""
    output = case.findtext('system-out') or ''
    skips = [line.strip() for line in output.splitlines() if line.lstrip().startswith('SKIP')]
    found = DOCTEST.search(output) or PLAIN.search(output)
    passed, failed, skipped = (int(group or 0) for group in found.groups()) if found else (0, 0, 0)
    status = case.get('status')
    reason = case.find('skipped')
    # ctest calls a program that was not built skipped, too.
    if status == 'disabled' or (reason is not None and reason.get('message', '').startswith('SKIP_')):
        return passed, failed, skipped + 1, skips
    if status != 'run':
        failed = max(failed, 1)
    elif not found:
        passed = 1
    return passed, failed, skipped + len(skips), skips


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--also-failed', type=int, default=0, help='stages that failed outside ctest')
    parser.add_argument('reports', nargs='*')
    arguments = parser.parse_args()
    total = [0, arguments.also_failed, 0]
    for report in arguments.reports:
        preset, _, path = report.partition('=')
        sums, wrong = [0, 0, 0], []
        for case in xml.etree.ElementTree.parse(path).iter('testcase'):
            *numbers, skips = counts(case)
            sums = [a + b for a, b in zip(sums, numbers)]
            print(*(f'{preset} {case.get("name")}: {line}' for line in skips), sep='\n', end='\n' if skips else '')
            if numbers[1]:
                wrong.append(case.get('name'))
        total = [a + b for a, b in zip(total, sums)]
        print(f'{preset:8} {sums[0]:5} passed {sums[1]:4} failed {sums[2]:4} skipped', *wrong)
    print(f'{total[0]} passed, {total[1]} failed, {total[2]} skipped')
    return total[1] > 0 or total[0] == 0


if __name__ == '__main__':
    sys.exit(main())
