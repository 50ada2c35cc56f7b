#include "cli/defence_flags.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "defences/clipping.h"
#include "defences/dpsgd.h"
#include "defences/noise.h"
#include "defences/pruning.h"

namespace undertext {
namespace {

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace

void DefenceFlags::add_flags(CLI::App& app) {
  app.add_option("--clip", clip_, "scale each user's gradient down to a Euclidean norm of C at most")
      ->option_text("C");
  add_step_flags(app);
  add_noise_kind(app);
  app.add_option("--noise-per-step", noise_per_step_,
                 "noise on each step's gradient: its deviation, of laplace its scale b")
      ->option_text("SIGMA");
  app.add_option("--noise-final", noise_final_, "noise on what each user sends")->option_text("SIGMA");
}

void DefenceFlags::add_noise_kind(CLI::App& app) {
  app.add_option("--noise", noise_, "gaussian or laplace (gaussian)")
      ->check(CLI::IsMember({"gaussian", "laplace"}))
      ->option_text("NAME");
}

void DefenceFlags::add_step_flags(CLI::App& app) {
  app.add_option("--prune", prune_, "set the share P of each step's gradient that is smallest to zero")
      ->option_text("P");
  app.add_option("--prune-scope", prune_scope_, "the share of each tensor, or of all together (each)")
      ->check(CLI::IsMember({"each", "all"}))
      ->option_text("NAME");
  CLI::Option* clip =
      app.add_option("--dp-clip", dp_clip_, "DPSGD: scale each text's gradient down to a norm of C at most")
          ->option_text("C");
  app.add_option("--dp-noise", dp_noise_, "DPSGD: noise on their sum, in units of C (0)")
      ->needs(clip)
      ->option_text("SIGMA");
}

std::vector<std::shared_ptr<const ClientDefence>> DefenceFlags::defences(Seed seed) const {
  const NoiseKind kind = noise_ == "laplace" ? NoiseKind::laplace : NoiseKind::gaussian;
  std::vector<std::shared_ptr<const ClientDefence>> defences;
  if (dp_clip_) defences.push_back(std::make_shared<DpSgd>(*dp_clip_, dp_noise_, seed));
  if (clip_) defences.push_back(std::make_shared<Clipping>(*clip_));
  if (prune_)
    defences.push_back(
        std::make_shared<Pruning>(*prune_, prune_scope_ == "all" ? PruningScope::all : PruningScope::each));
  // Made even where the scale is 0, so that a value that is no number is refused; added only where it acts.
  const auto per_step = std::make_shared<NoisePerStep>(noise_per_step_, seed, kind);
  const auto on_result = std::make_shared<NoiseOnResult>(noise_final_, seed, kind);
  if (noise_per_step_ > 0) defences.push_back(per_step);
  if (noise_final_ > 0) defences.push_back(on_result);
  return defences;
}

nlohmann::json DefenceFlags::json() const {
  return {{"clip", or_null(clip_)},
          {"noise", noise_},
          {"noise_per_step", noise_per_step_},
          {"noise_final", noise_final_},
          {"prune", or_null(prune_)},
          {"prune_scope", prune_ ? nlohmann::json(prune_scope_) : nlohmann::json()},
          {"dp_clip", or_null(dp_clip_)},
          {"dp_noise", dp_clip_ ? nlohmann::json(dp_noise_) : nlohmann::json()}};
}

}  // namespace undertext
