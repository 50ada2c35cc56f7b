// Experiments of cells that take a fraction of a millisecond: a model of a few numbers, messages of two
// words.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "audit/experiment/experiment_file.h"
#include "audit/experiment/freeze.h"
#include "audit/experiment/sources.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "models/cifg_lstm.h"
#include "text/vocabulary.h"

namespace undertext {

class SmallExperiment {
 public:
  SmallExperiment() {
    const Vocabulary vocabulary({"</S>", "<S>", "<UNK>", "a", "b", "c", "d", "e"});
    const CifgConfig config{.vocabulary = vocabulary.size(),
                            .embedding = 4,
                            .units = 6,
                            .end = vocabulary.end(),
                            .start = vocabulary.start(),
                            .unknown = vocabulary.unknown()};
    std::filesystem::create_directory(folder_ / "model");
    CifgLstm::random(config, Seed(1))->save(folder_ / "model");
    vocabulary.save(folder_ / "model");
    write_file(folder_ / "texts.txt", "a b\nb c\nc d\nd e\ne a\na c\nb d\nc e\n");
  }

  // Writes the file, with the small model and texts before the given lines.
  std::filesystem::path file(const std::string& lines, const std::string& name = "e.toml") const {
    write_file(folder_ / name, "[model]\nfolder = \"model\"\n[texts]\nfiles = \"texts.txt\"\n" + lines);
    return folder_ / name;
  }

  FrozenExperiment frozen(const std::string& lines, const std::string& name = "e.toml") {
    const ExperimentRequest request{file(lines, name), "", {}};
    return freeze_experiment(read_experiment(request), request, sources_, "undertext run");
  }

  static std::string seeds(int count) {
    return fmt::format(
        "[run]\nseeds = {{from = 1, to = {}, steps = {}}}\n[[attack]]\nmethod = \"paper\"\n"
        "cutoff = \"none\"\n[[defence]]\nkind = \"noise-per-step\"\nsigma = 0.1\n",
        count, count);
  }

  TemporaryFolder folder_;
  Sources sources_{[](const std::string&) {}};
};

}  // namespace undertext
