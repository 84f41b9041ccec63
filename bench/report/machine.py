"""Facts of the machine and of what is installed, for the report."""
import datetime
import os
import pathlib
import re
import subprocess


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return None


def package(name):
    return first_line(['dpkg-query', '-W', '-f=${Version}', name])


def processor():
    text = pathlib.Path('/proc/cpuinfo').read_text()
    model = re.search(r'model name\s*: (.*)', text)
    flags = re.search(r'flags\s*: (.*)', text)
    flags = flags[1].split() if flags else []
    known = [flag for flag in ('avx2', 'avx512f', 'avx512_bf16', 'amx_bf16') if flag in flags]
    return model[1].strip() if model else None, known


def blas():
    """What -lblas is at run time: xtensor's rate is that of this library."""
    library = pathlib.Path('/usr/lib/x86_64-linux-gnu/libblas.so.3')
    target = str(library.resolve()) if library.exists() else ''
    return next((name for name in ('openblas', 'mkl', 'blis', 'atlas') if name in target), 'reference BLAS')


def facts(root, threads):
    model, features = processor()
    return dict(
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds'),
        processor=model, features=features, cores=os.cpu_count(), threads=threads,
        load=os.getloadavg()[0],
        memory_gb=round(os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9, 1),
        compiler=first_line(['g++', '--version']), system=first_line(['uname', '-sr']),
        commit=first_line(['git', '-C', str(root), 'rev-parse', '--short', 'HEAD']),
        versions={name: package(name) for name in ('libdnnl-dev', 'libeigen3-dev', 'libxtensor-dev',
                                                   'libxtensor-blas-dev', 'libthrust-dev', 'libbenchmark-dev')},
        blas=blas())
