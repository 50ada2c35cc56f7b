#include "report/experiment.h"

namespace undertext {

void to_json(nlohmann::json& json, const ReportedPlot& plot) {
  nlohmann::json where = nlohmann::json::array();
  for (const auto& [name, value] : plot.where) where.push_back({name, value});
  json = {{"kind", plot.kind},     {"title", plot.title}, {"x", plot.x},         {"y", plot.y},
          {"series", plot.series}, {"facet", plot.facet}, {"log_x", plot.log_x}, {"where", std::move(where)}};
}

void from_json(const nlohmann::json& json, ReportedPlot& plot) {
  json.at("kind").get_to(plot.kind);
  json.at("title").get_to(plot.title);
  json.at("x").get_to(plot.x);
  json.at("y").get_to(plot.y);
  json.at("series").get_to(plot.series);
  json.at("facet").get_to(plot.facet);
  json.at("log_x").get_to(plot.log_x);
  plot.where.clear();
  for (const nlohmann::json& pair : json.at("where")) plot.where.emplace_back(pair.at(0), pair.at(1));
}

}  // namespace undertext
