"""The reference for bench/rows/client_gradient.py: the 3-layer transformer out of torch's own encoder layers, as
most people would write it. Answers as bench/client_gradient.cpp does."""

import pathlib
import re
import sys
import time

import torch

import reference

SEQUENCES, TOKENS, VOCABULARY = 128, 32, 50257


class Model(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        tensors, _ = reference.read_safetensors(folder / "model.safetensors")
        width = tensors["encoder.weight"].shape[1]
        layer = torch.nn.TransformerEncoderLayer(width, 8, 1536, dropout=0, batch_first=True)
        self.encoder = torch.nn.Embedding(VOCABULARY, width)
        self.pos_encoder = torch.nn.Embedding(len(tensors["pos_encoder.weight"]), width)
        self.transformer_encoder = torch.nn.TransformerEncoder(layer, 3)
        self.decoder = torch.nn.Linear(width, VOCABULARY)
        self.load_state_dict(tensors)

    def forward(self, tokens):
        x = self.encoder(tokens) + self.pos_encoder(torch.arange(tokens.shape[1]))
        return self.decoder(self.transformer_encoder(x))


model = Model(pathlib.Path(sys.argv[1]))
tokens = torch.tensor([[(n * 7919 + t * 104729 + 17) % VOCABULARY for t in range(TOKENS)]
                       for n in range(SEQUENCES)])


def gradient():
    began = time.perf_counter()
    model.zero_grad(set_to_none=True)
    logits = model(tokens)[:, :-1].flatten(0, 1)
    torch.nn.functional.cross_entropy(logits, tokens[:, 1:].flatten()).backward()
    return time.perf_counter() - began


def norm():
    return sum(p.grad.double().square().sum() for p in model.parameters()).sqrt().item()


def memory():
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    gradient()
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1))


reference.answer_questions({"gradient": gradient, "norm": norm, "memory": memory})
