#!/usr/bin/env python3
"""torch.einsum as a contestant: the conversation of contestant.hpp.

usage: torch_peer.py THREADS DTYPE
"""
import json
import sys
import time

import torch

SAMPLES = 512
DTYPES = dict(f32=torch.float32, f64=torch.float64, bf16=torch.bfloat16)


def filled(extents, operand, dtype):
    """value_of of contestant.hpp."""
    count = 1
    for extent in extents:
        count *= extent
    factor, modulus, middle = ((37, 101, 50), (53, 97, 48))[operand]
    # Periodic: one period, repeated, saves the memory of the indices.
    period = ((torch.arange(modulus) * factor % modulus - middle).to(torch.float32) / 64).to(dtype)
    return period.repeat(count // modulus + 1)[:count].clone().reshape(extents)


class Contestant:
    def __init__(self, line, dtype):
        name, equation, extents = [part.strip() for part in line.split(';')]
        size = {e[0]: int(e[2:]) for e in extents.split()}
        self.equation = equation
        groups = equation.split('->')[0].split(',')
        self.operands = [filled([size[letter] for letter in group], i, dtype) for i, group in enumerate(groups)]
        self.result = None

    def run(self):
        self.result = None
        begin = time.perf_counter()
        self.result = torch.einsum(self.equation, *self.operands)
        return time.perf_counter() - begin

    def samples(self):
        flat = self.result.reshape(-1)
        if not flat.numel():
            return []
        places = torch.arange(SAMPLES) * 1000003 % flat.numel()
        return flat[places].to(torch.float64).tolist()


def answer(line, contestant):
    command, rest = line.split(' ', 1)
    if command == 'check':
        return dict(seconds=contestant.run(), samples=contestant.samples())
    _, seconds, warm = rest.split()
    for _ in range(int(warm)):
        contestant.run()
    times, total = [], 0.0
    while not times or (total < float(seconds) and len(times) < 2000):
        times.append(contestant.run())
        total += times[-1]
    return dict(seconds=times)


def main():
    torch.set_num_threads(int(sys.argv[1]))
    dtype = DTYPES[sys.argv[2]]
    contestant = None
    for line in sys.stdin:
        try:
            if line.startswith('case '):
                contestant = None
                contestant = Contestant(line[5:], dtype)
                reply = dict(torch=dict(version=torch.__version__))
            else:
                reply = answer(line, contestant)
        except Exception as fault:  # whatever torch raises is the driver's to show
            reply = dict(error=str(fault))
        print(json.dumps(reply), flush=True)


if __name__ == '__main__':
    main()
