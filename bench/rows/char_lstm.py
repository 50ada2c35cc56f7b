"""A client's training of the character LSTM of record-level (3 x 128 units, sequences of 100, dropout, Adam), one
thread, beside a plain PyTorch script and beside what its matrix products alone would take at the speed of the
BLAS on the same core. Seconds are processor time for 100 000 characters."""

import harness

REPETITIONS = 5
CHARACTERS = 100_000
NAME = "character LSTM 3x128, 100 000 characters, batch {}, one thread"


def measure(bench):
    data = bench.scratch("char_lstm")
    ours = harness.Worker(bench.program("bench_char_lstm"), data, bench.shared)
    ours.ask("prepare")  # writes the model and the sequences that both train on
    reference = bench.reference("char_lstm", data)
    operations = ours.ask("operations")
    rows = []
    for batch in (8, 16, 128):
        training, torch_training, sgemm_rate = [], [], []
        for _ in range(REPETITIONS):
            sgemm_rate.append(ours.ask("sgemm"))
            training.append(ours.ask(f"train{batch}") * CHARACTERS)
            sgemm_rate.append(ours.ask("sgemm"))
            torch_training.append(reference.ask(f"train{batch}") * CHARACTERS)
        name = NAME.format(batch)
        rows += [harness.row(name, min(training), min(torch_training)),
                 harness.row(name + ", against sgemm", min(training), operations * CHARACTERS / max(sgemm_rate))]
    # Both must have trained the same thing.
    ours_loss, torch_loss = ours.ask("loss"), reference.ask("loss")
    assert abs(ours_loss - torch_loss) < 1e-3 * torch_loss, (ours_loss, torch_loss)
    ours.close()
    reference.close()
    return rows
