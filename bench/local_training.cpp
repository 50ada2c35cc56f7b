// Our side of bench/rows/local_training.py: answers each line of input with one number.
//   bench_local_training DATA SHARED
// prepare      writes the model and the messages to DATA: those in SHARED, or made-up ones of the same shape
// operations   floating-point operations that the matrix products of the training need
// sgemm        operations per second of a large single-threaded matrix product
// train        seconds that the training takes
// loss         of the last epoch of that training
#include "federated/local_training.h"

#include <cblas.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"
#include "base/threads.h"
#include "models/cifg_lstm.h"
#include "models/load_model.h"
#include "text/corpus.h"

using namespace undertext;

namespace {

const CifgConfig kKeyboard{.vocabulary = 9502};
const LocalTraining kTraining{.epochs = 10, .batch = 32};

const std::string kHash(64, '0');

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// 256 messages of 4 words, common words often (the logarithm of the rank is uniform).
std::vector<Sentence> made_up_messages() {
  Random random(Seed(1));
  std::vector<Sentence> messages(256, Sentence(4));
  for (Sentence& message : messages)
    for (Token& word : message) word = static_cast<Token>(3 * std::pow(3000.0, random.uniform()));
  return messages;
}

struct Task {
  std::unique_ptr<CifgLstm> model;
  std::vector<Sentence> messages;
};

Task prepare(const std::filesystem::path& data, const std::filesystem::path& shared) {
  Task task;
  if (std::filesystem::exists(shared / "data/gboard")) {
    task.model = CifgLstm::load(shared / "data/gboard");
    task.messages = read_sentences(shared / "data/messages/256_0.txt",
                                   Vocabulary::load(shared / "data/gboard/vocab.txt"));
  } else {
    task.model = CifgLstm::random(kKeyboard, Seed(1));
    task.messages = made_up_messages();
  }
  task.model->save(data);
  std::string lines;
  for (const Sentence& message : task.messages) lines += nlohmann::json(message).dump() + "\n";
  write_file(data / "sentences.jsonl", lines);
  return task;
}

// Forward, and backward to the weights and to what is trained below: the embedding is frozen, so W_ih has no
// gradient to pass on. Every word of every message counts; that we share common prefixes is our gain.
double operations(const Task& task) {
  const CifgConfig& c = task.model->config();
  const double v = static_cast<double>(c.vocabulary), e = static_cast<double>(c.embedding),
               u = static_cast<double>(c.units);
  double words = 0;
  for (const Sentence& message : task.messages) words += static_cast<double>(message.size());
  const double input = 2 * 3 * u * e, recurrent = input, projection = 2 * u * e, output = 2 * v * e;
  return static_cast<double>(kTraining.epochs) * words * (2 * input + 3 * (recurrent + projection + output));
}

// Over a time like that of the training, so that what else the machine does weighs alike on both.
double sgemm_rate() {
  constexpr int n = 1024, times = 32;
  static const std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f);
  static std::vector<float> c(n * n);
  const double began = now();
  for (int i = 0; i < times; ++i)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(),
                n);
  return times * 2.0 * n * n * n / (now() - began);
}

double train(const Task& task) {
  const double began = now();
  const Update update = train_locally(*task.model, task.messages, kTraining, kHash);
  return now() - began;
}

// The loss that each batch of the last epoch sees before its step, summed as the reference sums it.
double last_loss(const Task& task) {
  LocalTraining shorter = kTraining;
  --shorter.epochs;
  const auto model = task.model->clone();
  for (const auto& [name, weight] : train_locally(*task.model, task.messages, shorter, kHash).tensors) {
    at::Tensor parameter = model->parameters().at(name);
    parameter.copy_(weight);
  }
  double loss = 0;
  const auto batch = static_cast<std::size_t>(kTraining.batch);
  for (std::size_t first = 0; first < task.messages.size(); first += batch)
    loss += model->descend(std::span<const Sentence>(task.messages)
                               .subspan(first, std::min(batch, task.messages.size() - first)),
                           kTraining.learning_rate, model->trainable(false));
  return loss;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: bench_local_training DATA SHARED\n";
    return 2;
  }
  set_threads(1);
  std::cout.precision(12);
  Task task;
  for (std::string question; std::getline(std::cin, question);) {
    double answer = 0;
    if (question == "prepare")
      task = prepare(argv[1], argv[2]);
    else if (question == "operations")
      answer = operations(task);
    else if (question == "sgemm")
      answer = sgemm_rate();
    else if (question == "train")
      answer = train(task);
    else if (question == "loss")
      answer = last_loss(task);
    else
      return 2;
    std::cout << answer << std::endl;
  }
  return 0;
}
