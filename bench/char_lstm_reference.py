"""The reference for bench/rows/char_lstm.py: the same model and training as most people would write it, in eager
PyTorch. Answers "train8", "train16" and "train128" with seconds for a character and "loss" with that of the last
step at batch 16 without dropout."""

import json
import pathlib
import sys
import time

import torch

import reference

PREDICTED, RATE, CLIP = 100, 1e-3, 1.0


class CharLstm(torch.nn.Module):
    def __init__(self, config, dropout):
        super().__init__()
        self.embedding = torch.nn.Embedding(config["vocab_size"], config["embedding_size"])
        self.lstm = torch.nn.LSTM(config["embedding_size"], config["hidden_size"], config["num_hidden_layers"],
                                  dropout=dropout, batch_first=True)
        self.dropout = torch.nn.Dropout(dropout)
        self.decoder = torch.nn.Linear(config["hidden_size"], config["vocab_size"])

    def forward(self, tokens):
        return self.decoder(self.dropout(self.lstm(self.embedding(tokens))[0]))


class Training:
    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = reference.read_safetensors(folder / "model.safetensors")[0]
        lines = (folder / "sequences.jsonl").read_text().splitlines()
        self.sequences = torch.tensor([json.loads(line) for line in lines])

    def train(self, batch, steps, dropout):
        """Seconds for a character, and the last loss."""
        model = CharLstm(self.config, dropout)
        model.load_state_dict(self.weights)
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        began = time.process_time()
        for step in range(steps):
            first = step * batch % len(self.sequences)
            tokens = self.sequences[first:first + batch]
            optimizer.zero_grad()
            logits = model(tokens[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
        return (time.process_time() - began) / (steps * batch * PREDICTED), loss.item()


training = Training(pathlib.Path(sys.argv[1]))
dropout = training.config["dropout"]
reference.answer_questions({
    "train8": lambda: training.train(8, 32, dropout)[0],
    "train16": lambda: training.train(16, 16, dropout)[0],
    "train128": lambda: training.train(128, 2, dropout)[0],
    "loss": lambda: training.train(16, 8, 0.0)[1],
})
