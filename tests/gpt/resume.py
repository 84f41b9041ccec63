"""A run that is killed and resumed ends with the bits of one that was left alone; so do other numbers of threads.

usage: resume.py PROGRAM [--seed N]
"""

import json
import re
import shutil
import signal
import time

import gpt_runs

STEPS = 600
RUN = ["--steps", STEPS, "--save-every", 7, "--eval-every", 20]


def traces(folder):
    """Everything of a finished run that shall be the same bits: parameters, optimizer, losses."""
    return {name: (folder / name).read_bytes() for name in ("gpt.safetensors", "metrics.jsonl")}


def last_loss(result):
    return re.search(r"^validation loss .*$", result.out, re.M)[0]


def check_equal(check, what, expected, folder, result):
    if not check(result.status == 0, f"{what}: {result}"):
        return
    for name, bytes_ in traces(folder).items():
        check(bytes_ == expected[1][name], f"{what}: {name} has other bytes")
    check(last_loss(result) == expected[0], f"{what}: {last_loss(result)} and not {expected[0]}")


def steps_once(check, folder):
    """Each step trained once, in order, and validated once where it should be."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    check([l["step"] for l in lines if l["kind"] == "train"] == list(range(STEPS)), "metrics: a step is missing or twice")
    check([l["step"] for l in lines if l["kind"] == "validation"] == list(range(19, STEPS, 20)),
          "metrics: a validation is missing or twice")


def fresh(program, name):
    folder = program.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(program.folder / "text.txt", folder)
    return folder


def lines_written(folder):
    """Lines of metrics so far: about the steps."""
    path = folder / "metrics.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed(program, check, random, expected):
    """Kill -9 at random moments: soon after the start of the process, or some steps later."""
    folder = fresh(program, "killed")
    middle = kills = 0
    for _ in range(200):
        at_line = lines_written(folder) + random.randrange(150)
        at_time = time.monotonic() + (random.uniform(0, 0.1) if random.random() < 0.3 else 100)
        result = program.stopped(*RUN, "--resume", folder=folder,
                                 when=lambda: lines_written(folder) > at_line or time.monotonic() > at_time)
        begin = re.search(r"^resumed from .* at step (\d+)$", result.out, re.M)
        middle += begin is not None and 0 < int(begin[1]) < STEPS
        if result.status == 0:
            break
        kills += 1
        check(result.status == -signal.SIGKILL, f"killed: {result}")
    print(f"killed {kills} times, {middle} resumed in the middle")
    check(kills >= 2 and middle >= 1, "killed: too few kills to show anything")
    check_equal(check, "killed", expected, folder, result)
    steps_once(check, folder)
    again = program(*RUN, "--resume", folder=folder)
    check_equal(check, "a finished run resumed", expected, folder, again)


def asked_to_stop(program, check, expected):
    """Ctrl-C and SIGTERM: a checkpoint of the very step, a line that says how to go on, the shell's status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        folder = fresh(program, number.name)
        result = program.stopped(*RUN, folder=folder, when=lambda: lines_written(folder) > 30, signal_number=number)
        said = re.search(rf"^stopped after step (\d+) of {STEPS}, .*--resume", result.out, re.M)
        if not check(result.status == 128 + number and said, f"{number.name}: {result}"):
            continue
        result = program(*RUN, "--resume", folder=folder)
        check(f"resumed from gpt.safetensors at step {said[1]}" in result.out, f"{number.name}: {result}")
        check_equal(check, number.name, expected, folder, result)
        steps_once(check, folder)


def other_threads(program, check):
    """A model large enough that its loops and products are shared out."""
    settings = ["--layers", "1", "--width", "128", "--seq", "128", "--batch", "4", "--steps", "4", "--evals", "2",
                "--sample", "30"]
    outputs = []
    for threads in (1, 2, 3):
        folder = fresh(program, f"threads{threads}")
        result = program("--threads", threads, folder=folder, settings=settings)
        check(result.status == 0, f"{threads} threads: {result}")
        outputs.append((traces(folder), result.out.partition("validation loss")[2]))
    check(outputs[0] == outputs[1] == outputs[2], "another number of threads gives other bits")


def test(program, check, random):
    folder = fresh(program, "whole")
    result = program(*RUN, folder=folder)
    if not check(result.status == 0, f"uninterrupted: {result}"):
        return
    steps_once(check, folder)
    expected = last_loss(result), traces(folder)
    killed(program, check, random, expected)
    asked_to_stop(program, check, expected)
    other_threads(program, check)


if __name__ == "__main__":
    gpt_runs.main(test)
