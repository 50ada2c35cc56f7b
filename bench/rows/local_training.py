"""Local training (Algorithm 1) of 256 messages on the keyboard's model, one thread, beside a plain PyTorch
script and beside what the matrix products alone would take at the speed of the BLAS on the same core."""

import harness

REPETITIONS = 5
NAME = "local training E=10 n=256 B=32, one thread"


def measure(bench):
    data = bench.scratch("local_training")
    ours = harness.Worker(bench.program("bench_local_training"), data, bench.shared)
    ours.ask("prepare")  # writes the model and the messages that both train on
    reference = bench.reference("local_training", data)
    operations = ours.ask("operations")
    training, torch_training, sgemm_rate = [], [], []
    for _ in range(REPETITIONS):
        sgemm_rate.append(ours.ask("sgemm"))
        training.append(ours.ask("train"))
        sgemm_rate.append(ours.ask("sgemm"))
        torch_training.append(reference.ask("train"))
    # Both must have trained the same thing.
    ours_loss, torch_loss = ours.ask("loss"), reference.ask("loss")
    assert abs(ours_loss - torch_loss) < 1e-3 * torch_loss, (ours_loss, torch_loss)
    ours.close()
    reference.close()
    return [harness.row(NAME, min(training), min(torch_training)),
            harness.row(NAME + ", against sgemm", min(training), operations / max(sgemm_rate))]
