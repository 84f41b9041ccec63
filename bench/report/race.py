"""Runs contestants in turns: each is a process that answers lines (peers/contestant.hpp), one works at a time."""
import json
import os
import statistics
import subprocess

# How far results may lie apart, relative to the largest of them: the places of the dtype.
TOLERANCE = dict(f32=1e-4, f64=1e-10, bf16=2e-2)


class Process:
    """A contestant's program, with its contestants by name once a case is prepared."""

    def __init__(self, command, threads):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
                           MKL_NUM_THREADS=str(threads))
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)

    def ask(self, line):
        try:
            self.process.stdin.write(line + '\n')
            self.process.stdin.flush()
            reply = self.process.stdout.readline()
        except BrokenPipeError:
            reply = ''
        if not reply:
            return dict(error=f'{self.command[0]} ended with status {self.process.wait()}')
        return json.loads(reply)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def agrees(samples, expected, dtype):
    largest = max(map(abs, expected), default=0)
    return len(samples) == len(expected) and all(
        abs(x - y) <= TOLERANCE[dtype] * (largest + 1e-30) for x, y in zip(samples, expected))


def race_case(case, dtype, processes, budget, limits, rounds=3):
    """name -> dict(us, runs, gflops) or dict(skipped=...), Ricci first.
    budget: seconds for each contestant; limits: name -> most operations."""
    results, entered = {}, []
    for process in processes:
        if process.process.poll() is not None:
            continue
        for name, facts in process.ask(f'case {case.name}; {case.text}').items():
            if name == 'error':
                results[pathname(process)] = dict(skipped=str(facts))
            elif 'skipped' in facts:
                results[name] = facts
            elif case.operations > limits.get(name, float('inf')):
                results[name] = dict(skipped=f'{case.operations:.1e} operations take it too long')
            else:
                results[name] = facts
                entered.append((name, process))
    expected, slow, times = None, {}, {name: [] for name, _ in entered}
    for name, process in list(entered):
        reply = process.ask(f'check {name}')
        if 'error' in reply:
            results[name] = dict(skipped=reply['error'])
            entered.remove((name, process))
            continue
        samples = reply['samples']
        if expected is None:
            expected = samples
        elif samples and not agrees(samples, expected, dtype):
            results[name] = dict(skipped='its result differs', wrong=True)
            entered.remove((name, process))
            continue
        slow[name] = reply['seconds']
    for turn in range(rounds):
        for name, process in entered:
            # What takes longer than everything allowed is taken at its first word; a long one gets one turn.
            if slow[name] > 4 * budget and name not in ('ricci', 'onednn', 'torch'):
                times[name] = [slow[name]]
            elif turn == 0 or slow[name] <= budget / rounds:
                warm = 1 if slow[name] <= budget else 0
                times[name] += process.ask(f'time {name} {budget / rounds} {warm}').get('seconds', [])
    for name, _ in entered:
        if not times[name]:
            results[name] = dict(skipped='it failed while it was timed')
            continue
        seconds = statistics.median(times[name])
        results[name] = dict(results[name], us=seconds * 1e6, best_us=min(times[name]) * 1e6, runs=len(times[name]),
                             gflops=case.operations / seconds * 1e-9)
    return results


def pathname(process):
    return os.path.basename(process.command[-3] if 'python' in process.command[0] else process.command[0])


def race(cases, dtype, commands, threads, budget, limits, note):
    """One record a case. commands: each contestant's program and arguments."""
    processes = [Process(command, threads) for command in commands]
    records = []
    for number, case in enumerate(cases, 1):
        note(f'{case.suite} {number} of {len(cases)}: {case.equation}')
        records.append(dict(suite=case.suite, case=case.name, equation=case.equation, extents=case.extents, dtype=dtype,
                            operations=case.operations, bytes=case.bytes(dtype), threads=threads,
                            contestants=race_case(case, dtype, processes, budget, limits)))
    for process in processes:
        process.close()
    return records
