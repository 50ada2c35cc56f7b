#include "federated/planting.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "models/config_fields.h"

namespace undertext {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "undertext-planted-1";
constexpr std::int64_t kMost = 1'000'000'000;

std::string random_words(std::int64_t length, Random random) {
  constexpr std::uint64_t kLetters = 26, kSpaces = 5;  // words of about five letters
  std::string text;
  while (std::ssize(text) < length) {
    const std::uint64_t drawn = random.below(kLetters + kSpaces);
    const bool end = text.empty() || std::ssize(text) == length - 1;
    if (drawn < kLetters)
      text += static_cast<char>('a' + drawn);
    else if (!end && text.back() != ' ')
      text += ' ';
  }
  return text;
}

Seed of_client(Seed seed, std::int64_t client) {
  return seed.derive(static_cast<std::uint64_t>(client));
}

}  // namespace

PlantedTexts draw_records(const RecordPattern& pattern, std::int64_t clients, std::int64_t times, Seed seed) {
  PlantedTexts drawn{pattern.written(), {}};
  for (std::int64_t client = 0; client < clients; ++client) {
    Random random(of_client(seed, client));
    drawn.texts.push_back({client, pattern.sample(random), times});
  }
  return drawn;
}

PlantedTexts draw_watermarks(std::int64_t length, std::int64_t clients, std::int64_t times, Seed seed) {
  UNDERTEXT_CHECK(length > 0);
  PlantedTexts drawn;
  for (std::int64_t client = 0; client < clients; ++client)
    drawn.texts.push_back({client, random_words(length, Random(of_client(seed, client))), times});
  return drawn;
}

std::vector<std::string> with_planted(std::vector<std::string> lines, const PlantedText& planted, Seed seed) {
  Random random(of_client(seed, planted.client));
  std::vector<std::size_t> places;  // before which line, or behind the last
  for (std::int64_t i = 0; i < planted.times; ++i)
    places.push_back(static_cast<std::size_t>(random.below(lines.size() + 1)));
  std::ranges::sort(places);
  std::vector<std::string> result;
  result.reserve(lines.size() + places.size());
  std::size_t next = 0;
  for (std::size_t line = 0; line <= lines.size(); ++line) {
    for (; next < places.size() && places[next] == line; ++next) result.push_back(planted.text);
    if (line < lines.size()) result.push_back(std::move(lines[line]));
  }
  return result;
}

void write_planted(const PlantedTexts& planted, const std::filesystem::path& file) {
  json texts = json::array();
  for (const PlantedText& one : planted.texts)
    texts.push_back({{"client", one.client}, {"text", one.text}, {"times", one.times}});
  const json content = {{"format", kFormat}, {"pattern", planted.pattern}, {"texts", texts}};
  write_file(file, content.dump(1) + "\n");
}

PlantedTexts read_planted(const std::filesystem::path& file) {
  const ConfigFields fields(file);
  if (fields.text("format", "") != kFormat) fields.refuse("format", kFormat);
  PlantedTexts planted;
  planted.pattern = fields.text("pattern", "");
  const json texts = fields.value("texts", json());
  if (!texts.is_array()) fields.refuse("texts", "a list of planted texts");
  for (const json& text : texts) {
    const ConfigFields own(text, fmt::format("{}: text {}", file.string(), planted.texts.size()));
    planted.texts.push_back(
        {own.whole("client", 0, kMost), own.text("text", ""), own.whole("times", 0, kMost)});
    if (planted.texts.back().text.empty()) own.refuse("text", "a text");
  }
  return planted;
}

}  // namespace undertext
