#include "audit/experiment/cell_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "text/messages.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

using nlohmann::json;

// The first `count` messages of an endless list that have enough words.
std::vector<std::string> generated(Seed seed, std::int64_t count, std::int64_t words) {
  std::vector<std::string> messages;
  for (std::int64_t i = 0; static_cast<std::int64_t>(messages.size()) < count; ++i)
    for (std::string& message : cut_messages({generate_message(seed, i).text}, words))
      messages.push_back(std::move(message));
  return messages;
}

std::vector<std::string> slice(const std::vector<std::string>& messages, std::int64_t first,
                               std::int64_t count) {
  // What was there when the cell was frozen may be gone.
  if (first + count > static_cast<std::int64_t>(messages.size()))
    fail("the texts have changed: {} messages, expected at least {}", messages.size(), first + count);
  return {messages.begin() + first, messages.begin() + first + count};
}

std::vector<std::string> lines_of(const std::string& place, const std::string& hash, std::int64_t words,
                                  Sources& sources) {
  const std::shared_ptr<const Sources::Texts> texts = sources.texts(place);
  if (texts->hash != hash) fail("{}: its content has changed since the experiment was frozen", place);
  return cut_messages(texts->lines, words);
}

std::vector<Sentence> encoded(const std::vector<std::string>& messages, const Tokenizer& tokenizer,
                              std::int64_t tokens, const std::string& source) {
  std::vector<Sentence> sentences;
  for (const std::string& message : messages) {
    sentences.push_back(tokenizer.encode(message));
    Sentence& sentence = sentences.back();
    if (sentence.empty()) fail("{}: the message {} holds no word", source, quote(message));
    if (tokens == 0) continue;
    if (std::ssize(sentence) < tokens)
      fail("{}: the message {} has {} tokens, expected {} at least (texts.tokens)", source, quote(message),
           sentence.size(), tokens);
    sentence.resize(static_cast<std::size_t>(tokens));
  }
  return sentences;
}

std::vector<std::string> client_messages(const json& config, Sources& sources) {
  const json &texts = config.at("texts"), &places = config.at("places");
  const std::int64_t words = texts.at("words"), client = texts.at("client"),
                     size = config.at("run").at("size");
  if (places.contains("text"))
    return slice(cut_messages(lines_of_text(places.at("text")), words), client * size, size);
  const std::string place = places.at("texts");
  if (place == kBuiltIn) {
    const Seed seed =
        Seed(config.at("run").at("seed").get<std::uint64_t>()).derive("private").derive("client");
    return generated(seed.derive(static_cast<std::uint64_t>(client)), size, words);
  }
  return slice(lines_of(place, texts.at("hash"), words, sources), client * size, size);
}

std::vector<std::string> held_out_messages(const json& config, Sources& sources) {
  const std::int64_t count = config.at("metrics").at("utility");
  if (count == 0) return {};
  const json& texts = config.at("texts");
  const std::string place = config.at("places").at("held_out");
  if (place == kBuiltIn)
    return generated(
        Seed(config.at("run").at("seed").get<std::uint64_t>()).derive("private").derive("held out"), count,
        texts.at("words"));
  return slice(lines_of(place, texts.at("held_out_hash"), texts.at("words"), sources),
               texts.at("held_out_from"), count);
}

}  // namespace

std::vector<std::string> cut_messages(const std::vector<std::string>& messages, std::int64_t words) {
  if (words == 0) return messages;
  std::vector<std::string> cut;
  for (const std::string& message : messages) {
    std::vector<std::string> parts = keyboard_words(message);
    if (static_cast<std::int64_t>(parts.size()) < words) continue;
    parts.resize(static_cast<std::size_t>(words));
    cut.push_back(fmt::format("{}", fmt::join(parts, " ")));
  }
  return cut;
}

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!keyboard_words(line).empty()) lines.push_back(line);
  return lines;
}

CellTexts texts_of(const json& config, const Tokenizer& tokenizer, Sources& sources) {
  const std::string source = config.at("texts").at("files");
  const std::int64_t tokens = config.at("texts").value("tokens", 0);
  return {encoded(client_messages(config, sources), tokenizer, tokens, source),
          encoded(held_out_messages(config, sources), tokenizer, tokens, source)};
}

}  // namespace undertext
