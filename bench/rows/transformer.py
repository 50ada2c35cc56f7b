"""GPT-2's smallest shape, one thread, beside a plain PyTorch script: the gradient of 16 texts of 40 tokens, the
memory that it takes, and one step of a search with 32 beams over 300 tokens, with our cache of keys and values
beside reading the prefixes anew."""

import harness

REPETITIONS = 3
SHAPE = "GPT-2 124M"


def measure(bench):
    data = bench.scratch("transformer")
    ours = harness.Worker(bench.program("bench_transformer"), data, bench.shared)
    ours.ask("prepare")
    reference = bench.reference("transformer", data)
    memory, torch_memory = ours.ask("memory"), reference.ask("memory")
    gradient, torch_gradient, beam, torch_beam = [], [], [], []
    for _ in range(REPETITIONS):
        gradient.append(ours.ask("gradient"))
        torch_gradient.append(reference.ask("gradient"))
        beam.append(ours.ask("beam"))
        torch_beam.append(reference.ask("beam"))
    # Both must have computed the same thing.
    for what in ("loss", "best"):
        a, b = ours.ask(what), reference.ask(what)
        assert abs(a - b) < 1e-3 * max(1, abs(b)), (what, a, b)
    ours.close()
    reference.close()
    (data / "model.safetensors").unlink()  # half a gigabyte
    return [harness.row(f"{SHAPE}, gradient of 16 x 40 tokens", min(gradient), min(torch_gradient)),
            harness.row(f"{SHAPE}, its memory beyond weights and gradients", memory, torch_memory, "bytes"),
            harness.row(f"{SHAPE}, step of 32 beams, 300 tokens", min(beam), min(torch_beam))]
