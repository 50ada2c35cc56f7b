// Our side of bench/rows/local_training.py; see worker.h.
// prepare      writes the model and the messages to DATA
// operations   floating-point operations that the matrix products of the training need
// sgemm        operations per second of a large single-threaded matrix product
// train        seconds that the training takes
// loss         of the last epoch of that training
#include "federated/local_training.h"

#include <cblas.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "worker.h"

using namespace undertext;

namespace {

constexpr std::size_t kMessages = 256;
const LocalTraining kTraining{.epochs = 10, .batch = 32};

const std::string kHash(64, '0');

Client prepare(const Folders& folders) {
  Client client = prepare_client(folders, kMessages);
  std::string lines;
  for (const Sentence& message : client.messages) lines += nlohmann::json(message).dump() + "\n";
  write_file(folders.data / "sentences.jsonl", lines);
  return client;
}

// Forward, and backward to the weights and to what is trained below: the embedding is frozen, so W_ih has no
// gradient to pass on. Every word of every message counts; that we share common prefixes is our gain.
double operations(const Client& client) {
  const CifgConfig& c = client.model->config();
  const double v = static_cast<double>(c.vocabulary), e = static_cast<double>(c.embedding),
               u = static_cast<double>(c.units);
  double words = 0;
  for (const Sentence& message : client.messages) words += static_cast<double>(message.size());
  const double input = 2 * 3 * u * e, recurrent = input, projection = 2 * u * e, output = 2 * v * e;
  return static_cast<double>(kTraining.epochs) * words * (2 * input + 3 * (recurrent + projection + output));
}

// Over a time like that of the training, so that what else the machine does weighs alike on both.
double sgemm_rate() {
  constexpr int n = 1024, times = 32;
  static const std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f);
  static std::vector<float> c(n * n);
  const double began = seconds();
  for (int i = 0; i < times; ++i)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(),
                n);
  return times * 2.0 * n * n * n / (seconds() - began);
}

double train(const Client& client) {
  const double began = seconds();
  const Update update = train_locally(*client.model, client.messages, kTraining, kHash);
  return seconds() - began;
}

// The loss that each batch of the last epoch sees before its step, summed as the reference sums it.
double last_loss(const Client& client) {
  LocalTraining shorter = kTraining;
  --shorter.epochs;
  const auto model = client.model->clone();
  for (const auto& [name, weight] : train_locally(*client.model, client.messages, shorter, kHash).tensors) {
    at::Tensor parameter = model->parameters().at(name);
    parameter.copy_(weight);
  }
  double loss = 0;
  const auto batch = static_cast<std::size_t>(kTraining.batch);
  for (std::size_t first = 0; first < client.messages.size(); first += batch)
    loss += model->descend(std::span<const Sentence>(client.messages)
                               .subspan(first, std::min(batch, client.messages.size() - first)),
                           kTraining.learning_rate, model->trainable(false));
  return loss;
}

}  // namespace

int main(int argc, char** argv) {
  const Folders folders = folders_of(argc, argv);
  Client client;
  return answer_questions({
      {"prepare",
       [&] {
         client = prepare(folders);
         return 0.0;
       }},
      {"operations", [&] { return operations(client); }},
      {"sgemm", sgemm_rate},
      {"train", [&] { return train(client); }},
      {"loss", [&] { return last_loss(client); }},
  });
}
