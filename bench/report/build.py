"""Compiles a program against the checkout's library, as a user's build would."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RELEASE = ROOT / 'build' / 'release'
LIBRARY = RELEASE / 'libricci_host.a'
LINKED = ['-ldnnl', '-lfmt', '-fopenmp']


def build_library(show=None):
    """The library and what the preset configures; RICCI_LIBRARY names another archive."""
    if 'RICCI_LIBRARY' in os.environ:
        return pathlib.Path(os.environ['RICCI_LIBRARY'])
    for command in (['cmake', '--preset', 'release', '--log-level=WARNING'],
                    ['cmake', '--build', '--preset', 'release', '--target', 'ricci_host', '--parallel',
                     str(os.cpu_count())]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=show)
    return LIBRARY


def compile_command(compiler, flags, output, source):
    cached = [shutil.which('ccache')] if shutil.which('ccache') else []
    return [*cached, compiler, '-std=c++20', '-I', str(ROOT / 'include'), '-I', str(ROOT), *flags, '-c', '-o',
            str(output), str(source)]


def link_command(compiler, objects, output, library, libraries=LINKED):
    return [compiler, *map(str, objects), *([str(library)] if library else []), *libraries, '-o', str(output)]


def run_quietly(command):
    """None, or what the command said before it failed."""
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr or done.stdout or f'{command[0]} failed'
