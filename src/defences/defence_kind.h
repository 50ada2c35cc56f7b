// The defences by name: what each is called, does, takes and where it acts. The one list that flags,
// experiment files, audits and reports share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

enum class DefenceSide {
  client,  // on the device: in training, or on what is sent
  server,  // where a round's updates are put together
  model    // another model, or other texts for it
};

const char* name_of(DefenceSide side);

struct DefenceKind {
  std::string name;   // "noise-per-step"
  std::string title;  // "noise per step", for reports
  DefenceSide side = DefenceSide::client;
  std::string about;     // what it does and who proposed it; one line
  std::string strength;  // the parameter that says how strong it is; empty: it is on or off
};

// A setting of some defences; one that means the same has the same name everywhere.
struct DefenceParameter {
  std::string name;
  nlohmann::json standard;           // a number, or a text
  bool whole = false;                // of numbers
  double low = 0, high = 0;          // of numbers
  std::vector<std::string> choices;  // of texts
  std::string about;
  std::vector<std::string> kinds;  // whose it is
};

// "none" is not among them.
const std::vector<DefenceKind>& defence_kinds();
const std::vector<DefenceParameter>& defence_parameters();

// UserError that names the nearest for a name that is none.
const DefenceKind& defence_kind(std::string_view name);
std::vector<const DefenceParameter*> parameters_of(std::string_view kind);

}  // namespace undertext
