#include "audit/experiment/federation_fields.h"

namespace undertext {
namespace {

// All but the first mean something only where there are rounds.
const std::vector<Condition> kHere = {{"rounds", {kPositive}}};
const std::vector<Condition> kElsewhere = {{"federation.rounds", {kPositive}}};

}  // namespace

std::vector<Field> federation_round_fields() {
  return {
      {"rounds", FieldType::whole, 0,
       "rounds of a whole federation, of which every global model is seen; 0: one client's update is", 0,
       1e6},
      {"per_round", FieldType::whole, 0, "clients that are asked in each round; 0: all", 0, 1e6, {}, kHere},
      {"schedule",
       FieldType::text,
       "uniform",
       "who they are: uniform, by-size, poisson (each on its own, so many on average), in-turn, or a JSON "
       "file, "
       "from this file on, with a list of clients for each round",
       0,
       0,
       {},
       kHere},
      {"drop_out", FieldType::number, 0, "chance that one of them does not answer", 0, 1, {}, kHere},
      {"optimiser",
       FieldType::text,
       "adam",
       "of the clients; adam begins anew in each round",
       0,
       0,
       {"adam", "sgd"},
       kHere},
      {"clip_value",
       FieldType::number,
       1,
       "each number of a step's gradient cut to this size; 0: as it is",
       0,
       1e17,
       {},
       kHere},
      {"clip_norm",
       FieldType::number,
       0,
       "a step's gradient scaled down to this norm; 0: as it is",
       0,
       1e17,
       {},
       kHere},
      {"carry_state",
       FieldType::truth,
       false,
       "steps of an epoch read on where the one before ended, in place of texts in any order",
       0,
       0,
       {},
       kHere},
      {"plateau",
       FieldType::whole,
       5,
       "rounds without a lower validation loss after which the learning rate falls to a tenth; 0: never",
       0,
       1e6,
       {},
       kHere},
      {"patience",
       FieldType::whole,
       0,
       "rounds without a lower validation loss after which the federation ends; 0: never",
       0,
       1e6,
       {},
       kHere},
  };
}

std::vector<Field> text_share_fields() {
  return {
      {"per_client",
       FieldType::whole,
       0,
       "of a federation's client: characters, with sequence = 0 lines; 0: equal shares of all",
       0,
       1e12,
       {},
       kElsewhere},
      {"sequence",
       FieldType::whole,
       100,
       "tokens that are predicted in each piece of a client's text, cut anew in each epoch; 0: lines as they "
       "are",
       0,
       100'000,
       {},
       kElsewhere},
      {"lower", FieldType::truth, false, "letters in lower case", 0, 0, {}, kElsewhere},
  };
}

std::vector<Field> record_fields() {
  return {
      {"pattern",
       FieldType::text,
       "",
       "what a planted record looks like, as \"my number is {ddd}-{dd}\"; each client gets one of its own; "
       "empty: none",
       0,
       0,
       {},
       kElsewhere},
      {"times", FieldType::whole, 4, "how often it stands among the client's lines", 1, 1e6, {}, kElsewhere},
      {"watermarks",
       FieldType::whole,
       0,
       "how often a watermark of the adversary stands among them; 0: none",
       0,
       1e6,
       {},
       kElsewhere},
      {"watermark",
       FieldType::text,
       "",
       "what it looks like, a pattern too; empty: random letters, as many as the record has",
       0,
       0,
       {},
       kElsewhere},
  };
}

std::vector<Field> record_attack_fields() {
  const std::vector<Condition> of_records = {{"kind", {"records"}}};
  return {
      {"ranked_by",
       FieldType::text,
       "best",
       "how records are told: by the last model alone (baseline), with who took part (eavesdrop), with a "
       "text "
       "of the adversary's among the victim's (watermark), or all together (best)",
       0,
       0,
       {"best", "baseline", "eavesdrop", "watermark"},
       of_records},
      {"until",
       FieldType::whole,
       0,
       "the round after which it is attacked; 0: the last",
       0,
       1e6,
       {},
       of_records},
      {"candidates",
       FieldType::whole,
       1000,
       "likeliest texts of a model that are looked at",
       1,
       1e6,
       {},
       of_records},
      {"formula",
       FieldType::text,
       "paper",
       "of eavesdrop and watermark: as published, or wide, of free characters and the last few models",
       0,
       0,
       {"paper", "wide"},
       {{"kind", {"records"}}, {"ranked_by", {"eavesdrop", "watermark"}}}},
      {"unknown",
       FieldType::number,
       0,
       "share of who took part when that the adversary does not know",
       0,
       1,
       {},
       of_records},
      {"permuted",
       FieldType::truth,
       false,
       "a control: who took part is dealt out to the rounds anew",
       0,
       0,
       {},
       of_records},
  };
}

}  // namespace undertext
