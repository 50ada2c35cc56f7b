"""The reference for bench/rows/transformer.py: GPT-2's smallest shape in eager PyTorch, as most people would
write it. Answers as bench/transformer.cpp does; "beam" reads the prefixes anew and scores the last place."""

import pathlib
import re
import sys
import time

import torch

import gpt2
import reference

TEXTS, TOKENS, BEAMS, ALLOWED = 16, 40, 32, 300


def token(n, t):
    return (n * 7919 + t * 104729 + 17) % 50257


class Reference(gpt2.Model):
    last_loss = best = 0.0

    def gradient(self):
        tokens = torch.tensor([[token(n, t) for t in range(TOKENS)] for n in range(TEXTS)])
        began = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(self.logits(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        self.last_loss = loss.item()
        return time.perf_counter() - began

    def memory(self):
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before = peak()
        self.gradient()
        return peak() - before

    def beam(self):
        tokens = torch.tensor([[token(0 if t < 20 else n, t) for t in range(TOKENS)] for n in range(BEAMS)])
        allowed = torch.tensor([i * 167 for i in range(ALLOWED)])
        with torch.no_grad():
            began = time.perf_counter()
            logits = self.hidden(tokens)[:, -1] @ self.p["transformer.wte.weight"].T
            took = time.perf_counter() - began
        self.best = logits[:, allowed].sum().item()
        return took


def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1))


model = Reference(pathlib.Path(sys.argv[1]))
reference.answer_questions({"gradient": model.gradient, "loss": lambda: model.last_loss, "memory": model.memory,
                            "beam": model.beam, "best": lambda: model.best})
