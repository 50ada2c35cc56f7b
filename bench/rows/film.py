"""FILM on GPT-2's smallest shape, one thread, beside a plain PyTorch version of the published procedure: a beam
search of 32 beams, 40 tokens and a bag of 300, and the score of one candidate of reordering a sentence of 20 tokens that
the model knows by heart. The reference's search
is 39 times its mean step over the first three: as published it pads every beam to its full length, so that all steps
cost the same. "judged" is the time of reordering by its candidates: the best of each step, if it
beats the sentence itself, is found exactly without a gradient for those whose perplexity alone is too large."""

import harness

REPETITIONS = 2
STEPS = 39
SHAPE = "GPT-2 124M"


def measure(bench):
    data = bench.scratch("film")
    ours = harness.Worker(bench.program("bench_film"), data, bench.shared)
    ours.ask("prepare")
    reference = bench.reference("film", data)
    questions = ("search", "full", "fast", "judged")
    took = {question: [] for question in questions}
    step, candidate = [], []
    for _ in range(REPETITIONS):
        step.append(reference.ask("step"))
        candidate.append(reference.ask("candidate"))
        for question in questions:
            took[question].append(ours.ask(question))
    # Both must have computed the same thing.
    for what in ("short", "score"):
        a, b = ours.ask(what), reference.ask(what)
        assert abs(a - b) < 1e-3 * max(1, abs(b)), (what, a, b)
    ours.close()
    reference.close()
    (data / "model.safetensors").unlink()  # half a gigabyte
    rows = [harness.row(f"{SHAPE}, FILM's search, 32 beams x 40 tokens", min(took["search"]), STEPS * min(step))]
    for question, name in (("judged", "judged"), ("full", "scored in full"), ("fast", "scored, fast norm")):
        rows.append(harness.row(f"{SHAPE}, FILM's reordering, candidate {name}", min(took[question]), min(candidate)))
    return rows
