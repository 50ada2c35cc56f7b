// Our side of bench/rows/char_lstm.py; see worker.h. The character LSTM of record-level, 3 layers of 128
// units, trained as its clients train it: sequences of 100 predicted characters, dropout, Adam.
// prepare      writes the model and the sequences to DATA
// operations   floating-point operations that the matrix products of one character's training need
// sgemm        operations per second of a single-threaded matrix product
// train16      seconds for a character at batch 16; train8, train128: at other batches
// loss         of the last step at batch 16 without dropout
// score        seconds to score 1000 candidates of a pattern by a tree of their digits
#include <cblas.h>

#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "models/adam.h"
#include "models/char_lstm/reader.h"
#include "models/some_words.h"
#include "text/character_tokenizer.h"
#include "worker.h"

using namespace undertext;

namespace {

// Of this program's own processor time: a step is so short that what else the machine does would decide.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

constexpr std::int64_t kPredicted = 100;
constexpr std::size_t kSequences = 512;
constexpr double kRate = 1e-3;

struct Setting {
  std::unique_ptr<CharLstm> model;
  std::vector<Sentence> sequences;
  Sentence prefix;                   // of the pattern
  std::vector<Sentence> candidates;  // what may follow it: ddd-dd-dddd
};

// Penn Treebank where it is there, else random words of the same letters.
std::string some_text(const Folders& folders) {
  const std::filesystem::path real = folders.shared / "data/ptb/valid.txt";
  constexpr std::size_t kSize = kSequences * (kPredicted + 1);
  if (std::filesystem::exists(real)) {
    const std::string text = read_file(real);
    if (text.size() >= kSize) return text.substr(0, kSize);
  }
  Random random(Seed(3));
  std::string text;
  while (text.size() < kSize) text += "etaoin shrdlu cmfwyp"[random.below(20)];
  return text;
}

Setting prepare(const Folders& folders) {
  const std::string text = some_text(folders), pattern = "my social security number is ";
  const CharacterTokenizer tokenizer =
      build_characters(std::vector<std::string>{text, pattern, "0123456789-", "abcdefghijklmnopqrstuvwxyz"});
  Setting setting;
  setting.model = CharLstm::random({.vocabulary = tokenizer.size()}, Seed(1));
  std::string lines;
  const Sentence all = tokenizer.encode(text);
  for (std::size_t s = 0; s + kPredicted + 1 <= all.size(); s += kPredicted + 1) {
    setting.sequences.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(s),
                                   all.begin() + static_cast<std::ptrdiff_t>(s + kPredicted + 1));
    lines += nlohmann::json(setting.sequences.back()).dump() + "\n";
  }
  setting.prefix = tokenizer.encode(pattern);
  Random random(Seed(4));
  for (int i = 0; i < 1000; ++i) {
    std::string digits = "ddd-dd-dddd";
    for (char& c : digits)
      if (c == 'd') c = static_cast<char>('0' + random.below(10));
    setting.candidates.push_back(tokenizer.encode(digits));
  }
  std::filesystem::create_directories(folders.data);
  setting.model->save(folders.data);
  write_file(folders.data / "sequences.jsonl", lines);
  return setting;
}

// There, and back to inputs and weights.
double operations(const CharLstmConfig& c) {
  double products = static_cast<double>(c.vocabulary * c.units);
  for (std::int64_t l = 0; l < c.layers; ++l)
    products += static_cast<double>(4 * c.units * (c.inputs(l) + c.units));
  return 3 * 2 * products;
}

// Over a time like that of a training step, so that what else the machine does weighs alike on both.
double sgemm_rate() {
  constexpr int n = 512, times = 100;
  static const std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f);
  static std::vector<float> c(n * n);
  const double began = cpu_seconds();
  for (int i = 0; i < times; ++i)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(),
                n);
  return times * 2.0 * n * n * n / (cpu_seconds() - began);
}

struct Trained {
  double seconds, loss;
};

// So many characters in steps of `batch` sequences, from the model as it was prepared.
Trained train(const Setting& setting, std::size_t batch, std::size_t steps, bool dropout) {
  const auto model = setting.model->clone();
  Adam adam(*model, {}, model->trainable(true));
  double loss = 0;
  const double began = cpu_seconds();
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t first = step * batch % kSequences;
    if (dropout) model->randomise(Seed(5).derive(step));
    loss = adam.step(std::span(setting.sequences).subspan(first, batch), kRate);
  }
  return {(cpu_seconds() - began) / static_cast<double>(steps * batch * kPredicted), loss};
}

// The log-probability of each candidate after the prefix. What candidates share is read once.
double score(const Setting& setting) {
  std::vector<Token> characters(static_cast<std::size_t>(setting.model->vocabulary_size()));
  for (std::size_t i = 0; i < characters.size(); ++i) characters[i] = static_cast<Token>(i);
  const double began = cpu_seconds();
  CharLstmReader reader(*setting.model);
  const SomeWords output(*setting.model, characters);
  StateId root = -1;
  for (const Token token : setting.prefix)
    root = reader.extend(std::vector<StateId>{root}, std::vector<Token>{token});
  std::vector<StateId> state(setting.candidates.size(), root);
  std::vector<double> total(setting.candidates.size(), 0.0);
  for (std::size_t i = 0; i < setting.candidates[0].size(); ++i) {
    std::map<StateId, std::vector<double>> log_p;
    for (std::size_t c = 0; c < state.size(); ++c) {
      std::vector<double>& own = log_p[state[c]];
      if (own.empty()) {
        const Matrix<float> logits = output.logits(reader.hidden(state[c]), 1);
        double sum = 0;
        for (const float logit : logits.data) sum += std::exp(logit);
        for (const float logit : logits.data) own.push_back(logit - std::log(sum));
      }
      total[c] += own[static_cast<std::size_t>(setting.candidates[c][i])];
    }
    if (i + 1 == setting.candidates[0].size()) break;
    std::map<std::pair<StateId, Token>, StateId> next;
    std::vector<StateId> from;
    std::vector<Token> tokens;
    for (std::size_t c = 0; c < state.size(); ++c) {
      const auto [at, added] =
          next.try_emplace({state[c], setting.candidates[c][i]}, static_cast<StateId>(from.size()));
      if (added) {
        from.push_back(at->first.first);
        tokens.push_back(at->first.second);
      }
    }
    const StateId first = reader.extend(from, tokens);
    for (std::size_t c = 0; c < state.size(); ++c)
      state[c] = first + next.at({state[c], setting.candidates[c][i]});
  }
  return cpu_seconds() - began;
}

}  // namespace

int main(int argc, char** argv) {
  const Folders folders = folders_of(argc, argv);
  Setting setting;
  return answer_questions({
      {"prepare",
       [&] {
         setting = prepare(folders);
         return 0.0;
       }},
      {"operations", [&] { return operations(setting.model->config()); }},
      {"sgemm", sgemm_rate},
      {"train8", [&] { return train(setting, 8, 32, true).seconds; }},
      {"train16", [&] { return train(setting, 16, 16, true).seconds; }},
      {"train128", [&] { return train(setting, 128, 2, true).seconds; }},
      {"loss", [&] { return train(setting, 16, 8, false).loss; }},
      {"score", [&] { return score(setting); }},
  });
}
