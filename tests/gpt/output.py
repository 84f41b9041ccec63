"""What a person sees: the bar on a terminal, lines in a log, the summary, the sample, the help.

usage: output.py PROGRAM [--seed N]
"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import gpt_runs
from gpt_runs import TINY

RUN = ["--steps", 150]
WIDTH = 90  # columns of the terminal


def on_terminal(program, *options):
    """Everything that the program writes when both its outputs are a terminal."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 25, WIDTH, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(program.command(options, TINY, "text.txt"), cwd=program.folder, stdout=its, stderr=its,
                               env=environment)
    os.close(its)
    text = b""
    try:
        while part := os.read(ours, 1 << 16):
            text += part
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    return process.wait(60), text.decode()


def terminal(program, check):
    status, text = on_terminal(program, *RUN)
    check(status == 0, f"on a terminal: status {status}\n{text}")
    bars = re.findall(r"\r([^\r\n]*150 [━╸─]+ +\d+ %   loss [^\r\n]*)\x1b\[K", text)
    check(len(bars) >= 1 and all(len(bar) < WIDTH for bar in bars), f"no bar, or too long a one: {text!r}")
    check(bars and bars[-1].lstrip().startswith("150/150 ━") and "100 %" in bars[-1] and "in all" in bars[-1],
          f"the last bar: {bars[-1:]}")
    check(re.search(r"in all\x1b\[K\r?\n", text), f"no line of its own after the bar: {text!r}")


def log(program, check):
    done = program(*RUN)
    check("\r" not in done.err and "\x1b" not in done.out + done.err, f"control codes in a log: {done.err!r}")
    lines = done.err.splitlines()
    check(all(re.fullmatch(r"step +\d+/150  loss \d+\.\d{4}.*", line) for line in lines), f"lines of progress: {lines}")
    check(lines[-1].startswith("step 150/150"), f"no last line: {lines}")
    for expected in (r"^\d+ parameters, \d+ bytes of text, 1 thread", r"^150 steps in [\d.]+ s: \d+ tokens/s, .* operations/s",
                     r"^memory at its peak: .*parameter .*activation", r"^validation loss \d\.\d{4} nats per byte$",
                     r"^state: gpt\.safetensors, losses: metrics\.jsonl, picture: loss\.svg$"):
        check(re.search(expected, done.out, re.M), f"no line like `{expected}`: {done}")
    for line in (program.folder / "metrics.jsonl").read_text().splitlines():
        check(set(json.loads(line)) >= {"step", "kind", "loss"}, f"metrics: {line}")
    picture = (program.folder / "loss.svg").read_text()
    check(picture.startswith("<svg") and picture.count("<polyline") >= 2, "loss.svg has no curves")


def nobody_reads(program, check):
    """A log's reader that goes away does not take the training with it."""
    process = subprocess.Popen(program.command([*RUN, "--checkpoint", "alone"], TINY, "text.txt"), cwd=program.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    process.stderr.close()
    check(process.wait(60) == 0, f"nobody reads the progress: status {process.returncode}")
    with open("/dev/full", "w") as full:
        done = subprocess.run(program.command([*RUN, "--checkpoint", "alone"], TINY, "text.txt"), cwd=program.folder,
                              stdout=full, stderr=subprocess.PIPE, timeout=60, text=True)
    check(done.returncode == 1 and "cannot write to the standard output" in done.stderr, f"output on a full disk: {done}")


def samples(program, check):
    def sampled(*options):
        done = program(*options, "--sample-only", data=None, settings=[])
        parts = re.fullmatch(r"(---- [^\n]* ----)\n(.*)\n----\n", done.out, re.S)
        if not check(done.status == 0 and done.err == "" and parts, f"--sample-only {options}: {done}"):
            return "", ""
        return parts[1], parts[2]

    trained = program(*RUN, "--sample", 60)
    frame, text = sampled("--sample", 60)
    check(frame == "---- 60 bytes from a line's beginning, temperature 0.8 ----", frame)
    check(f"{frame}\n{text}\n----" in trained.out, "sampled from the checkpoint: another text than at the end of training")
    check(sampled("--sample", 60, "--threads", 3)[1] == text, "another number of threads gives another text")
    check(sampled("--sample", 60, "--seed", 1)[1] != text, "another seed gives the same text")
    frame, _ = sampled("--prompt", "\x1b[31m \u00e9", "--sample", 5)
    check("after `\\x1b[31m \u00e9`" in frame, f"a prompt with control codes: {frame!r}")
    cold = sampled("--temperature", 0, "--sample", 60)[1]
    check(cold == sampled("--temperature", 0, "--seed", 9, "--sample", 60)[1], "the likeliest bytes depend on the seed")
    check(cold == sampled("--temperature", 1e-9, "--sample", 60)[1], "a temperature near 0 is not the likeliest byte")
    hot = sampled("--temperature", 100, "--sample", 300)[1]
    check(all(c in "\n\t" or c.isprintable() or ord(c) > 0xa0 for c in hot) and "\\x" in hot, f"a wild sample: {hot!r}")
    check(sampled("--sample", 40, "--prompt", "in the beginning " * 9)[1] != "", "a prompt longer than the window")
    check("bytes" not in program(*RUN, "--sample", 0).out.partition("validation")[2].partition("\n")[2], "--sample 0 writes")


def help_text(program, check):
    done = program("--help", data=None, settings=[])
    check(done.status == 0 and done.err == "", f"--help: {done}")
    for option in ("--data", "--width", "--lr", "--resume", "--sample-only", "--temperature"):
        check(re.search(rf"^  {option}\b.*[a-z]", done.out, re.M), f"--help does not explain {option}")
    check(max(map(len, done.out.splitlines())) <= 100, "--help has lines over 100 columns")


def test(program, check, _):
    for part in (terminal, log, nobody_reads, samples, help_text):
        part(program, check)


if __name__ == "__main__":
    gpt_runs.main(test)
