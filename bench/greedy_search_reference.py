"""The reference for bench/rows/greedy_search.py: the paper's sentence reconstruction (gboard-next-word,
sections 3.1 and 3.2) as most people would write it, in eager PyTorch. Answers "search" with the seconds it took
and "sentences" with how many it found, which it writes to reference.jsonl, best first."""

import json
import pathlib
import sys
import time

import torch

import reference

LENGTH = 4


def recover_words(before, after):
    """Algorithm 2: the words whose output bias went up."""
    return torch.nonzero(before["decoder.bias"] - after["decoder.bias"] < 0).flatten()


def generate(after, words, start):
    """One sentence per word, which comes first; then always the likeliest of the words: (n, LENGTH)."""
    weight, bias = after["decoder.weight"][words], after["decoder.bias"][words]
    h, c = reference.start_state(after, len(words))
    h, c = reference.step(after, reference.from_inputs(after, torch.full_like(words, start)), h, c)
    sentences = [words]
    for _ in range(LENGTH - 1):
        h, c = reference.step(after, reference.from_inputs(after, sentences[-1]), h, c)
        sentences.append(words[(h @ weight.T + bias).argmax(1)])
    return torch.stack(sentences, 1)


def log_perplexity(p, sentences, start):
    inputs = torch.cat([torch.full_like(sentences[:, :1], start), sentences[:, :-1]], 1)
    log_p = reference.log_probabilities(p, inputs)
    return -log_p.gather(2, sentences[:, :, None]).sum((1, 2))


class Search:
    def __init__(self, folder):
        self.folder = folder
        self.before, self.start = reference.read_model(folder)
        update, facts = reference.read_safetensors(folder / "update.safetensors")
        self.after = {**self.before, **update}
        self.count = int(facts["count"])
        self.found = []

    @torch.no_grad()
    def search(self):
        began = time.perf_counter()
        sentences = generate(self.after, recover_words(self.before, self.after), self.start)
        at_first = log_perplexity(self.before, sentences, self.start)
        at_last = log_perplexity(self.after, sentences, self.start)
        scores, order = ((at_first - at_last) / at_first).sort(descending=True)
        best = sentences[order[:self.count]]
        self.found = [{"words": w, "score": s} for w, s in zip(best.tolist(), scores.tolist())]
        return time.perf_counter() - began

    def write(self):
        lines = "".join(json.dumps(sentence) + "\n" for sentence in self.found)
        (self.folder / "reference.jsonl").write_text(lines)
        return len(self.found)


search = Search(pathlib.Path(sys.argv[1]))
reference.answer_questions({"search": search.search, "sentences": search.write})
