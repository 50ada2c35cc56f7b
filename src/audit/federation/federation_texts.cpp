#include "audit/federation/federation_texts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "audit/experiment/cell_texts.h"
#include "audit/experiment/places.h"
#include "base/error.h"
#include "text/character_tokenizer.h"
#include "text/messages.h"
#include "text/utf8.h"

namespace undertext {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t kWatermarkLength = 40;  // characters, where no record says how long
constexpr std::int64_t kShortestMessage = 8;   // characters of a built-in message, about

std::vector<std::string> built_in_lines(const json& cell, const fs::path& file, Seed seed) {
  const std::int64_t size = cell.at("texts").at("per_client"), clients = cell.at("federation").at("clients");
  if (size == 0) fail("{}: texts.per_client is missing, which the built-in messages need", file.string());
  const bool by_line = cell.at("texts").at("sequence") == 0;
  const std::int64_t count = by_line ? size * (clients + 2) : messages_for(clients, size);
  if (count > 10'000'000) fail("{}: {} built-in messages, expected 10000000 at most", file.string(), count);
  return generate_messages(seed.derive("messages"), count);
}

TextSource source_of(const json& cell, const fs::path& file, Sources& sources, Seed seed) {
  const json& texts = cell.at("texts");
  if (const std::string text = texts.at("text"); !text.empty())
    return {chosen_messages(lines_of_text(text), texts), file.string() + ": texts.text"};
  const std::vector<std::string> places = text_places(texts, 0, file);
  if (places.size() > 1)
    fail("{}: texts.files names {} files, expected one that is shared out", file.string(), places.size());
  if (places.front() == kRandom)
    fail("{}: texts.files is \"random\", expected lines of text in a federation", file.string());
  if (places.front() == kBuiltIn)
    return {chosen_messages(built_in_lines(cell, file, seed), texts), "the built-in messages"};
  return {chosen_messages(sources.texts(places.front())->lines, texts), places.front()};
}

std::optional<TextSource> held_out_of(const json& texts, const fs::path& file, Sources& sources) {
  const std::string given = texts.at("held_out");
  if (given.empty()) return std::nullopt;
  const fs::path place = resolved_place(given, file);
  if (std::error_code ignored; !fs::exists(place, ignored))
    fail("{}: texts.held_out: there is no file {}", file.string(), place.string());
  return TextSource{chosen_messages(sources.texts(place)->lines, texts), place.string()};
}

void plant(const PlantedTexts& planted, Seed seed, FederationTexts& texts) {
  for (const PlantedText& one : planted.texts) {
    auto& lines = texts.clients.at(static_cast<std::size_t>(one.client));
    lines = with_planted(std::move(lines), one, seed);
  }
}

PlantedTexts watermarks_of(const Planting& planting, const PlantedTexts& planted, std::int64_t clients,
                           Seed seed) {
  if (!planting.watermark.empty())
    return draw_records(RecordPattern::parse(planting.watermark), clients, planting.watermarks, seed);
  const std::int64_t length =
      planted.texts.empty() ? kWatermarkLength : std::ssize(planted.texts.front().text);
  return draw_watermarks(length, clients, planting.watermarks, seed);
}

void add_characters(const PlantedTexts& planted, std::string& characters) {
  if (planted.texts.empty()) return;
  if (planted.pattern.empty()) {
    characters += "abcdefghijklmnopqrstuvwxyz ";
    return;
  }
  const RecordPattern pattern = RecordPattern::parse(planted.pattern);
  for (const RecordPattern::State& state : pattern.states())
    for (const RecordPattern::Edge& edge : state.edges) append_utf8(characters, edge.character);
}

}  // namespace

std::int64_t messages_for(std::int64_t clients, std::int64_t characters) {
  return (clients + 2) * characters / kShortestMessage + 64;
}

FederationTexts shared_texts(const TextSource& source, const ShareOptions& options,
                             const std::optional<TextSource>& held_out, const Planting& planting, Seed seed) {
  TextShares shares = share_text(source, options, held_out);
  FederationTexts texts{
      std::move(shares.clients), std::move(shares.validation), std::move(shares.test), {}, {}};
  if (!planting.pattern.empty())
    texts.records = draw_records(RecordPattern::parse(planting.pattern), options.clients, planting.times,
                                 seed.derive("records"));
  if (planting.watermarks > 0)
    texts.watermarks = watermarks_of(planting, texts.records, options.clients, seed.derive("watermarks"));
  plant(texts.records, seed.derive("places of records"), texts);
  plant(texts.watermarks, seed.derive("places of watermarks"), texts);
  return texts;
}

FederationTexts federation_texts(const json& cell, const fs::path& file, Sources& sources, Seed seed) {
  const json &given = cell.at("texts"), &records = cell.at("records");
  ShareOptions options;
  options.clients = cell.at("federation").at("clients");
  options.size = given.at("per_client");
  options.by_line = given.at("sequence") == 0;
  options.lower = given.at("lower");
  const Planting planting{records.at("pattern"), records.at("times"), records.at("watermark"),
                          records.at("watermarks")};
  return shared_texts(source_of(cell, file, sources, seed), options, held_out_of(given, file, sources),
                      planting, seed);
}

std::shared_ptr<const Tokenizer> alphabet_of(const FederationTexts& texts) {
  std::vector<std::string> known = {joined(texts.validation), "\n"};
  add_characters(texts.records, known.back());
  add_characters(texts.watermarks, known.back());
  return std::make_shared<const CharacterTokenizer>(build_characters(known));
}

void check_planted(const FederationTexts& texts, const Tokenizer& tokenizer, const fs::path& file) {
  const std::optional<Token> unknown = tokenizer.special().unknown;
  for (const PlantedTexts* planted : {&texts.records, &texts.watermarks})
    for (const PlantedText& one : planted->texts) {
      const Sentence tokens = tokenizer.encode(one.text);
      if (tokens.empty() || (unknown && std::ranges::find(tokens, *unknown) != tokens.end()))
        fail("{}: {}: the model has no token for a part of such a text, expected one it can learn",
             file.string(), planted == &texts.records ? "records.pattern" : "records.watermarks");
    }
}

ClientTexts encoded(const std::vector<std::string>& lines, const TextCut& cut, const Tokenizer& tokenizer) {
  const std::optional<Token> end = tokenizer.special().end;
  if (cut.append_end && !end) fail("texts.append_end: the tokenizer has no token that ends a text");
  ClientTexts texts;
  texts.sequence = cut.sequence;
  if (cut.sequence > 0 && !cut.append_end) {
    texts.texts = {tokenizer.encode(joined(lines))};
    return texts;
  }
  for (const std::string& line : lines) {
    Sentence sentence = tokenizer.encode(line);
    if (cut.append_end) sentence.push_back(*end);
    if (!sentence.empty()) texts.texts.push_back(std::move(sentence));
  }
  return texts;
}

}  // namespace undertext
