#include "attacks/recovery.h"

namespace undertext {

Sentence ids_of(const WordRecovery& recovery) {
  Sentence ids;
  for (const RecoveredWord& word : recovery.words) ids.push_back(word.id);
  return ids;
}

std::vector<Sentence> sentences_of(const SentenceRecovery& recovery) {
  std::vector<Sentence> sentences;
  for (const RecoveredSentence& sentence : recovery.sentences) sentences.push_back(sentence.words);
  return sentences;
}

}  // namespace undertext
