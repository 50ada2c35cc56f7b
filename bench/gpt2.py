"""GPT-2 in eager PyTorch, as most people would write it, from a folder that a worker wrote."""

import json

import torch

import reference


class Model:
    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.p, _ = reference.read_safetensors(folder / "model.safetensors")
        for tensor in self.p.values():
            tensor.requires_grad_()
        self.forget_gradient()
        self.heads = self.config["n_head"]

    def forget_gradient(self):
        for tensor in self.p.values():
            tensor.grad = torch.zeros_like(tensor)

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

    def logits(self, tokens):
        """Of every token after every place: (n, T, V)."""
        return self.hidden(tokens) @ self.p["transformer.wte.weight"].T
