"""The paper's greedy search for the sentences in one client's update, on the keyboard's model and one thread,
beside a plain PyTorch script: from the two models to the words (Algorithm 2), one sentence per word, their
change in log-perplexity, and the best 64."""

import json

import harness

REPETITIONS = 30
ROUNDING = 2e-6  # of a score, in float


def scores(file):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {tuple(line["words"]): line["score"] for line in lines}


def check_same(ours, reference):
    """The same sentences with the same scores; between equals, rounding may decide which are the last."""
    assert ours and len(ours) == len(reference), (len(ours), len(reference))
    last = min(ours.values())
    for words in ours.keys() | reference.keys():
        a, b = ours.get(words, last), reference.get(words, last)
        assert abs(a - b) < ROUNDING, (words, ours.get(words), reference.get(words))


def measure(bench):
    data = bench.scratch("greedy_search")
    ours = harness.Worker(bench.program("bench_greedy_search"), data, bench.shared)
    ours.ask("prepare")  # writes the model and the update that both search
    reference = bench.reference("greedy_search", data)
    search, torch_search = [], []
    for _ in range(REPETITIONS):
        search.append(ours.ask("search"))
        torch_search.append(reference.ask("search"))
    # Both must have found the same sentences.
    assert ours.ask("sentences") == reference.ask("sentences")
    check_same(scores(data / "ours.jsonl"), scores(data / "reference.jsonl"))
    ours.close()
    reference.close()
    return [harness.row("greedy search E=10 n=64 B=32, one thread", min(search), min(torch_search))]
