"""What privacy costs: DP-SGD (a bound on each text's gradient, noise, texts drawn at random) on the keyboard's model
beside the same training without, one thread, and the memory of the whole process; and a secure sum of 100 clients
with 1.4 M numbers each, a tenth of whom drop out, on all cores, beside what its masks alone take there."""

import harness

REPETITIONS = 5
NAME = "DP-SGD E=10 n=256 B=32, one thread"


def memory(bench, data, question):
    worker = harness.Worker(bench.program("bench_defences"), data, bench.shared)
    worker.ask("prepare")
    worker.ask(question)
    peak = worker.ask("memory")
    worker.close()
    return peak


def measure(bench):
    data = bench.scratch("defences")
    worker = harness.Worker(bench.program("bench_defences"), data, bench.shared)
    worker.ask("prepare")
    took = {"private": [], "plain": []}
    for _ in range(REPETITIONS):
        for question, times in took.items():
            times.append(worker.ask(question))
    masks = worker.ask("masks") / worker.ask("threads")
    summed = worker.ask("secure sum")
    assert summed > 0, "the secure sum is not exact"
    worker.close()
    return [harness.row(NAME + ", against plain training", min(took["private"]), min(took["plain"])),
            harness.row(NAME + ", memory of the whole process", memory(bench, data, "private"),
                        memory(bench, data, "plain"), "bytes"),
            harness.row("secure sum of 100 clients, 1.4 M numbers, against its masks", summed, masks)]
