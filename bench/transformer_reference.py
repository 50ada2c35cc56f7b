"""The reference for bench/rows/transformer.py: GPT-2's smallest shape in eager PyTorch, as most people would
write it. Answers as bench/transformer.cpp does; "beam" reads the prefixes anew and scores the last place."""

import json
import pathlib
import re
import sys
import time

import torch

import reference

TEXTS, TOKENS, BEAMS, ALLOWED = 16, 40, 32, 300


def token(n, t):
    return (n * 7919 + t * 104729 + 17) % 50257


class Model:
    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.p, _ = reference.read_safetensors(folder / "model.safetensors")
        for tensor in self.p.values():
            tensor.requires_grad_()
            tensor.grad = torch.zeros_like(tensor)
        self.heads = self.config["n_head"]
        self.last_loss = self.best = 0.0

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], self.p[name + ".weight"], self.p[name + ".bias"])

    def linear(self, x, name):
        return x @ self.p[name + ".weight"] + self.p[name + ".bias"]

    def attention(self, x, at):
        b, t, d = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2)
                   for part in self.linear(x, at + "attn.c_attn").split(d, 2))
        scores = q @ k.transpose(2, 3) / (d // self.heads) ** 0.5
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        mixed = torch.softmax(scores, 3) @ v
        return self.linear(mixed.transpose(1, 2).reshape(b, t, d), at + "attn.c_proj")

    def hidden(self, tokens):
        x = self.p["transformer.wte.weight"][tokens] + self.p["transformer.wpe.weight"][:tokens.shape[1]]
        for i in range(self.config["n_layer"]):
            at = f"transformer.h.{i}."
            x = x + self.attention(self.norm(x, at + "ln_1"), at)
            inner = torch.nn.functional.gelu(self.linear(self.norm(x, at + "ln_2"), at + "mlp.c_fc"),
                                             approximate="tanh")
            x = x + self.linear(inner, at + "mlp.c_proj")
        return self.norm(x, "transformer.ln_f")

    def gradient(self):
        tokens = torch.tensor([[token(n, t) for t in range(TOKENS)] for n in range(TEXTS)])
        began = time.perf_counter()
        logits = self.hidden(tokens) @ self.p["transformer.wte.weight"].T
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
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


model = Model(pathlib.Path(sys.argv[1]))
reference.answer_questions({"gradient": model.gradient, "loss": lambda: model.last_loss, "memory": model.memory,
                            "beam": model.beam, "best": lambda: model.best})
