#include "tensors/name_matching.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/error.h"
#include "base/files.h"

namespace undertext {
namespace {

// What libraries put in front when they wrap a model: DataParallel and DDP, trainers, torch.compile, PEFT.
constexpr std::array<std::string_view, 4> kWrappers = {"module.", "model.", "_orig_mod.", "base_model."};
constexpr int kDeepestPrefix = 6;  // parts between dots that may be in front of a name

// LayerNorm's names before 2018, which old BERT files still have.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOldEndings{
    {{".gamma", ".weight"}, {".beta", ".bias"}}};

std::string shown(at::IntArrayRef shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

// Whether pattern, in which * stands for any text, is the whole of name. Each * takes as little as it can: a
// later one makes up for it.
bool fits(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// One change for all names: `removed` is taken off those that have it, then `added` is put before those that
// mean nothing without it.
struct Renaming {
  std::string removed, added;
  bool operator<(const Renaming& other) const {
    return std::tie(removed, added) < std::tie(other.removed, other.added);
  }
};

class Matcher {
 public:
  Matcher(std::span<const WantedTensor> wanted, const MatchOptions& options, const std::string& where)
      : wanted_(wanted), options_(options), where_(where) {
    std::set<std::string> first_parts;
    for (const WantedTensor& tensor : wanted) {
      wanted_by_name_.emplace(tensor.name, &tensor);
      const std::size_t dot = tensor.name.find('.');
      if (dot != tensor.name.npos) first_parts.insert(tensor.name.substr(0, dot + 1));
    }
    addable_.assign(first_parts.begin(), first_parts.end());
    for (const auto& [alias, name] : options.aliases) UNDERTEXT_CHECK(wanted_by_name_.contains(name));
  }

  NamedTensors match_named(TensorFile& file) const {
    const Renaming renaming = best_renaming(file.order);
    NamedTensors matched;
    std::map<std::string, std::string> sources;                // name in the file, by wanted name
    std::vector<std::pair<std::string, std::string>> aliases;  // name in the file and its meaning
    std::vector<std::string> foreign;
    for (const std::string& name : file.order) {
      const std::string renamed = rename(name, renaming);
      if (const WantedTensor* tensor = find(renamed)) {
        const auto [source, fresh] = sources.emplace(tensor->name, name);
        if (!fresh) {
          fail("{}: both {} and {} would be {}", where_, quote(source->second), quote(name),
               quote(tensor->name));
        }
        matched.emplace(tensor->name, in_shape(file.tensors.at(name), *tensor, name));
      } else if (options_.aliases.contains(renamed)) {
        aliases.emplace_back(name, options_.aliases.at(renamed));
      } else if (!ignored(renamed) && !ignored(name)) {
        foreign.push_back(name);
      }
    }
    for (const auto& [name, meaning] : aliases) add_alias(matched, file.tensors.at(name), name, meaning);
    check_complete(matched, foreign);
    return matched;
  }

  NamedTensors match_by_order(TensorFile& file) const {
    std::vector<std::vector<std::string>> orders = options_.orders;
    if (orders.empty()) {
      std::vector<std::string>& order = orders.emplace_back();
      for (const WantedTensor& tensor : wanted_) order.push_back(tensor.name);
    }
    std::string closest;
    std::size_t agreed = 0;
    for (const std::vector<std::string>& order : orders) {
      if (order.size() != file.order.size()) continue;
      const std::size_t same = agreement(file, order);
      if (same == order.size()) return by_order(file, order);
      if (same < agreed && !closest.empty()) continue;
      agreed = same;
      closest = fmt::format("{}: tensor {} of {} (they have no names) has the shape {}, expected {} for {}",
                            where_, same + 1, order.size(), shown(file.tensors.at(file.order[same]).sizes()),
                            shown(*shape_of(order[same])), quote(order[same]));
    }
    if (!closest.empty()) throw UserError(closest);
    std::set<std::size_t> counts;
    for (const std::vector<std::string>& order : orders) counts.insert(order.size());
    fail("{}: {} tensors without names, expected {}: give names with --names", where_, file.order.size(),
         fmt::join(counts, " or "));
  }

 private:
  const WantedTensor* find(const std::string& name) const {
    const auto found = wanted_by_name_.find(name);
    return found == wanted_by_name_.end() ? nullptr : found->second;
  }

  bool ignored(std::string_view name) const {
    return std::ranges::any_of(options_.ignored,
                               [&](const std::string& pattern) { return fits(pattern, name); });
  }

  bool known(const std::string& name) const {
    return find(name) != nullptr || options_.aliases.contains(name) || ignored(name);
  }

  // The name or, where that is not wanted, what it is called today.
  std::string modern(const std::string& name) const {
    if (find(name) != nullptr) return name;
    for (const auto& [old, now] : kOldEndings) {
      if (!name.ends_with(old)) continue;
      std::string changed = name.substr(0, name.size() - old.size()).append(now);
      if (find(changed) != nullptr) return changed;
    }
    return name;
  }

  std::string rename(const std::string& name, const Renaming& renaming) const {
    std::string short_name = name.starts_with(renaming.removed) ? name.substr(renaming.removed.size()) : name;
    std::string plain = modern(short_name);
    if (renaming.added.empty() || known(plain)) return plain;
    std::string longer = modern(renaming.added + short_name);
    return known(longer) ? longer : plain;
  }

  // The change by which most names meet: removing what is in front, or removing wrappers and adding the first
  // part of a wanted name. (To replace one part by another would match what only looks alike.) Every name of
  // the file speaks for the changes that make it a wanted one; among equals the least change wins.
  Renaming best_renaming(const std::vector<std::string>& names) const {
    std::map<Renaming, std::size_t> votes;
    for (const std::string& name : names) {
      std::size_t begin = 0;
      bool only_wrappers = true;
      for (int depth = 0; depth <= kDeepestPrefix && begin < name.size(); ++depth) {
        const std::string removed = name.substr(0, begin), rest = name.substr(begin);
        if (find(modern(rest)) != nullptr) ++votes[{removed, ""}];
        for (const std::string& added : addable_) {
          if (only_wrappers && find(modern(added + rest)) != nullptr) ++votes[{removed, added}];
        }
        const std::size_t dot = name.find('.', begin);
        if (dot == name.npos) break;
        const std::string_view part = std::string_view(name).substr(begin, dot + 1 - begin);
        only_wrappers = only_wrappers && std::ranges::find(kWrappers, part) != kWrappers.end();
        begin = dot + 1;
      }
    }
    Renaming best;
    std::size_t most = 0;
    for (const auto& [renaming, count] : votes) {
      const auto size = [](const Renaming& r) { return r.removed.size() + r.added.size(); };
      if (count > most || (count == most && size(renaming) < size(best))) {
        best = renaming;
        most = count;
      }
    }
    return best;
  }

  at::Tensor in_shape(const at::Tensor& tensor, const WantedTensor& wanted, const std::string& name) const {
    if (tensor.sizes() != at::IntArrayRef(wanted.shape)) {
      fail("{}: tensor {} has the shape {}, expected {} for {}", where_, quote(name), shown(tensor.sizes()),
           shown(wanted.shape), quote(wanted.name));
    }
    return tensor;
  }

  // Under another name: the same again, or what stands for it.
  void add_alias(NamedTensors& matched, const at::Tensor& tensor, const std::string& name,
                 const std::string& meaning) const {
    const WantedTensor& wanted = *find(meaning);
    const auto [found, fresh] = matched.emplace(meaning, tensor);
    in_shape(tensor, wanted, name);
    if (!fresh &&
        (found->second.scalar_type() != tensor.scalar_type() || !at::equal(found->second, tensor))) {
      fail("{}: {} and {} are one tensor to this model, but their values differ", where_, quote(name),
           quote(meaning));
    }
  }

  void check_complete(const NamedTensors& matched, const std::vector<std::string>& foreign) const {
    const auto listed = [](const std::vector<std::string>& names) {
      std::string text = quote(names.front());
      return names.size() == 1 ? text : text + fmt::format(" and {} more", names.size() - 1);
    };
    std::vector<std::string> missing;
    for (const WantedTensor& tensor : wanted_) {
      if (!tensor.optional && !matched.contains(tensor.name)) missing.push_back(tensor.name);
    }
    if (matched.empty()) {
      fail("{}: none of the model's tensors is in it{}; expected names such as {}", where_,
           foreign.empty() ? "" : ", but " + listed(foreign),
           wanted_.empty() ? std::string("none") : quote(wanted_.front().name));
    }
    if (!foreign.empty()) fail("{}: the model has no tensor {}", where_, listed(foreign));
    if (!options_.partial && !missing.empty())
      fail("{}: the model's tensor {} is missing", where_, listed(missing));
  }

  // The shape that a name of an order asks for; nothing for a name that is ignored.
  std::optional<at::IntArrayRef> shape_of(const std::string& name) const {
    const auto alias = options_.aliases.find(name);
    const WantedTensor* tensor = find(alias == options_.aliases.end() ? name : alias->second);
    UNDERTEXT_CHECK(tensor != nullptr || ignored(name));
    return tensor == nullptr ? std::nullopt : std::optional(at::IntArrayRef(tensor->shape));
  }

  // How many of the file's tensors, from the first on, have the shapes of that order.
  std::size_t agreement(const TensorFile& file, const std::vector<std::string>& order) const {
    std::size_t i = 0;
    while (i < order.size()) {
      const std::optional<at::IntArrayRef> shape = shape_of(order[i]);
      if (shape && file.tensors.at(file.order[i]).sizes() != *shape) break;
      ++i;
    }
    return i;
  }

  NamedTensors by_order(TensorFile& file, const std::vector<std::string>& order) const {
    TensorFile renamed;
    for (std::size_t i = 0; i < order.size(); ++i) {
      renamed.tensors.emplace(order[i], file.tensors.at(file.order[i]));
    }
    renamed.order = order;
    return match_named(renamed);
  }

  std::span<const WantedTensor> wanted_;
  const MatchOptions& options_;
  const std::string& where_;
  std::unordered_map<std::string, const WantedTensor*> wanted_by_name_;
  std::vector<std::string> addable_;  // first parts of wanted names: "transformer."
};

}  // namespace

NamedTensors match_names(TensorFile file, std::span<const WantedTensor> wanted, const MatchOptions& options,
                         const std::string& where) {
  if (options.names_file) give_names(file, *options.names_file, where);
  const Matcher matcher(wanted, options, where);
  return file.named ? matcher.match_named(file) : matcher.match_by_order(file);
}

void give_names(TensorFile& file, const std::filesystem::path& names_file, const std::string& where) {
  constexpr std::size_t kLargest = 1 << 26;
  const std::string text = read_file(names_file, kLargest);
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    if (name.ends_with('\r')) name.pop_back();
    if (name.empty()) fail("{}: line {} is empty, expected a name", names_file.string(), names.size() + 1);
    names.push_back(std::move(name));
    begin = end + 1;
  }
  if (names.size() != file.order.size()) {
    fail("{}: {} names for the {} tensors of {}", names_file.string(), names.size(), file.order.size(),
         where);
  }
  NamedTensors renamed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!renamed.emplace(names[i], file.tensors.at(file.order[i])).second) {
      fail("{}: line {} gives the name {} again", names_file.string(), i + 1, quote(names[i]));
    }
  }
  file.tensors = std::move(renamed);
  file.order = std::move(names);
  settle_names(file);
}

}  // namespace undertext
