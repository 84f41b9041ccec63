"""Whatever is wrong with the files, the options or the machine: one line that says it, a status that is not 0,
and the checkpoint that was there before.

usage: bad_input.py PROGRAM [--seed N] [--table]
"""

import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys

import gpt_runs
from gpt_runs import TINY

USAGE, FAILURE = 2, 1  # what was asked for cannot be done; a file or the machine fails
RUN = ["--steps", 40, "--save-every", 10]


def npy(values, dtype, shape=None):
    """The bytes of a .npy file; dtype: a code of NumPy and of struct, `u1 B`."""
    numpy_code, code = dtype.split()
    header = f"{{'descr': '{numpy_code}', 'fortran_order': False, 'shape': {shape or f'({len(values)},)'}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


class Checkpoint:
    """A safetensors file as header and data, to damage."""

    def __init__(self, content):
        length = struct.unpack("<Q", content[:8])[0]
        self.header, self.data = json.loads(content[8 : 8 + length]), bytearray(content[8 + length :])

    def bytes(self):
        header = json.dumps(self.header).encode()
        header += b" " * (-len(header) % 8)
        return struct.pack("<Q", len(header)) + header + self.data

    def put(self, name, position, value):
        at = self.header[name]["data_offsets"][0] + position
        self.data[at : at + 4] = struct.pack("<f", value)
        return self


class Cases:
    """Runs the program on what is wrong and checks how it answers."""

    def __init__(self, program, check, random):
        self.program, self.check, self.random = program, check, random
        self.folder = program.folder
        self.rows = []
        done = program(*RUN)
        check(done.status == 0, f"the run that all others go on from: {done}")
        self.good = (self.folder / "gpt.safetensors").read_bytes()

    def write(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def refused(self, what, status, expected, *options, steps=RUN, checkpoint=None, **how):
        """A run fails with this status and text; the checkpoint (the good one, or this content) stays."""
        path = self.folder / "gpt.safetensors"
        before = self.good if checkpoint is None else checkpoint
        path.write_bytes(before)
        result = self.program(*steps, *options, **how)
        said = [line for line in result.err.splitlines() if line.startswith("gpt: ")]
        fits = result.status == status and len(said) == 1 and re.search(expected, said[0])
        self.check(fits, f"{what}: expected status {status} and `{expected}`, got {result}")
        self.check(result.err.splitlines()[-1:] == said, f"{what}: something follows the error: {result}")
        self.check(path.read_bytes() == before, f"{what}: the checkpoint has changed")
        left = [p.name for p in self.folder.iterdir() if p.suffix == ".tmp"]
        self.check(not left, f"{what}: left {left}")
        self.rows.append((what, result.status, said[0] if said else result.err.strip()))
        return result

    def data(self):
        u1, u2, i4, f4 = "|u1 B", "<u2 H", "<i4 i", "<f4 f"
        text = list(gpt_runs.TEXT)
        bad = lambda what, name, expected, content=None: self.refused(
            what, FAILURE, expected, data=name if content is None else self.write(name, content))
        bad("no such data file", "missing.txt", "cannot open `missing.txt`: No such file")
        bad("empty data file", "empty.txt", "`empty.txt` is empty", b"")
        bad("a directory as data", ".", r"`\.` is a directory")
        bad("a device as data", "/dev/zero", "is a device")
        bad("training split too short", "short.txt", "9 tokens .*training.* one window takes 17", b"in the beg")
        bad("validation split too short", "half.txt", "16 tokens .*validation.* one window takes 17", b"x" * 160)
        bad(".npy cut in its header", "cut.npy", "cut short", npy(text, u1)[:40])
        bad(".npy cut in its data", "cut.npy", "cut short", npy(text, u1)[:-1])
        bad(".npy of f32", "float.npy", "dtype f32 and token ids are", npy(text, f4))
        bad(".npy in two dimensions", "two.npy", r"shape \(2, 100\)", npy(text[:200], u1, "(2, 100)"))
        bad("a text named .npy", "text.npy", "`text.npy`", gpt_runs.TEXT)
        for dtype, value in ((u2, 300), (i4, 256), (i4, -1)):
            late = text[:-1] + [value]
            bad(f"an id of {value} in {dtype[1:3]}", "ids.npy", f"position {len(late) - 1} .* is {value}, outside", npy(late, dtype))
        self.check(self.program(*RUN, "--checkpoint", "n.safetensors", data=self.write("good.npy", npy(text, i4))).status == 0,
                   "a .npy of i32 is refused")

    def checkpoints(self):
        bad = lambda what, content, expected, status=FAILURE, *options: self.refused(
            what, status, expected, "--resume", *options, checkpoint=content)
        lengths = {0, 1, 7, 8, 9, len(self.good) - 1, *(self.random.randrange(len(self.good)) for _ in range(60))}
        for length in sorted(lengths):
            bad(f"checkpoint cut to {length} bytes", self.good[:length], "`gpt.safetensors`.*(cut short|no safetensors)")
        bad("checkpoint with a byte too many", self.good + b"x", "something follows")
        bad("a text as checkpoint", gpt_runs.TEXT, "no safetensors file")
        name = "blocks.0.attention.out.weight"
        damaged = lambda: Checkpoint(self.good)
        for value in ("nan", "inf"):
            bad(f"{value} in the checkpoint", damaged().put(name, 8, float(value)).bytes(), f"`{name}` is not finite at element 2")
        bad("nan in the optimizer's state", damaged().put("optimizer.second_moment.token", 0, float("nan")).bytes(),
            "`optimizer.second_moment.token` is not finite at element 0")
        changed = damaged()
        changed.header["blocks.0.attention.out.wait"] = changed.header.pop(name)
        bad("an unknown name for a known one", changed.bytes(), f"`{name}` is missing; did you mean `blocks.0.attention.out.wait`")
        changed = damaged()
        changed.header["extra"] = {"dtype": "F32", "shape": [1], "data_offsets": [len(changed.data), len(changed.data) + 4]}
        changed.data += bytes(4)
        bad("an unknown name", changed.bytes(), "`extra` is unknown")
        changed = damaged()
        changed.header[name]["shape"].reverse()
        changed.header["token"]["shape"] = [128, 16]
        bad("a wrong shape", changed.bytes(), "axis `vocab` of tensor `token` has extent 128, the module's has 256")
        changed = damaged()
        changed.header["token"] |= {"dtype": "F16", "shape": [256, 16]}
        bad("a wrong dtype", changed.bytes(), "`token` is f16, the module's is f32")
        for key, value in (("step", "-1"), ("step", "10000"), ("step", "x"), ("layers", "1000000000"), ("tokens", "")):
            changed = damaged()
            changed.header["__metadata__"][key] = value
            status = FAILURE if value in ("x", "") else USAGE
            bad(f"{key} `{value}` in the checkpoint", changed.bytes(), "gpt.safetensors", status)
            if key == "layers":
                self.refused("the same, to sample from", USAGE, "memory", "--sample-only", data=None, settings=[], steps=[],
                             checkpoint=changed.bytes())
        changed = damaged()
        del changed.header["__metadata__"]
        bad("a checkpoint of another program", changed.bytes(), "it is not one of this program")
        for option, value, was in (("--width", 16, 8), ("--layers", 2, 1), ("--heads", 4, 2), ("--seq", 8, 16), ("--batch", 3, 2),
                                   ("--seed", 7, 0)):
            self.refused(f"resumed with another {option}", USAGE, f"was made with {option} {was}, this run has {value}",
                         "--resume", option, value)
        for option, value in (("--steps", 50), ("--lr", 0.5), ("--warmup", 3)):
            self.refused(f"resumed with another {option}", USAGE, f"with {option} .* add --new-schedule", "--resume", option, value)
        self.refused("resumed with fewer steps than are done", USAGE, "at step 40, outside --steps 30", "--steps", 30, "--resume",
                     "--new-schedule", steps=[])
        self.refused("resumed on another text", USAGE, "--new-data", "--resume", data=self.write("other.txt", gpt_runs.TEXT + b"!"))
        self.refused("sampling without a checkpoint", FAILURE, "cannot open `none`", "--checkpoint", "none", "--sample-only",
                     data=None, settings=[], steps=[])
        resumed = self.program("--steps", 50, "--resume", "--new-schedule")
        self.check(resumed.status == 0 and "resumed from gpt.safetensors at step 40" in resumed.out, f"--new-schedule: {resumed}")
        anew = self.program(*RUN, "--resume", "--checkpoint", "absent")
        self.check(anew.status == 0 and "no absent to resume from: beginning anew" in anew.out, f"no checkpoint: {anew}")
        over = self.program(*RUN, "--checkpoint", "absent")
        self.check(over.status == 0 and "absent.old" in over.out, f"an older checkpoint: {over}")

    def options(self):
        asked = lambda expected, *options: self.refused(" ".join(map(str, options)), USAGE, expected, *options, steps=["--steps", 1])
        asked("--wdith", "--wdith", 3)
        asked("not expected", "left", "over")
        for option in ("--layers", "--heads", "--width", "--seq", "--batch", "--steps", "--evals", "--eval-every", "--save-every"):
            for value in ("0", "-1", "1e3", "x", "", "99999999999", "9" * 30):
                asked(f"{option}: `{value}` is not a whole number from 1", option, value)
        for value in ("0", "-1", "nan", "inf", "x", ""):
            asked("--lr: .* is not a number above 0", "--lr", value)
        for value in ("-1", "nan", "1e9"):
            asked("--temperature", "--temperature", value)
        for option in ("--seed", "--threads", "--warmup", "--sample"):
            for value in ("-1", "1.5", "9" * 30):
                asked(option, option, value)
        asked("--prompt", "--prompt", "")
        asked("--lr", "--lr")
        asked("--resume", "--new-schedule")
        asked("8 is not a multiple of --heads 3", "--heads", 3)
        most = 1 << 31
        for sizes in (["--width", most], ["--layers", most], ["--seq", most], ["--batch", most], ["--batch", 10**9],
                      ["--width", most, "--layers", most, "--seq", most, "--batch", most]):
            asked("of memory", *sizes)
        self.refused("no data", USAGE, "--data is required", data=None)

    def places(self):
        for option in ("--checkpoint", "--metrics", "--picture"):
            self.refused(f"{option} in a missing folder", FAILURE, "`none/file`: No such file", option, "none/file")
            self.refused(f"{option} is a folder", FAILURE, r"`\.` is a directory", option, ".")
            self.refused(f"{option} in /proc", FAILURE, "cannot write `/proc/file`", option, "/proc/file")
            self.refused(f"{option} is empty", FAILURE, "path is empty", option, "")
            self.refused(f"{option} is the data", USAGE, "both `text.txt`", option, "text.txt")
        self.check((self.folder / "text.txt").read_bytes() == gpt_runs.TEXT, "the text has changed")
        self.refused("metrics over another file", FAILURE, "line 1 of `notes`", "--metrics", self.write("notes", b"a b\n"))
        locked = self.folder / "locked"
        locked.mkdir()
        how = {}
        if os.geteuid() == 0:  # whom permissions do not stop
            how = {"user": 65534, "group": 65534, "extra_groups": []}
            shutil.copy(self.program.path, self.folder / "program")
            self.program.path = str(self.folder / "program")
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, how["user"], how["group"])
        locked.chmod(0o555)
        for option in ("--checkpoint", "--metrics", "--picture"):
            self.refused(f"{option} without permission", FAILURE, "`/.*locked/file`: Permission denied", option, locked / "file",
                         **how)
        (self.folder / "text.txt").chmod(0)
        self.refused("data without permission", FAILURE, "`text.txt`: Permission denied", **how)
        (self.folder / "text.txt").chmod(0o644)
        locked.chmod(0o755)

    def full(self):
        """The limit on file size stands for a full disk; a real one where this process may mount one."""
        def limited(bytes_):
            return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))}

        size = len(self.good)
        self.refused("checkpoint over the limit on file size", FAILURE, "cannot write `gpt.safetensors`: File too large",
                     **limited(size // 2))
        self.refused("the same when resumed", FAILURE, "cannot write `gpt.safetensors`: File too large", "--steps", 100,
                     "--resume", "--new-schedule", steps=[], **limited(size // 2))
        # A step's line of metrics takes about 90 bytes: the file outgrows the checkpoint.
        steps = size // 80 + 100
        result = self.program("--steps", steps, "--save-every", 10**6, **limited(size + 500))
        self.check(result.status == FAILURE and "metrics: cannot write `metrics.jsonl`: File too large" in result.err,
                   f"metrics over the limit on file size: {result}")
        for option in ("--checkpoint", "--metrics", "--picture"):
            self.disk_full(option)

    def disk_full(self, option):
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        room = {"--checkpoint": len(self.good) * 3 // 2 // 4096 * 4, "--metrics": 4, "--picture": 4}[option]
        script = f"mount -t tmpfs -o size={room}k none disk && exec \"$@\""
        unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c", script, "sh"]
        if subprocess.run([*unshare, "true"], cwd=self.folder, capture_output=True).returncode != 0:
            print(f"SKIPPED: a full disk for {option}: this user may not mount one")
            return
        name = {"--checkpoint": "gpt.safetensors", "--metrics": "metrics.jsonl", "--picture": "loss.svg"}[option]
        command = self.program.command([*RUN, "--steps", 300, option, f"disk/{name}"], TINY, "text.txt")
        # The disk is gone with the mount: what is left on it is copied first.
        left = self.folder / "left"
        left.mkdir()
        keep = '"$@"; status=$?; cp disk/* left 2>&-; exit $status'
        done = subprocess.run([*unshare, "sh", "-c", keep, "sh", *command], cwd=self.folder, capture_output=True, text=True)
        self.check(done.returncode == FAILURE and f"cannot write `disk/{name}`: No space left on device" in done.stderr,
                   f"full disk for {option}: {done}")
        names = [path.name for path in left.iterdir()]
        self.check(names == ([] if option == "--picture" else [name]), f"full disk for {option}: left {names}")
        if option == "--checkpoint":
            sampled = self.program("--sample", 1, "--checkpoint", left / name, "--sample-only", data=None)
            self.check(sampled.status == 0, f"full disk: the checkpoint before: {sampled}")
        shutil.rmtree(left)
        self.rows.append((f"full disk for {option}", done.returncode, done.stderr.splitlines()[-1]))


def test(program, check, random):
    cases = Cases(program, check, random)
    for kind in (cases.data, cases.checkpoints, cases.options, cases.full, cases.places):
        kind()
    cases.check(cases.program(*RUN).status == 0, "after all that nothing runs any more")
    if table:
        for row in cases.rows:
            print("| {} | {} | {} |".format(*(str(cell).replace("|", "\\|") for cell in row)))


if __name__ == "__main__":
    table = "--table" in sys.argv
    sys.argv = [a for a in sys.argv if a != "--table"]
    gpt_runs.main(test)
