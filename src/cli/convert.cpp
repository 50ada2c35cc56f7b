// undertext convert: a file of tensors in another format.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "tensors/name_matching.h"
#include "tensors/read_tensors.h"
#include "tensors/write_tensors.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path in, out, names;
  bool json = false;
};

int run(const Flags& flags) {
  const std::string format = format_of(flags.out);  // before a large file is read for nothing
  TensorFile content = read_tensors(flags.in);
  if (!flags.names.empty()) give_names(content, flags.names, flags.in.string());
  if (content.tensors.empty()) fail("{}: no tensors in it", flags.in.string());
  std::int64_t numbers = 0, bytes = 0;
  for (const auto& [name, tensor] : content.tensors) {
    numbers += tensor.numel();
    bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  write_tensors(flags.out, content);

  // The other formats have no place for it.
  const std::size_t lost = format == "safetensors" ? 0 : content.metadata.size();
  if (flags.json) {
    print_json({{"verb", "convert"},
                {"in", flags.in.string()},
                {"in_format", content.format},
                {"out", flags.out.string()},
                {"out_format", format},
                {"named", content.named},
                {"tensors", content.tensors.size()},
                {"numbers", numbers},
                {"bytes", bytes},
                {"metadata_lost", lost}});
    return 0;
  }
  print_text(fmt::format("read {} ({}): {}, {}, {}{}\nwrote {} ({})\n", flags.in.string(), content.format,
                         counted(static_cast<std::int64_t>(content.tensors.size()), "tensor", "tensors"),
                         counted(numbers, "number", "numbers"), counted(bytes, "byte", "bytes"),
                         content.named ? "" : ", without names", flags.out.string(), format));
  if (lost > 0) {
    print_note(fmt::format("{} has no place for metadata: {} left out", format,
                           counted(static_cast<std::int64_t>(lost), "entry", "entries")));
  }
  return 0;
}

}  // namespace

Verb convert_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("convert", "Write a file of tensors in another format");
  const auto flags = std::make_shared<Flags>();
  app->add_option("in", flags->in,
                  "safetensors, npz, npy, a file of torch.save, an index of shards, or a model folder")
      ->required()
      ->option_text("IN");
  app->add_option("out", flags->out, "its ending says the format: .safetensors, .npz, .pt, .pth or .bin")
      ->required()
      ->option_text("OUT");
  app->add_option("--names", flags->names, "names for the tensors in their order, one a line")
      ->option_text("FILE");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
