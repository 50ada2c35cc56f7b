"""The reference for bench/rows/local_training.py: the same training as most people would write it, in eager
PyTorch. Answers "train" with the seconds it took and "loss" with that of the last epoch."""

import json
import pathlib
import sys
import time

import torch

import reference

EPOCHS, BATCH, RATE = 10, 32, 0.001
TRAINED = ["cell.weight_ih", "cell.weight_hh", "cell.bias", "proj.weight", "decoder.weight", "decoder.bias"]


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
    log_p = reference.log_probabilities(p, inputs)
    return torch.nn.functional.nll_loss(log_p.flatten(0, 1), targets.flatten(), reduction="sum")


class Training:
    def __init__(self, folder):
        self.model, start = reference.read_model(folder)
        self.batches = read_batches(folder / "sentences.jsonl", start)
        self.last_loss = 0.0

    def train(self):
        p = {name: tensor.clone() for name, tensor in self.model.items()}
        for name in TRAINED:
            p[name].requires_grad_()
        optimizer = torch.optim.SGD([p[name] for name in TRAINED], lr=RATE)
        began = time.perf_counter()
        for _ in range(EPOCHS):
            self.last_loss = 0.0
            for inputs, targets in self.batches:
                optimizer.zero_grad()
                loss = batch_loss(p, inputs, targets)
                loss.backward()
                optimizer.step()
                self.last_loss += loss.item()
        return time.perf_counter() - began


training = Training(pathlib.Path(sys.argv[1]))
reference.answer_questions({"train": training.train, "loss": lambda: training.last_loss})
