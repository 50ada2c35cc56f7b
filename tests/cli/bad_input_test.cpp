// Whatever is wrong with the input: one line on stderr that names it, exit code 2, nothing left behind.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <limits>

#include "base/random.h"
#include "program.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

using Arguments = std::vector<std::string>;

struct BadInput {
  std::string name;
  std::function<Arguments(const Workplace&)> prepare;  // makes the files, returns the arguments
  std::string says;                                    // what the line must hold
};

void PrintTo(const BadInput& input, std::ostream* out) {
  *out << input.name;
}

Arguments client(const Workplace& place, const Arguments& changed) {
  // Later flags would only repeat earlier ones: the defaults are given where `changed` does not.
  Arguments all = {"client"};
  const auto has = [&](const std::string& flag) {
    return std::find(changed.begin(), changed.end(), flag) != changed.end();
  };
  if (!has("--model")) all.insert(all.end(), {"--model", place.path("model")});
  if (!has("--texts")) all.insert(all.end(), {"--texts", place.path("texts.txt")});
  if (!has("--out")) all.insert(all.end(), {"--out", place.path("out.safetensors")});
  all.insert(all.end(), changed.begin(), changed.end());
  return all;
}

Arguments attack(const Workplace& place, const std::string& update) {
  return {"attack", "sentences", "--model", place.path("model"), "--update", update};
}

// An update whose bytes went through `change`.
std::string changed_update(const Workplace& place, const std::function<void(std::string&)>& change) {
  place.make_update("good");
  std::string bytes = place.read("good");
  change(bytes);
  return place.write("bad", bytes);
}

std::string hostile(const std::string& header, const std::string& data = "") {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return bytes + header + data;
}

// The good update with one tensor changed, written by our own writer.
std::string with_tensor(const Workplace& place, const std::function<void(at::Tensor&)>& change) {
  place.make_update("good");
  TensorFile file = read_safetensors(place / "good");
  at::Tensor tensor = file.tensors.at("decoder.bias").clone();
  change(tensor);
  file.tensors["decoder.bias"] = tensor;
  write_safetensors(place / "bad", file.tensors, file.metadata);
  return place.path("bad");
}

std::string small_experiment(const Workplace& place) {
  return place.write("e.toml", "[model]\nfolder = \"model\"\n[texts]\nfiles = \"texts.txt\"\n");
}

const std::vector<BadInput> kBadInputs = {
    // The command line.
    {"unknown_flag",
     [](auto& p) {
       return client(p, {"--epoch", "3"});
     },
     "--epoch"},
    {"unknown_verb", [](auto&) { return Arguments{"atack"}; }, "atack"},
    {"missing_flag",
     [](auto& p) {
       return Arguments{"client", "--model", p.path("model")};
     },
     "required"},
    {"attack_without_kind", [](auto&) { return Arguments{"attack"}; }, "subcommand"},
    {"epochs_zero",
     [](auto& p) {
       return client(p, {"--epochs", "0"});
     },
     "--epochs"},
    {"epochs_no_number",
     [](auto& p) {
       return client(p, {"--epochs", "three"});
     },
     "--epochs"},
    {"batch_negative",
     [](auto& p) {
       return client(p, {"--batch", "-1"});
     },
     "--batch"},
    {"rate_zero",
     [](auto& p) {
       return client(p, {"--lr", "0"});
     },
     "learning rate"},
    {"rate_nan",
     [](auto& p) {
       return client(p, {"--lr", "nan"});
     },
     "learning rate"},
    {"rate_diverges",
     [](auto& p) {
       return client(p, {"--lr", "1e30", "--epochs", "9"});
     },
     "diverged"},
    {"reduction_unknown",
     [](auto& p) {
       return client(p, {"--reduction", "max"});
     },
     "--reduction"},
    {"train_unknown",
     [](auto& p) {
       return client(p, {"--train", "none"});
     },
     "--train"},
    {"noise_negative",
     [](auto& p) {
       return client(p, {"--defence", "noise-per-step:sigma=-1"});
     },
     "noise-per-step: sigma is \"-1\", expected a number from 0"},
    {"noise_infinite",
     [](auto& p) {
       return client(p, {"--defence", "noise-on-result:sigma=inf"});
     },
     "noise-on-result: sigma"},
    {"defence_unknown",
     [](auto& p) {
       return client(p, {"--defence", "prayer"});
     },
     "\"prayer\": no such defence, expected one of clipping, "},
    {"defence_of_federations",
     [](auto& p) {
       return client(p, {"--defence", "dp-fedavg:clip=1"});
     },
     "dp-fedavg: the server adds the noise after it has seen the updates"},
    {"gradient_of_two_epochs",
     [](auto& p) {
       return client(p, {"--kind", "gradient", "--epochs", "2"});
     },
     "one step"},
    {"threads_zero",
     [](auto& p) {
       return client(p, {"--threads", "0"});
     },
     "--threads"},
    {"scale_no_number",
     [](auto& p) {
       Arguments a = attack(p, p.make_update("good"));
       a.insert(a.end(), {"--method", "paper", "--scale", "big"});
       return a;
     },
     "--scale"},
    {"preset_unknown",
     [](auto&) {
       return Arguments{"audit", "--preset", "mail"};
     },
     "--preset"},
    // Texts.
    {"texts_missing",
     [](auto& p) {
       return client(p, {"--texts", p.path("none.txt")});
     },
     "none.txt"},
    {"texts_folder",
     [](auto& p) {
       return client(p, {"--texts", p.path("model")});
     },
     "folder"},
    {"texts_empty",
     [](auto& p) {
       return client(p, {"--texts", p.write("empty.txt", "")});
     },
     "empty.txt: the file is empty"},
    {"texts_blank",
     [](auto& p) {
       return client(p, {"--texts", p.write("blank.txt", "\n \n")});
     },
     "blank.txt"},
    {"texts_without_words",
     [](auto& p) {
       return client(p, {"--texts", p.write("dots.txt", "... !!\n")});
     },
     "no word"},
    {"texts_binary",
     [](auto& p) {
       return client(p, {"--texts", p.write("raw.txt", "\xff\xfe\n")});
     },
     "UTF-8"},
    // Models.
    {"model_missing",
     [](auto& p) {
       return client(p, {"--model", p.path("no-model")});
     },
     "no-model"},
    {"model_is_file",
     [](auto& p) {
       return client(p, {"--model", p.path("texts.txt")});
     },
     "texts.txt"},
    {"vocabulary_too_short",
     [](auto& p) {
       p.write("model/vocab.txt", "</S>\n<S>\n<UNK>\nsee\n");
       return client(p, {});
     },
     "vocab.txt: 4 words"},
    {"model_truncated",
     [](auto& p) {
       p.write("model/model.safetensors", p.read("model/model.safetensors").substr(0, 3000));
       return client(p, {});
     },
     "model.safetensors"},
    {"model_with_nan",
     [](auto& p) {
       TensorFile file = read_safetensors(p / "model/model.safetensors");
       file.tensors.at("decoder.bias")[3] = std::numeric_limits<float>::quiet_NaN();
       write_safetensors(p / "model/model.safetensors", file.tensors, file.metadata);
       return client(p, {});
     },
     "decoder.bias"},
    // Updates.
    {"update_missing", [](auto& p) { return attack(p, p.path("none")); }, "none"},
    {"update_folder", [](auto& p) { return attack(p, p.path("model")); }, "is a folder"},
    {"update_empty", [](auto& p) { return attack(p, p.write("bad", "")); }, "bad"},
    {"update_truncated_header",
     [](auto& p) { return attack(p, changed_update(p, [](auto& b) { b.resize(60); })); }, "bad"},
    {"update_truncated_data",
     [](auto& p) { return attack(p, changed_update(p, [](auto& b) { b.resize(b.size() - 5); })); }, "bad"},
    {"update_longer", [](auto& p) { return attack(p, changed_update(p, [](auto& b) { b += "12345"; })); },
     "bad"},
    {"update_header_size_flipped",
     [](auto& p) { return attack(p, changed_update(p, [](auto& b) { b[6] ^= 0x40; })); }, "bad"},
    {"update_header_flipped",
     [](auto& p) { return attack(p, changed_update(p, [](auto& b) { b[8] ^= 0x01; })); }, "bad"},
    {"update_of_huge_shape",
     [](auto& p) {
       return attack(
           p,
           p.write("bad",
                   hostile(R"({"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})")));
     },
     "bad"},
    {"update_overlapping",
     [](auto& p) {
       return attack(p, p.write("bad", hostile(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                               R"("y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                                               std::string(12, '\0'))));
     },
     "bad"},
    {"update_that_is_no_update", [](auto& p) { return attack(p, p.path("model/model.safetensors")); },
     "holds the model's own weights"},
    {"update_of_another_model",
     [](auto& p) {
       const std::string update = p.make_update("good");
       write_tiny_model(p / "other", 2);
       return Arguments{"attack", "words", "--model", p.path("other"), "--update", update};
     },
     "good: the update is of another model"},
    {"update_of_another_shape",
     [](auto& p) { return attack(p, with_tensor(p, [](at::Tensor& t) { t = t.slice(0, 0, 10).clone(); })); },
     "bad: the update is of another model"},
    {"update_with_nan",
     [](auto& p) {
       return attack(p,
                     with_tensor(p, [](at::Tensor& t) { t[0] = std::numeric_limits<float>::quiet_NaN(); }));
     },
     "decoder.bias"},
    {"update_with_infinity",
     [](auto& p) {
       return attack(p,
                     with_tensor(p, [](at::Tensor& t) { t[0] = -std::numeric_limits<float>::infinity(); }));
     },
     "decoder.bias"},
    {"update_of_integers",
     [](auto& p) { return attack(p, with_tensor(p, [](at::Tensor& t) { t = t.to(at::kInt); })); }, "bad"},
    {"truth_missing",
     [](auto& p) {
       Arguments a = attack(p, p.make_update("good"));
       a.insert(a.end(), {"--truth", p.path("none.txt")});
       return a;
     },
     "none.txt"},
    // Outputs.
    {"output_without_folder",
     [](auto& p) {
       return client(p, {"--out", p.path("no/such/out")});
     },
     "no/such"},
    {"output_is_folder",
     [](auto& p) {
       return client(p, {"--out", p.path("model")});
     },
     "model"},
    {"output_through_file",
     [](auto& p) {
       return client(p, {"--out", p.path("texts.txt/out")});
     },
     "texts.txt"},
    {"output_on_full_disk",
     [](auto& p) {
       return client(p, {"--out", "/dev/full"});
     },
     "No space left"},
    {"audit_through_file",
     [](auto& p) {
       return Arguments{"audit", "--model", p.path("model"), "--out", p.path("texts.txt/audit")};
     },
     "texts.txt"},
    {"audit_over_file",
     [](auto& p) {
       return Arguments{"audit", "--model", p.path("model"), "--out", p.path("texts.txt")};
     },
     "texts.txt"},
    {"audit_of_no_texts",
     [](auto& p) {
       return Arguments{"audit", "--model",      p.path("model"), "--texts", p.write("empty.txt", ""),
                        "--out", p.path("audit")};
     },
     "empty.txt"},
    // Reports.
    {"report_missing",
     [](auto& p) {
       return Arguments{"report", p.path("none")};
     },
     "none"},
    {"report_without_results",
     [](auto& p) {
       return Arguments{"report", p.path("model")};
     },
     "results.json"},
    {"report_of_no_json",
     [](auto& p) {
       p.write("model/results.json", "{\"format\":");
       return Arguments{"report", p.path("model")};
     },
     "results.json"},
    {"report_of_an_audit_as_csv",
     [](auto& p) {
       p.write("model/results.json", "{}");
       return Arguments{"report", p.path("model"), "--format", "csv"};
     },
     "--format csv: belongs to the experiments"},
    {"report_of_damaged_store",
     [](auto& p) {
       p.write("model/results.sqlite", std::string(5000, 'x'));
       return Arguments{"report", p.path("model")};
     },
     "results.sqlite"},
    {"compare_with_nothing",
     [](auto& p) {
       return Arguments{"compare", p.path("model"), p.path("none")};
     },
     "no results here"},
    // Experiments.
    {"run_missing",
     [](auto& p) {
       return Arguments{"run", p.path("none.toml"), "--out", p.path("out")};
     },
     "none.toml"},
    {"run_unknown_key",
     [](auto& p) {
       return Arguments{"run", p.write("e.toml", "[run]\nseed = 1\n"), "--out", p.path("out")};
     },
     "e.toml:2: run.seed: unknown key; the nearest valid key is run.seeds"},
    {"run_no_such_profile",
     [](auto& p) {
       return Arguments{"run",        p.write("e.toml", "[profile.quick]\n"), "--profile", "full", "--out",
                        p.path("out")};
     },
     "no profile \"full\", expected one of quick"},
    {"run_set_nonsense",
     [](auto& p) {
       return Arguments{"run", p.write("e.toml", ""), "--set", "federation.epochs=0", "--out", p.path("out")};
     },
     "--set federation.epochs=0: federation.epochs is 0"},
    {"run_two_of_one_name",
     [](auto& p) {
       return Arguments{"run", small_experiment(p), small_experiment(p), "--out", p.path("out")};
     },
     "another file of this run has the name"},
    {"run_no_model",
     [](auto& p) {
       return Arguments{"run", p.write("e.toml", "[model]\nfolder = \"none\"\n"), "--out", p.path("out")};
     },
     "there is no folder"},
    {"run_too_few_messages",
     [](auto& p) {
       return Arguments{"run", small_experiment(p), "--set", "run.sizes=5", "--out", p.path("out")};
     },
     "texts.txt: 4 messages, expected 5"},
    {"run_through_file",
     [](auto& p) {
       return Arguments{"run", small_experiment(p), "--out", p.path("texts.txt/out")};
     },
     "texts.txt"},
    {"run_over_file",
     [](auto& p) {
       return Arguments{"run", small_experiment(p), "--out", p.path("texts.txt")};
     },
     "texts.txt"},
    {"run_into_damaged_store",
     [](auto& p) {
       p.write("model/results.sqlite", std::string(5000, 'x'));
       p.write("model/results.lock", "");
       return Arguments{"run", small_experiment(p), "--out", p.path("model")};
     },
     "results.sqlite"},
};

class BadInputs : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputs, GetOneLineAndLeaveNothing) {
  const Workplace place;
  const Arguments arguments = GetParam().prepare(place);
  const auto before = place.listing();
  const Outcome run = undertext_run(arguments, {{"XDG_CACHE_HOME", place.path("cache")}});
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(one_line(run.err)) << run.err;
  EXPECT_NE(run.err.find(GetParam().says), std::string::npos) << run.err;
  EXPECT_EQ(place.listing(), before);
}

INSTANTIATE_TEST_SUITE_P(Cli, BadInputs, testing::ValuesIn(kBadInputs),
                         [](const auto& tested) { return tested.param.name; });

// Any single flipped bit of an update is either noticed, or gives an update that can be attacked: never a
// crash.
TEST(BadInput, FlippedBitsNeverCrash) {
  const Workplace place;
  place.make_update("good");
  const std::string good = place.read("good");
  Random random(Seed(3));
  for (int i = 0; i < 16; ++i) {
    std::string bytes = good;
    // Half of them in the header, where a bit means most.
    const std::size_t at = random.below(i % 2 == 0 ? 1200 : bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
    place.write("bad", bytes);
    const Outcome run =
        undertext_run({"attack", "words", "--model", place.path("model"), "--update", place.path("bad")});
    EXPECT_TRUE(run.code == 0 || (run.code == 2 && one_line(run.err)))
        << at << ": " << run.code << " " << run.err;
  }
}

}  // namespace
}  // namespace undertext
