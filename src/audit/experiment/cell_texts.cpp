#include "audit/experiment/cell_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "text/messages.h"
#include "text/sequences.h"
#include "text/text_filter.h"
#include "text/vocabulary.h"

namespace undertext {
namespace {

using nlohmann::json;

TextFilter filter_of(const json& texts) {
  TextFilter filter;
  filter.split = texts.value("split", filter.split);
  filter.min_words = texts.value("min_words", filter.min_words);
  filter.max_words = texts.value("max_words", filter.max_words);
  filter.max_unknown = texts.value("max_unknown", filter.max_unknown);
  filter.min_entities = texts.value("min_entities", filter.min_entities);
  return filter;
}

// The first `count` messages of an endless list that the experiment leaves.
std::vector<std::string> generated(Seed seed, std::int64_t count, const json& texts) {
  constexpr std::int64_t kTried = 1000;  // for each that is wanted
  std::vector<std::string> messages;
  for (std::int64_t i = 0; std::ssize(messages) < count; ++i) {
    if (i >= kTried * count) fail("texts: of {} built-in messages the filter leaves {}", i, messages.size());
    for (std::string& message : chosen_messages({generate_message(seed, i).text}, texts))
      messages.push_back(std::move(message));
  }
  return messages;
}

std::vector<std::string> slice(const std::vector<std::string>& messages, std::int64_t first,
                               std::int64_t count) {
  // What was there when the cell was frozen may be gone.
  if (first + count > static_cast<std::int64_t>(messages.size()))
    fail("the texts have changed: {} messages, expected at least {}", messages.size(), first + count);
  return {messages.begin() + first, messages.begin() + first + count};
}

std::vector<std::string> lines_of(const std::string& place, const std::string& hash, const json& chosen,
                                  Sources& sources) {
  const std::shared_ptr<const Sources::Texts> texts = sources.texts(place);
  if (texts->hash != hash) fail("{}: its content has changed since the experiment was frozen", place);
  return chosen_messages(texts->lines, chosen);
}

std::vector<Sentence> encoded(const std::vector<std::string>& messages, const Tokenizer& tokenizer,
                              const json& texts) {
  const std::string source = texts.at("files");
  const std::int64_t tokens = texts.value("tokens", 0);
  const std::optional<Token> end = tokenizer.special().end;
  const bool append_end = texts.value("append_end", false);
  if (append_end && !end) fail("texts.append_end: the tokenizer has no token that ends a text");
  std::vector<Sentence> sentences;
  for (const std::string& message : messages) {
    sentences.push_back(tokenizer.encode(message));
    Sentence& sentence = sentences.back();
    if (sentence.empty()) fail("{}: the message {} holds no word", source, quote(message));
    if (tokens > 0 && std::ssize(sentence) < tokens)
      fail("{}: the message {} has {} tokens, expected {} at least (texts.tokens)", source, quote(message),
           sentence.size(), tokens);
    if (tokens > 0) sentence.resize(static_cast<std::size_t>(tokens));
    if (append_end) sentence.push_back(*end);
  }
  return sentences;
}

Seed client_seed(const json& config) {
  return Seed(config.at("run").at("seed").get<std::uint64_t>())
      .derive("private")
      .derive("client")
      .derive(config.at("texts").at("client").get<std::uint64_t>());
}

Seed private_seed(const json& config) {
  return Seed(config.at("run").at("seed").get<std::uint64_t>()).derive("private");
}

// The messages of a cell whose model is trained on some of them, which come first; of the built-in ones only
// these. The order of a file is drawn anew, so that messages that follow each other there do not come
// together in a client's hands.
std::vector<std::string> private_messages(const json& config, Sources& sources) {
  const json &texts = config.at("texts"), &places = config.at("places");
  const std::string place = places.at("texts");
  if (place == kBuiltIn)
    return generated(private_seed(config).derive("training"), config.at("training").at("texts"), texts);
  std::vector<std::string> messages = places.contains("text")
                                          ? chosen_messages(lines_of_text(places.at("text")), texts)
                                          : lines_of(place, texts.at("hash"), texts, sources);
  Random random(private_seed(config).derive("order"));
  for (std::size_t i = messages.size(); i > 1; --i)
    std::swap(messages[i - 1], messages[static_cast<std::size_t>(random.below(i))]);
  return messages;
}

std::vector<std::string> client_messages(const json& config, Sources& sources) {
  const json &texts = config.at("texts"), &places = config.at("places");
  const std::int64_t client = texts.at("client"), size = config.at("run").at("size");
  const std::string place = places.at("texts");
  if (trains_first(config)) {
    const json& training = config.at("training");
    const bool trained = training.at("attacked") == "trained";
    if (trained || place != kBuiltIn)
      return slice(private_messages(config, sources),
                   client * size + (trained ? 0 : training.at("texts").get<std::int64_t>()), size);
  }
  if (places.contains("text"))
    return slice(chosen_messages(lines_of_text(places.at("text")), texts), client * size, size);
  if (place == kBuiltIn) return generated(client_seed(config), size, texts);
  return slice(lines_of(place, texts.at("hash"), texts, sources), client * size, size);
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
  const std::int64_t length = texts.at("length"), client = texts.at("client");
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
      const std::vector<std::string> cut = chosen_messages({generate_message(seed, i).text}, texts);
      return cut.empty() ? "" : cut.front();
    };
    stream = stream_of(message, 0, tokens, tokenizer);
  } else {
    const std::vector<std::string> lines = places.contains("text")
                                               ? chosen_messages(lines_of_text(places.at("text")), texts)
                                               : lines_of(place, texts.at("hash"), texts, sources);
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
  if (place == kBuiltIn) return generated(private_seed(config).derive("held out"), count, texts);
  // Of the clients' own file: what the training leaves, in the order of the training.
  const bool own = trains_first(config) && place == config.at("places").at("texts");
  return slice(
      own ? private_messages(config, sources) : lines_of(place, texts.at("held_out_hash"), texts, sources),
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

std::vector<std::string> chosen_messages(const std::vector<std::string>& lines, const json& texts) {
  return cut_messages(filtered(lines, filter_of(texts)), texts.at("words"));
}

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!keyboard_words(line).empty()) lines.push_back(line);
  return lines;
}

CellTexts texts_of(const json& config, const Tokenizer& tokenizer, Sources& sources) {
  const json& texts = config.at("texts");
  return {texts.value("length", 0) > 0 ? client_sequences(config, tokenizer, sources)
                                       : encoded(client_messages(config, sources), tokenizer, texts),
          encoded(held_out_messages(config, sources), tokenizer, texts)};
}

bool trains_first(const json& config) {
  return config.contains("training") && config.at("training").at("on") == "private";
}

std::int64_t validation_size(const json& training) {
  constexpr std::int64_t kMost = 200;
  if (training.at("on") != "private" || training.at("patience") == 0) return 0;
  return std::clamp<std::int64_t>(training.at("texts").get<std::int64_t>() / 10, 1, kMost);
}

TrainingTexts training_texts_of(const json& config, const Tokenizer& tokenizer, Sources& sources) {
  if (!trains_first(config)) return {};
  const json &texts = config.at("texts"), &training = config.at("training");
  const std::vector<std::string> messages = private_messages(config, sources);
  TrainingTexts result;
  result.trained = encoded(slice(messages, 0, training.at("texts")), tokenizer, texts);
  const std::int64_t count = validation_size(training);
  if (count == 0) return result;
  // The last but those of the utility.
  const std::int64_t from =
      std::ssize(messages) - config.at("metrics").at("utility").get<std::int64_t>() - count;
  result.validation =
      encoded(config.at("places").at("texts") == kBuiltIn
                  ? generated(private_seed(config).derive("validation"), count, texts)
                  : slice(messages, std::max<std::int64_t>(from, training.at("texts")), count),
              tokenizer, texts);
  return result;
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
          : lines_of(place, config.at("server").at("hash"), {{"words", 0}}, sources);
  std::vector<Sentence> texts;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < lines.size() && tokens < kTokens; ++i) {
    texts.push_back(tokenizer.encode(lines[i]));
    tokens += std::ssize(texts.back());
  }
  return texts;
}

}  // namespace undertext
