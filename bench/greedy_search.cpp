// Our side of bench/rows/greedy_search.py; see worker.h.
// prepare     writes the model that the client was sent and the update that it sent back to DATA
// search      seconds from these two to ranked sentences
// sentences   how many they are; writes them to DATA/ours.jsonl, best first
#include <nlohmann/json.hpp>

#include "attacks/greedy_sentences.h"
#include "attacks/words.h"
#include "base/files.h"
#include "federated/local_training.h"
#include "tensors/named_tensors.h"
#include "worker.h"

using namespace undertext;

namespace {

constexpr std::size_t kMessages = 64;
const LocalTraining kTraining{.epochs = 10, .batch = 32};

Observation prepare(const Folders& folders) {
  Client client = prepare_client(folders, kMessages);
  const std::string hash = hash_of(client.model->parameters());
  Update update = train_locally(*client.model, client.messages, kTraining, hash);
  save_update(update, folders.data / "update.safetensors");
  return observe(std::move(client.model), hash, std::move(update));
}

std::vector<RecoveredSentence> search(const Observation& observation) {
  std::vector<Token> words;
  for (const RecoveredWord& word : recover_words_by_sign(observation).words) words.push_back(word.id);
  return recover_greedy_sentences(observation, words, {.length = 4, .scale = 0}).sentences;
}

void write(const std::vector<RecoveredSentence>& sentences, const std::filesystem::path& file) {
  std::string lines;
  for (const RecoveredSentence& sentence : sentences)
    lines += nlohmann::json{{"words", sentence.words}, {"score", sentence.score}}.dump() + "\n";
  write_file(file, lines);
}

}  // namespace

int main(int argc, char** argv) {
  const Folders folders = folders_of(argc, argv);
  Observation observation;
  std::vector<RecoveredSentence> sentences;
  return answer_questions({
      {"prepare",
       [&] {
         observation = prepare(folders);
         return 0.0;
       }},
      {"search",
       [&] {
         const double began = seconds();
         sentences = search(observation);
         return seconds() - began;
       }},
      {"sentences",
       [&] {
         write(sentences, folders.data / "ours.jsonl");
         return static_cast<double>(sentences.size());
       }},
  });
}
