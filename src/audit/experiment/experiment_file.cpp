#include "audit/experiment/experiment_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "audit/experiment/grid.h"
#include "audit/experiment/schema.h"
#include "audit/experiment/toml_tree.h"
#include "audit/experiment/tried_defences.h"
#include "base/error.h"
#include "report/metric_info.h"

namespace undertext {
namespace {

using nlohmann::json;

std::vector<std::string> joined(std::vector<std::string> left, const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const std::vector<std::string> kFacts = {"name", "title", "source", "says"};

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const Section& section : sections()) names.push_back(section.name);
  return names;
}

[[noreturn]] void unknown_key(const TomlNode& node, const std::string& prefix, const std::string& key,
                              const std::vector<std::string>& valid) {
  fail("{}: {}{}: unknown key; the nearest valid key is {}{}", node.place, prefix,
       quote(key).substr(1, quote(key).size() - 2), prefix, nearest_name(key, valid));
}

const TomlNode::Table& table_of(const TomlNode& node, const std::string& name) {
  if (node.table() == nullptr) fail("{}: {} is {}, expected a table", node.place, name, node.shown());
  return *node.table();
}

const TomlNode::Array& tables_of(const TomlNode& node, const std::string& name) {
  const TomlNode::Array* items = node.array();
  if (items == nullptr) fail("{}: {} is {}, expected [[{}]]", node.place, name, node.shown(), name);
  if (items->empty()) fail("{}: {} is an empty list, expected at least one [[{}]]", node.place, name, name);
  for (const TomlNode& item : *items) table_of(item, name);
  return *items;
}

void check_section(const Section& section, const TomlNode& table) {
  std::vector<std::string> valid;
  for (const Field& field : section.fields) valid.push_back(field.name);
  const std::string prefix = section.name + ".";
  for (const auto& [key, member] : table_of(table, section.name)) {
    const auto field = std::ranges::find(section.fields, key, &Field::name);
    if (field == section.fields.end()) unknown_key(member, prefix, key, valid);
    values_of(*field, member, prefix + key);
  }
}

// The sections, `more` keys and nothing else.
void check_sections(const TomlNode& tree, const std::string& prefix, const std::vector<std::string>& more) {
  for (const auto& [key, member] : table_of(tree, prefix.empty() ? "the file" : prefix)) {
    if (std::ranges::find(more, key) != more.end()) continue;
    const auto section = std::ranges::find(sections(), key, &Section::name);
    if (section == sections().end()) unknown_key(member, prefix, key, joined(section_names(), more));
    if (!section->list) {
      check_section(*section, member);
      continue;
    }
    for (const TomlNode& table : tables_of(member, key)) check_section(*section, table);
  }
}

void check_variants(const TomlNode& tree) {
  const TomlNode* variants = tree.find("variant");
  if (variants == nullptr) return;
  for (const TomlNode& variant : tables_of(*variants, "variant"))
    check_sections(variant, "variant.", {"defences"});
}

void check_file(const TomlNode& tree) {
  check_sections(tree, "", joined(kFacts, {"plot", "profile", "variant", "defences"}));
  check_variants(tree);
  const TomlNode* profiles = tree.find("profile");
  if (profiles == nullptr) return;
  for (const auto& [name, profile] : table_of(*profiles, "profile")) {
    check_sections(profile, fmt::format("profile.{}.", name), {"variant", "defences"});
    check_variants(profile);
  }
}

TomlNode with_profile(TomlNode tree, const ExperimentRequest& request) {
  if (request.profile.empty()) return tree;
  const TomlNode* profiles = tree.find("profile");
  const TomlNode* chosen = profiles ? profiles->find(request.profile) : nullptr;
  if (chosen == nullptr) {
    std::vector<std::string> names;
    if (profiles != nullptr)
      for (const auto& [name, profile] : *profiles->table()) names.push_back(name);
    if (names.empty())
      fail("{}: it has no profiles, --profile {} given", request.file.string(), request.profile);
    fail("{}: it has no profile {}, expected one of {}", request.file.string(), quote(request.profile),
         fmt::join(names, ", "));
  }
  return overlaid(tree, *chosen);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// The value of a --set: TOML, or a text without its quotes.
TomlNode set_value(const std::string& text, const std::string& place) {
  TomlNode node;
  try {
    node = parse_toml("value = " + text, place).table()->at("value");
  } catch (const UserError&) {
    node.value = text;
  }
  node.place = place;
  return node;
}

void set_field(TomlNode& table, const std::string& field, const TomlNode& value) {
  std::get<TomlNode::Table>(table.value).insert_or_assign(field, value);
}

// "attack.method=paper" sets it in every [[attack]], "attack.0.method=paper" in the first.
void set_in_list(TomlNode& list, std::vector<std::string> rest, const TomlNode& value) {
  auto& tables = std::get<TomlNode::Array>(list.value);
  if (rest.size() == 2) {
    std::size_t index = 0;
    const bool number = !rest[0].empty() && rest[0].find_first_not_of("0123456789") == std::string::npos;
    if (number && rest[0].size() < 6) index = std::stoul(rest[0]);
    if (!number || index >= tables.size())
      fail("{}: there is no number {}, expected one from 0 to {}", value.place, quote(rest[0]),
           tables.size() - 1);
    set_field(tables[index], rest[1], value);
    return;
  }
  for (TomlNode& table : tables) set_field(table, rest[0], value);
}

TomlNode with_set(TomlNode tree, const std::string& set) {
  const std::string place = "--set " + set;
  const std::size_t equals = set.find('=');
  if (equals == std::string::npos || equals == 0) fail("{}: expected KEY=VALUE", place);
  const std::string key = set.substr(0, equals);
  std::vector<std::string> parts = split(key, '.');
  const TomlNode value = set_value(set.substr(equals + 1), place);
  auto& root = std::get<TomlNode::Table>(tree.value);
  const auto section = std::ranges::find(sections(), parts.front(), &Section::name);
  const bool list = section != sections().end() && section->list;
  if (section == sections().end() || parts.size() < 2 || parts.size() > (list ? 3U : 2U)) {
    std::vector<std::string> valid;
    for (const Section& one : sections())
      for (const Field& field : one.fields) valid.push_back(one.name + "." + field.name);
    unknown_key(value, "", key, valid);
  }
  TomlNode empty;
  empty.place = place;
  if (list) empty.value = TomlNode::Array{TomlNode{TomlNode::Table{}, place}};
  TomlNode& node = root.try_emplace(section->name, empty).first->second;
  if (list)
    set_in_list(node, {parts.begin() + 1, parts.end()}, value);
  else
    set_field(node, parts[1], value);
  return tree;
}

// Values that a --set gives hold in every variant too.
TomlNode with_sets(TomlNode tree, const std::vector<std::string>& sets) {
  for (const std::string& set : sets) tree = with_set(std::move(tree), set);
  return tree;
}

std::string fact(const TomlNode& tree, const std::string& key, const std::string& fallback) {
  const TomlNode* node = tree.find(key);
  if (node == nullptr) return fallback;
  if (node->text() == nullptr) fail("{}: {} is {}, expected a text", node->place, key, node->shown());
  return *node->text();
}

// {attack.cutoff = "none"} and {attack = {cutoff = "none"}} are one.
void add_where(const TomlNode& node, const std::string& prefix, ReportedPlot& plot) {
  for (const auto& [key, member] : table_of(node, "plot.where")) {
    const std::string name = prefix + key;
    if (member.table() != nullptr) {
      add_where(member, name + ".", plot);
      continue;
    }
    const std::vector<std::string> names = value_names();
    if (std::ranges::find(names, name) == names.end()) unknown_key(member, "plot.where.", name, names);
    json value;
    if (const auto* truth = std::get_if<bool>(&member.value)) value = *truth;
    if (const auto* whole = std::get_if<std::int64_t>(&member.value)) value = *whole;
    if (const auto* number = std::get_if<double>(&member.value)) value = *number;
    if (const std::string* text = member.text()) value = *text;
    plot.where.emplace_back(name, std::move(value));
  }
}

// The text of a plot's key, which must be one of `valid` where any are given.
std::string plot_text(const TomlNode& table, const std::string& key, const std::vector<std::string>& valid) {
  std::string text = fact(table, key, "");
  if (text.empty() || valid.empty() || std::ranges::find(valid, text) != valid.end()) return text;
  fail("{}: plot.{} is {}, which is unknown; the nearest valid name is {}", table.find(key)->place, key,
       quote(text), nearest_name(text, valid));
}

ReportedPlot plot_of(const TomlNode& table) {
  const std::vector<std::string> keys = {"kind", "title", "x", "y", "series", "facet", "log_x", "where"};
  for (const auto& [key, member] : *table.table())
    if (std::ranges::find(keys, key) == keys.end()) unknown_key(member, "plot.", key, keys);
  std::vector<std::string> metrics;
  for (const MetricInfo& info : metric_infos()) metrics.emplace_back(info.name);
  const std::vector<std::string> names = value_names();
  ReportedPlot plot;
  plot.kind = plot_text(table, "kind", {"line", "scatter", "frontier", "magnitudes", "words"});
  if (plot.kind.empty())
    fail("{}: plot.kind is missing, expected line, scatter, frontier, magnitudes or words", table.place);
  plot.title = fact(table, "title", "");
  plot.x = plot_text(table, "x", plot.kind == "line" ? names : metrics);
  plot.y = plot_text(table, "y", metrics);
  const bool frontier = plot.kind == "frontier";
  if (frontier && plot.x.empty()) plot.x = "perplexity_after";
  const bool axes = plot.kind == "line" || plot.kind == "scatter" || frontier;
  if (axes && (plot.x.empty() || plot.y.empty()))
    fail("{}: plot.{} is missing, which a {} needs", table.place, plot.x.empty() ? "x" : "y", plot.kind);
  plot.series = plot_text(table, "series", names);
  if (frontier && plot.series.empty()) plot.series = "defence.kind";
  plot.facet = plot_text(table, "facet", names);
  if (const TomlNode* log = table.find("log_x")) {
    if (!std::holds_alternative<bool>(log->value))
      fail("{}: plot.log_x is {}, expected true or false", log->place, log->shown());
    plot.log_x = std::get<bool>(log->value);
  }
  if (const TomlNode* where = table.find("where")) add_where(*where, "", plot);
  return plot;
}

std::string name_of(const TomlNode& tree, const std::filesystem::path& file) {
  std::string name = fact(tree, "name", file.stem().string());
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || name.size() > 80 || !std::ranges::all_of(name, plain))
    fail("{}: the name is {}, expected up to 80 letters, digits, '-', '_' and '.'", file.string(),
         quote(name));
  return name;
}

}  // namespace

ExperimentFile read_experiment(const ExperimentRequest& request) {
  TomlNode tree = read_toml(request.file);
  check_file(tree);
  tree = with_profile(std::move(tree), request);
  ExperimentFile made;
  made.file = request.file;
  made.name = name_of(tree, request.file);
  made.title = fact(tree, "title", made.name);
  made.source = fact(tree, "source", "");
  made.says = fact(tree, "says", "");
  if (const TomlNode* plots = tree.find("plot"))
    for (const TomlNode& plot : tables_of(*plots, "plot")) made.plots.push_back(plot_of(plot));

  std::vector<TomlNode> variants = {tree};
  if (const TomlNode* given = tree.find("variant")) {
    variants.clear();
    for (const TomlNode& variant : *given->array()) variants.push_back(overlaid(tree, variant));
  }
  std::set<json> seen;
  for (TomlNode& variant : variants) {
    variant = with_sets(with_tried_defences(std::move(variant)), request.sets);
    check_file(variant);
    for (json& cell : grid_of(variant))
      if (seen.insert(cell).second) made.cells.push_back(std::move(cell));
    if (made.cells.size() > kMostCells) fail("{}: more than {} cells", request.file.string(), kMostCells);
  }
  return made;
}

}  // namespace undertext
