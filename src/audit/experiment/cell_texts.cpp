#include "audit/experiment/cell_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "text/messages.h"
#include "text/sequences.h"
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

Seed client_seed(const json& config) {
  return Seed(config.at("run").at("seed").get<std::uint64_t>())
      .derive("private")
      .derive("client")
      .derive(config.at("texts").at("client").get<std::uint64_t>());
}

std::vector<std::string> client_messages(const json& config, Sources& sources) {
  const json &texts = config.at("texts"), &places = config.at("places");
  const std::int64_t words = texts.at("words"), client = texts.at("client"),
                     size = config.at("run").at("size");
  if (places.contains("text"))
    return slice(cut_messages(lines_of_text(places.at("text")), words), client * size, size);
  const std::string place = places.at("texts");
  if (place == kBuiltIn) return generated(client_seed(config), size, words);
  return slice(lines_of(place, texts.at("hash"), words, sources), client * size, size);
}

// Any of the tokens that stand for text.
Sentence random_tokens(Seed seed, std::int64_t count, const Tokenizer& tokenizer) {
  const SpecialTokens special = tokenizer.special();
  Random random(seed);
  Sentence tokens;
  while (std::ssize(tokens) < count) {
    const auto token = static_cast<Token>(random.below(static_cast<std::uint64_t>(tokenizer.size())));
    const bool marks = token == special.start || token == special.end || token == special.unknown ||
                       token == special.mask || token == special.padding;
    if (!marks) tokens.push_back(token);
  }
  return tokens;
}

// `count` tokens after the first `skipped` of the messages, which next(i) gives one by one; fewer when they
// end.
Sentence stream_of(const std::function<std::optional<std::string>(std::int64_t)>& next, std::int64_t skipped,
                   std::int64_t count, const Tokenizer& tokenizer) {
  Sentence stream;
  std::int64_t passed = 0;
  for (std::int64_t i = 0; std::ssize(stream) < count; ++i) {
    const std::optional<std::string> message = next(i);
    if (!message) break;
    for (const Token token : tokenizer.encode(*message))
      if (passed++ >= skipped) stream.push_back(token);
  }
  return stream;
}

// The client's sequences: `size` for each of its users.
std::vector<Sentence> client_sequences(const json& config, const Tokenizer& tokenizer, Sources& sources) {
  const json &texts = config.at("texts"), &places = config.at("places");
  const std::int64_t length = texts.at("length"), client = texts.at("client"), words = texts.at("words");
  const std::int64_t count = config.at("run").at("size").get<std::int64_t>() *
                             config.at("federation").at("users").get<std::int64_t>();
  const std::int64_t tokens = count * length;
  const std::string place = places.at("texts");
  if (place == kRandom)
    return cut_into_sequences(std::vector<Sentence>{random_tokens(client_seed(config), tokens, tokenizer)},
                              length, place);
  Sentence stream;
  if (place == kBuiltIn) {
    const Seed seed = client_seed(config);
    const auto message = [&](std::int64_t i) {
      const std::vector<std::string> cut = cut_messages({generate_message(seed, i).text}, words);
      return cut.empty() ? "" : cut.front();
    };
    stream = stream_of(message, 0, tokens, tokenizer);
  } else {
    const std::vector<std::string> lines = places.contains("text")
                                               ? cut_messages(lines_of_text(places.at("text")), words)
                                               : lines_of(place, texts.at("hash"), words, sources);
    const auto line = [&](std::int64_t i) {
      return i < std::ssize(lines) ? std::optional(lines[static_cast<std::size_t>(i)]) : std::nullopt;
    };
    stream = stream_of(line, client * tokens, tokens, tokenizer);
  }
  return first_sequences(std::vector<Sentence>{std::move(stream)}, length, count,
                         fmt::format("{}, client {}", texts.at("files").get<std::string>(), client));
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
  return {config.at("texts").value("length", 0) > 0
              ? client_sequences(config, tokenizer, sources)
              : encoded(client_messages(config, sources), tokenizer, tokens, source),
          encoded(held_out_messages(config, sources), tokenizer, tokens, source)};
}

std::vector<Sentence> server_texts_of(const json& config, const Tokenizer& tokenizer, Sources& sources) {
  constexpr std::int64_t kMessages = 2000, kTokens = 50'000;  // a small volume, as in appendix D
  const std::string place = config.at("places").at("server_texts");
  if (place == kRandom) return {};
  const std::vector<std::string> lines =
      place == kBuiltIn
          ? generate_messages(
                Seed(config.at("run").at("seed").get<std::uint64_t>()).derive("server's public texts"),
                kMessages)
          : lines_of(place, config.at("server").at("hash"), 0, sources);
  std::vector<Sentence> texts;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < lines.size() && tokens < kTokens; ++i) {
    texts.push_back(tokenizer.encode(lines[i]));
    tokens += std::ssize(texts.back());
  }
  return texts;
}

}  // namespace undertext
