// What a malicious server keeps to itself when it sends out a corrupted state. Everything else that its
// attack needs (probes, edges, embeddings) lies in the state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace undertext {

// paper: decepticons, section 3. best: ours, made for the exact recovery.
enum class DecepticonDesign { paper, best };

const char* name_of(DecepticonDesign design);

struct DecepticonKey {
  DecepticonDesign design = DecepticonDesign::best;
  std::int64_t code = 0;       // v: the first entries of the width, which hold the sentence code
  std::int64_t positions = 0;  // best: the entries after these, which hold positions; tokens have the rest
  std::int64_t window = 0;     // best, causal: the first places of a sequence, which its code is the mean of
  double scale = 1;            // of the measurement
  double disguise = 0;         // deviation of the noise on the rows, in units of the probe's entries
  std::uint64_t seed = 1;
  std::string state_hash;  // hash_of the corrupted parameters
};

void save_key(const DecepticonKey& key, const std::filesystem::path& file);
DecepticonKey load_key(const std::filesystem::path& file);  // UserError
DecepticonKey parse_key(std::string_view content, const std::string& source);

// Where a state's key is kept: beside its folder, which goes out to clients.
std::filesystem::path key_file_of(const std::filesystem::path& folder);

}  // namespace undertext
