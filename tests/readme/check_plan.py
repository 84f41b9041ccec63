#!/usr/bin/env python3
"""The plan that the README reads line by line is what examples/lowering prints first.

usage: check_plan.py README PROGRAM"""
import pathlib
import re
import subprocess
import sys

text = pathlib.Path(sys.argv[1]).read_text()
promised = re.search(r'```\n(statement .*?)\n```', text, re.S).group(1)
printed = subprocess.run([sys.argv[2]], capture_output=True, text=True, check=True).stdout.split('\n\n')[0].rstrip('\n')
if promised != printed:
    print(f'the README shows\n{promised}\nthe program prints\n{printed}')
    sys.exit(1)
print('the README shows the plan that is printed')
