// Bytes of real text a second, on one core; where ../shared is not there, of the built-in messages and
// characters.
#include <benchmark/benchmark.h>

#include "base/files.h"
#include "text/character_tokenizer.h"
#include "text/load_tokenizer.h"
#include "text/messages.h"

namespace undertext {
namespace {

const std::filesystem::path kData = std::filesystem::path(UNDERTEXT_SHARED) / "data";
constexpr const char* kTexts[] = {"wikitext2/valid.txt", "enron/sentences.txt"};

// One call for each line, as texts are read.
void encode_lines(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  std::int64_t tokens = 0;
  for (auto _ : state) {
    tokens = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      tokens += static_cast<std::int64_t>(
          tokenizer.encode(std::string_view(text).substr(begin, end - begin)).size());
      begin = end + 1;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["tokens"] = static_cast<double>(tokens);
}

void Encode(benchmark::State& state, const char* tokenizer) {
  const std::filesystem::path folder = kData / tokenizer, file = kData / kTexts[state.range(0)];
  if (!std::filesystem::exists(folder)) return state.SkipWithError("../shared is not there");
  state.SetLabel(kTexts[state.range(0)]);
  encode_lines(state, *load_tokenizer(folder), read_file(file));
}
BENCHMARK_CAPTURE(Encode, byte_pairs, "tokenizers/gpt2")->ArgName("text")->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(Encode, word_pieces, "tokenizers/bert-base-uncased")->ArgName("text")->Arg(0)->Arg(1);
BENCHMARK_CAPTURE(Encode, words, "gboard")->ArgName("text")->Arg(0)->Arg(1);

void EncodeCharacters(benchmark::State& state) {
  std::string text;
  for (const std::string& message : generate_messages(Seed(1), 10'000)) text += message + '\n';
  encode_lines(state, build_characters(std::vector<std::string>{text}), text);
}
BENCHMARK(EncodeCharacters);

void LoadGpt2(benchmark::State& state) {
  const std::filesystem::path folder = kData / "tokenizers/gpt2";
  if (!std::filesystem::exists(folder)) return state.SkipWithError("../shared is not there");
  for (auto _ : state) benchmark::DoNotOptimize(load_tokenizer(folder)->size());
}
BENCHMARK(LoadGpt2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace undertext
