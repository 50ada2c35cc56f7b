"""The reference for bench/rows/film.py: beam search and the score of a reordering candidate as FILM's published
procedure has them, in eager PyTorch. Beams are padded to their full length from the start, so every step reads all
of them whole, scores every token at every place and looks at one place; candidates are scored one by one, each
with its own way back through all parameters."""

import os

# OpenBLAS takes the slowest kernels on processors that it does not know; ours chooses for itself.
if "avx512bw" in open("/proc/cpuinfo").read():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")

import pathlib  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import torch  # noqa: E402

import gpt2  # noqa: E402
import reference  # noqa: E402

TEXT, TOKENS, BAG, BEAMS, SHORT, PAD = 20, 40, 300, 32, 4, 50256
CANDIDATES = 2


def word(i):
    return i * 167 + 17


class Film:
    def __init__(self, folder):
        self.model = gpt2.Model(folder)
        self.last = self.score = 0.0

    def step(self, beams, scores, length):
        """One step of algorithm 1. beams: (n, TOKENS), of which `length` tokens are chosen."""
        log_p = torch.log_softmax(self.model.logits(beams), 2)[:, length - 1]
        allowed = torch.full_like(log_p, float("-inf"))
        allowed[:, torch.tensor([word(i) for i in range(BAG)])] = 0
        # A pair of tokens comes once.
        for b in range(len(beams)):
            for t in range(1, length):
                if beams[b, t - 1] == beams[b, length - 1]:
                    allowed[b, beams[b, t]] = float("-inf")
        best = (log_p + allowed + scores[:, None]).flatten().topk(BEAMS)
        beams = beams[best.indices // log_p.shape[1]].clone()
        beams[:, length] = best.indices % log_p.shape[1]
        return beams, best.values

    def search(self):
        """Seconds for one step; all 39 cost the same."""
        beams = torch.full((BEAMS, TOKENS), PAD)
        beams[:, 0] = torch.tensor([word(n * 9) for n in range(BEAMS)])
        scores = torch.zeros(BEAMS)
        with torch.no_grad():
            began = time.perf_counter()
            for length in range(1, SHORT):
                beams, scores = self.step(beams, scores, length)
            took = time.perf_counter() - began
        self.last = scores[0].item()
        return took / (SHORT - 1)

    def candidate(self):
        """Seconds for equation 4 of one sentence."""
        text = [word(t * 31 % BAG) for t in range(TEXT)]
        tokens = torch.tensor([text[:5] + text[9:15] + text[5:9] + text[15:]])
        began = time.perf_counter()
        for _ in range(CANDIDATES):
            self.model.forget_gradient()
            loss = torch.nn.functional.cross_entropy(self.model.logits(tokens)[0, :-1], tokens[0, 1:])
            loss.backward()
            norm = sum(p.grad.square().sum() for p in self.model.p.values()).sqrt()
            self.score = (loss.exp() + norm).item()
        return (time.perf_counter() - began) / CANDIDATES


film = Film(pathlib.Path(sys.argv[1]))
reference.answer_questions({"step": film.search, "short": lambda: film.last, "candidate": film.candidate,
                            "score": lambda: film.score})
