"""The measured roofs of this machine (roofs.cpp), and what of a rate they allow."""
import json
import math
import subprocess

import build


class Roofs:
    """data: the object that roofs.cpp prints."""

    def __init__(self, data):
        self.data = data

    @staticmethod
    def program(library, compiler='g++'):
        folder = build.ROOT / 'build' / 'einsum'
        folder.mkdir(parents=True, exist_ok=True)
        compiled, binary = folder / 'roofs.o', folder / 'roofs'
        source = build.ROOT / 'bench' / 'report' / 'roofs.cpp'
        fault = (build.run_quietly(build.compile_command(compiler, ['-O3', '-march=native'], compiled, source))
                 or build.run_quietly(build.link_command(compiler, [compiled], binary, library)))
        if fault:
            raise RuntimeError(f'{source} does not compile:\n{fault}')
        return binary

    @classmethod
    def measure(cls, threads, library, program=None):
        printed = subprocess.run([program or cls.program(library), str(threads)], check=True, capture_output=True,
                                 text=True)
        return cls(json.loads(printed.stdout))

    def raise_to(self, other):
        """Measured again, the machine may have had more of itself: the better of both."""
        for kind in ('fma_gflops', 'gemm_gflops'):
            for dtype, rate in other.data[kind].items():
                self.data[kind][dtype] = max(rate, self.data[kind][dtype])
        for mine, (_, rate) in zip(self.data['copy_gbs'], other.data['copy_gbs']):
            mine[1] = max(rate, mine[1])

    def peak(self, dtype):
        """GFLOP/s: the best that was seen, of multiply-adds in registers and of a matrix product. Where neither
        was measured (f16, integers) those of f32."""
        rates = [self.data[kind][dtype] for kind in ('fma_gflops', 'gemm_gflops') if dtype in self.data[kind]]
        return max(rates) if rates else self.peak('f32')

    def rate(self, size):
        """GB/s of a copy that moves so many bytes, between the sizes measured by their logarithms. Less data is not
        slower: where it was, starting the threads was measured."""
        points = [(small, max(rate for _, rate in self.data['copy_gbs'][i:]))
                  for i, (small, _) in enumerate(self.data['copy_gbs'])]
        if size <= points[0][0]:
            return points[0][1]
        for (small, slow), (large, fast) in zip(points, points[1:]):
            if size <= large:
                part = math.log(size / small) / math.log(large / small)
                return slow + part * (fast - slow)
        return points[-1][1]

    def gflops(self, dtype, operations, moved):
        """The roof of so many operations that move so many bytes."""
        if moved == 0:
            return self.peak(dtype)
        return min(self.peak(dtype), operations / moved * self.rate(moved))

    def describe(self, dtype, moved):
        kinds = [(f'{self.data[kind][dtype]:.0f} GFLOP/s {dtype} {what}') for kind, what in
                 (('gemm_gflops', "in oneDNN's largest product"), ('fma_gflops', 'of multiply-adds'))
                 if dtype in self.data[kind]] or [f'{self.peak(dtype):.0f} GFLOP/s of f32']
        return ', '.join(kinds) + f', {self.rate(moved):.0f} GB/s of copies of this size'
