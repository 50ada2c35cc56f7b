"""What it costs to run cells: the engine's own share of each of 10,000 cheap ones, against the 2 ms that it may
take, and two ranks of one thread each beside one."""

import json
import math
import random
import shutil
import sqlite3
import struct
import subprocess
import time

import harness

CHEAP_CELLS = 10000
MOST_SECONDS = 0.002  # of a cell

CHEAP = """
[model]
folder = "{model}"
[texts]
text = "see you at home"
[[attack]]
method = "paper"
[run]
seeds = {{from = 1, to = {cells}, steps = {cells}}}
"""

# Equal cells of some tenths of a second.
EVEN = """
[model]
folder = "{model}"
[texts]
words = 4
[federation]
epochs = 30
batch = 32
[[attack]]
method = "paper"
[run]
sizes = 64
seeds = {{from = 1, to = 60, steps = 60}}
"""


def small_model(folder):
    """A model of a few hundred numbers, so that a cell is all but nothing."""
    words = ["</S>", "<S>", "<UNK>", "see", "you", "at", "home"]
    width, units = 4, 6
    shapes = {"embedding.weight": (len(words), width), "cell.weight_ih": (3 * units, width),
              "cell.weight_hh": (3 * units, width), "cell.bias": (3 * units,), "proj.weight": (width, units),
              "proj.bias": (width,), "decoder.weight": (len(words), width), "decoder.bias": (len(words),)}
    header, data, numbers = {}, b"", random.Random(1)
    for name, shape in shapes.items():
        values = [numbers.gauss(0, 0.3) for _ in range(math.prod(shape))]
        begin, data = len(data), data + struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    head = json.dumps(header).encode()
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    (folder / "config.json").write_text(json.dumps({
        "model_type": "cifg-lstm", "vocab_size": len(words), "embedding_size": width, "hidden_size": units,
        "gate_order": ["forget", "cell", "output"], "tie_word_embeddings": False, "bos_token_id": 1,
        "unk_token_id": 2, "pad_token_id": 0}))
    return folder


def run(bench, data, text, model, before=()):
    """Seconds of a run from nothing, the number of its cells, and the seconds that they took themselves."""
    file, out = data / "experiment.toml", data / "out"
    file.write_text(text.format(model=model, cells=CHEAP_CELLS))
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([*before, bench.build / "undertext", "run", file, "--out", out, "--threads", "1", "--json"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    store = sqlite3.connect(f"file:{out / 'results.sqlite'}?mode=ro", uri=True)
    cells, own = store.execute("select count(*), sum(seconds) from outcomes where not failed").fetchone()
    return seconds, cells, own


def ranks(count):
    return ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun", "-n", str(count)]


def measure(bench):
    data = bench.scratch("experiments")
    small = small_model(data / "small")
    seconds, cells, own = run(bench, data, CHEAP, small)
    assert cells == CHEAP_CELLS
    rows = [harness.row("engine's own time for a cell, against 2 ms", (seconds - own) / cells, MOST_SECONDS)]
    if shutil.which("mpirun"):
        keyboard = bench.shared / "data" / "gboard"
        model = keyboard if keyboard.is_dir() else "built-in"
        run(bench, data, EVEN, model)  # trains the built-in model where it is missing
        one = min(run(bench, data, EVEN, model, ranks(1))[0] for _ in range(2))
        two = min(run(bench, data, EVEN, model, ranks(2))[0] for _ in range(2))
        rows.append(harness.row("60 equal cells, two ranks beside one, one thread each", two, one))
    return rows
