"""The reference for bench/rows/local_training.py: the same training as most people would write it, in eager
PyTorch. Answers each line of input ("train", "loss") with one number."""

import json
import pathlib
import struct
import sys
import time

import numpy
import torch

torch.set_num_threads(1)
EPOCHS, BATCH, RATE = 10, 32, 0.001
TRAINED = ["cell.weight_ih", "cell.weight_hh", "cell.bias", "proj.weight", "decoder.weight", "decoder.bias"]


def read_model(file):
    content = file.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = numpy.frombuffer(content, "<f4", (end - begin) // 4, 8 + size + begin)
            tensors[name] = torch.from_numpy(values.reshape(entry["shape"]).copy())
    return tensors


def read_batches(file, start):
    sentences = [[start] + json.loads(line) for line in file.read_text().splitlines()]
    batches = []
    for first in range(0, len(sentences), BATCH):
        batch = sentences[first:first + BATCH]
        longest = max(map(len, batch))
        inputs = torch.tensor([s[:-1] + [0] * (longest - len(s)) for s in batch])
        targets = torch.tensor([s[1:] + [-100] * (longest - len(s)) for s in batch])  # -100: not predicted
        batches.append((inputs, targets))
    return batches


def batch_loss(p, inputs, targets):
    units = p["proj.weight"].shape[1]
    h = torch.zeros(len(inputs), p["proj.weight"].shape[0])
    c = torch.zeros(len(inputs), units)
    from_inputs = p["embedding.weight"][inputs] @ p["cell.weight_ih"].T + p["cell.bias"]
    states = []
    for t in range(inputs.shape[1]):
        gates = from_inputs[:, t] + h @ p["cell.weight_hh"].T
        f = torch.sigmoid(gates[:, :units])
        c = f * c + (1 - f) * torch.tanh(gates[:, units:2 * units])
        h = (torch.sigmoid(gates[:, 2 * units:]) * torch.tanh(c)) @ p["proj.weight"].T + p["proj.bias"]
        states.append(h)
    logits = torch.stack(states, 1) @ p["decoder.weight"].T + p["decoder.bias"]
    log_p = torch.log_softmax(logits.flatten(0, 1), 1)
    return torch.nn.functional.nll_loss(log_p, targets.flatten(), reduction="sum")


def main():
    folder = pathlib.Path(sys.argv[1])
    model = read_model(folder / "model.safetensors")
    start = json.loads((folder / "config.json").read_text())["bos_token_id"]
    batches = read_batches(folder / "sentences.jsonl", start)
    last_loss = 0.0
    for line in sys.stdin:
        if line.strip() == "loss":  # of the last epoch
            print(last_loss, flush=True)
            continue
        p = {name: tensor.clone() for name, tensor in model.items()}
        for name in TRAINED:
            p[name].requires_grad_()
        optimizer = torch.optim.SGD([p[name] for name in TRAINED], lr=RATE)
        began = time.perf_counter()
        for _ in range(EPOCHS):
            last_loss = 0.0
            for inputs, targets in batches:
                optimizer.zero_grad()
                loss = batch_loss(p, inputs, targets)
                loss.backward()
                optimizer.step()
                last_loss += loss.item()
        print(time.perf_counter() - began, flush=True)


main()
