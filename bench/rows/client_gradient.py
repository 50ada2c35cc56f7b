"""What a client of the 3-layer transformer (10.8 M numbers, 50257 tokens) sends: the gradient of 128 sequences of
32 tokens, one thread, beside a plain PyTorch script, and the memory of the whole process."""

import harness

REPETITIONS = 3


def measure(bench):
    data = bench.scratch("client_gradient")
    ours = harness.Worker(bench.program("bench_client_gradient"), data, bench.shared)
    ours.ask("prepare")
    reference = bench.reference("client_gradient", data)
    memory, torch_memory = ours.ask("memory"), reference.ask("memory")
    gradient, torch_gradient = [], []
    for _ in range(REPETITIONS):
        gradient.append(ours.ask("gradient"))
        torch_gradient.append(reference.ask("gradient"))
    a, b = ours.ask("norm"), reference.ask("norm")
    assert abs(a - b) < 1e-4 * b, (a, b)  # both must have computed the same thing
    ours.close()
    reference.close()
    return [harness.row("client gradient, 128 x 32, 3-layer transformer", min(gradient), min(torch_gradient)),
            harness.row("client gradient, memory of the whole process", memory, torch_memory, "bytes")]
