"""What the tests of examples/gpt share: a text, a model of a few thousand numbers, running the program."""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TINY = ["--layers", "1", "--heads", "2", "--width", "8", "--seq", "16", "--batch", "2", "--warmup", "2",
        "--evals", "3", "--sample", "0", "--threads", "1"]
TEXT = b"In the beginning God created the heaven and the earth. And the earth was without form. " * 60


class Result:
    """How a run ended: status, standard output, standard error."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return f"status {self.status}\n{self.out}{self.err}"


class Program:
    """The program and a folder of its own to run it in."""

    def __init__(self, path, folder):
        self.path, self.folder = path, Path(folder)
        (self.folder / "text.txt").write_bytes(TEXT)

    def __call__(self, *options, settings=TINY, data="text.txt", folder=None, **how):
        done = subprocess.run(self.command(options, settings, data), cwd=folder or self.folder, capture_output=True,
                              timeout=60, **how)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def stopped(self, *options, when, signal_number=signal.SIGKILL, folder=None):
        """Starts a run and sends it a signal when `when()` says so, unless it has ended by then."""
        process = subprocess.Popen(self.command(options, TINY, "text.txt"), cwd=folder or self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and not when():
            time.sleep(0.001)
        if process.returncode is None:
            process.send_signal(signal_number)
        out, err = process.communicate(timeout=60)
        return Result(process.returncode, out.decode(), err.decode())

    def command(self, options, settings, data):
        given = ["--data", str(data)] if data is not None else []
        return [self.path, *given, *map(str, [*settings, *options])]


class Checks:
    """Counts what does not hold, and says it."""

    def __init__(self):
        self.done = self.failed = 0

    def __call__(self, holds, what):
        self.done += 1
        if not holds:
            self.failed += 1
            print("FAILED:", what)
        return holds

    def finish(self):
        print(f"{self.done} checks, {self.failed} failed")
        sys.exit(1 if self.failed or not self.done else 0)


def main(test):
    """Runs test(program, check, random numbers) in a temporary folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print("seed", options.seed)
    check = Checks()
    with tempfile.TemporaryDirectory() as folder:
        test(Program(str(Path(options.program).resolve()), folder), check, random.Random(options.seed))
    check.finish()
