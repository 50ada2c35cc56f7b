"""What the files in bench/rows/ share.

Each of them defines measure(bench), which returns a list of row(...). To compare two programs fairly on a
machine that others use too, both run as workers that wait on their input; their repetitions alternate, and
the fastest of each counts.
"""

import os
import pathlib
import subprocess
import sys


class Bench:
    def __init__(self, build, shared):
        self.build = pathlib.Path(build)
        self.shared = pathlib.Path(shared)  # real models and texts; may not be there
        self.folder = pathlib.Path(__file__).resolve().parent

    def program(self, name):
        return str(self.build / "bench" / name)

    def scratch(self, name):
        folder = self.build / "bench" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def reference(self, name, *arguments):
        # -B: leaves no compiled files in the source folder.
        return Worker("/usr/bin/python3", "-B", self.folder / f"{name}_reference.py", *arguments)


class Worker:
    """A program that answers each line of input with one number."""

    def __init__(self, *command):
        self.command = [str(part) for part in command]
        # OpenBLAS keeps a thread count of its own, which torch.set_num_threads does not reach.
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})

    def ask(self, question):
        try:
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{' '.join(self.command)}: ended without an answer to \"{question}\"")
        return float(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def row(name, ours, reference, unit="seconds"):
    return {"name": name, f"ours_{unit}": ours, f"reference_{unit}": reference, "ratio": reference / ours}
