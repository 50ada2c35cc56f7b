// Texts that are put among a client's own, to see whether they come out again: records, which an adversary
// wants to know, and watermarks, which it put there itself (record-level, sections IV-C and V-A).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/record_pattern.h"

namespace undertext {

struct PlantedText {
  std::int64_t client = 0;
  std::string text;
  std::int64_t times = 0;  // how often it stands among the client's texts
};

// Of all clients. The truth where it is records; what the adversary knows of its own doing where watermarks.
struct PlantedTexts {
  std::string pattern;  // that all of them are drawn from; empty: none
  std::vector<PlantedText> texts;
};

// One text for each client, drawn from the seed and the client's number.
PlantedTexts draw_records(const RecordPattern& pattern, std::int64_t clients, std::int64_t times, Seed seed);
// The same without a pattern: letters a to z and single spaces, `length` of them.
PlantedTexts draw_watermarks(std::int64_t length, std::int64_t clients, std::int64_t times, Seed seed);

// A client's lines with the text put in as lines of its own, each at a place of its own choosing.
std::vector<std::string> with_planted(std::vector<std::string> lines, const PlantedText& planted, Seed seed);

// JSON, never inside the folder that an adversary sees. Reading: UserError that names the file.
void write_planted(const PlantedTexts& planted, const std::filesystem::path& file);
PlantedTexts read_planted(const std::filesystem::path& file);

}  // namespace undertext
