#include "cli/defence_flags.h"

#include <nlohmann/json.hpp>

namespace undertext {

void DefenceFlags::add_flags(CLI::App& app) {
  app.add_option("--defence", texts_,
                 "a defence, as dpsgd:clip=1,sigma=0.5; may be given several times; undertext defences lists "
                 "them")
      ->option_text("NAME:KEY=VALUE,...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

nlohmann::json DefenceFlags::json() const {
  nlohmann::json all = nlohmann::json::array();
  const DefencePlan all_of_them = plan();
  for (const DefenceSpec& spec : all_of_them.specs()) all.push_back(text_of(spec));
  return all;
}

}  // namespace undertext
