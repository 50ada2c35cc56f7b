// The page of experiments in a real browser: what it builds, draws, filters and logs.
#include <gtest/gtest.h>

#include <regex>

#include "browser.h"
#include "experiment_fixture.h"
#include "report/aggregate.h"
#include "report/experiment_page.h"
#include "report/metric_info.h"

namespace undertext {
namespace {

const std::vector<std::string> kSilent;

class ExperimentBrowser : public BrowserTest {};

// The section of one experiment.
std::string section(const Visit& visit, const std::string& name) {
  const std::string body = built(visit);
  const std::size_t start = body.find("data-experiment=\"" + name);
  EXPECT_NE(start, std::string::npos) << name;
  return body.substr(start, body.find("</section>", start) - start);
}

// The row of the table of groups that begins with these cells.
std::string row_of(const std::string& part, const std::string& cells) {
  const std::size_t table = part.find("class=\"groups");
  const std::size_t start = part.find(cells, table);
  EXPECT_NE(start, std::string::npos) << cells;
  return part.substr(start, part.find("</tr>", start) - start);
}

constexpr const char* kInk = "data-drawn=\"[1-9][0-9]{3,}\"";

TEST_F(ExperimentBrowser, BuildsAllPartsAndDrawsThePlots) {
  const Visit visit = open(experiment_page(fixture::experiments()));
  const std::string body = built(visit);
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
  EXPECT_EQ(count(body, "<h1"), 1);
  EXPECT_NE(body.find(">4 experiments</h1>"), std::string::npos);
  EXPECT_EQ(count(body, "<li><a href=\"#at="), 4);
  EXPECT_EQ(count(section(visit, "gboard-figure-2a"), kInk), 1);
  EXPECT_EQ(count(section(visit, "gboard-figure-3"), kInk), 4);  // two plots of two facets
  EXPECT_EQ(count(section(visit, "gboard-figure-4"), kInk), 1);
  EXPECT_EQ(count(section(visit, "noise"), kInk), 3);
  EXPECT_NE(section(visit, "gboard-figure-3").find("Method: paper"), std::string::npos);
  EXPECT_EQ(count(section(visit, "gboard-figure-3"), "<table class=\"pairs\""), 1);
  // Words with ten decimals.
  EXPECT_GT(count(section(visit, "gboard-figure-4"), ">-?[0-9]\\.[0-9]{10}</td><td>(✓ typed|not typed)"), 30);
  EXPECT_NE(section(visit, "noise").find("undertext run experiments/noise.toml"), std::string::npos);
}

TEST_F(ExperimentBrowser, ShowsTheNumbersThatTheTerminalShows) {
  const ReportedExperiment experiment = fixture::experiments()[0];
  const std::string part = section(open(experiment_page({experiment})), "gboard-figure-2a");
  EXPECT_NE(part.find("data-shown=\"50\""), std::string::npos);
  for (const CellGroup& group : groups_of(experiment)) {
    const Summary& f1 = *group.find("f1");
    const std::string row = row_of(
        part, ">" + group.values[0].dump() + "</th><td class=\"number\">" + group.values[1].dump() + "</td>");
    EXPECT_NE(row.find(metric_text(MetricKind::fraction, f1.mean) + " ± " +
                       spread_text(MetricKind::fraction, *f1.deviation)),
              std::string::npos)
        << row;
  }
}

TEST_F(ExperimentBrowser, ShowsFailuresPlainly) {
  const Visit visit = open(experiment_page({fixture::small_experiment()}));
  EXPECT_EQ(visit.console, kSilent);
  const std::string body = built(visit);
  const std::string header = body.substr(0, body.find("</header>"));
  EXPECT_NE(header.find("✗ 1 failed"), std::string::npos);
  const std::string part = section(visit, "small");
  EXPECT_NE(part.find("What failed: 1 cell"), std::string::npos);
  EXPECT_NE(part.find("it broke"), std::string::npos);
  EXPECT_NE(part.find("data-failed=\"1\""), std::string::npos);
  EXPECT_NE(row_of(part, ">10</th>").find("1 pending"), std::string::npos);
  EXPECT_NE(row_of(part, ">10</th>").find(">0.500<"), std::string::npos);  // of the one that is done
  EXPECT_NE(row_of(part, ">1</th>").find(">0.900 ± 0.100<"), std::string::npos);
}

TEST_F(ExperimentBrowser, FiltersByTheAddress) {
  const Visit visit = open(experiment_page(fixture::experiments()),
                           "#gboard-figure-2a/client.messages=64&gboard-figure-3/attack.method=paper&"
                           "gboard-figure-3/cell=7&gboard-figure-2a/sort=f1&gboard-figure-2a/order=down");
  EXPECT_EQ(visit.console, kSilent);
  const std::string epochs = section(visit, "gboard-figure-2a");
  EXPECT_NE(epochs.find("data-shown=\"10\""), std::string::npos);
  EXPECT_EQ(count(epochs, "aria-sort=\"descending\""), 1);
  EXPECT_EQ(count(epochs, "class=\"swatch\""), 1);  // one line is left
  EXPECT_EQ(count(epochs, kInk), 1);
  const std::string order = section(visit, "gboard-figure-3");
  EXPECT_NE(order.find("data-shown=\"6\""), std::string::npos);
  EXPECT_EQ(order.find("Method: best"), std::string::npos);
  EXPECT_EQ(count(order, kInk), 3);  // one facet is gone
  EXPECT_NE(order.find("data-cell=\"7\""), std::string::npos);
  EXPECT_NE(section(visit, "noise").find("data-shown=\"10\""), std::string::npos);  // untouched
}

TEST_F(ExperimentBrowser, SaysWhatAPointAveragesOver) {
  ReportedExperiment experiment = fixture::experiments()[1];
  experiment.plots.erase(experiment.plots.begin());
  experiment.plots[0].facet = "";  // protocols are no longer told apart
  const std::string page = experiment_page({experiment});
  EXPECT_NE(built(open(page)).find("also averages over protocol;"), std::string::npos);
  const std::string chosen = built(open(page, "#gboard-figure-3/federation.protocol=FedSGD"));
  EXPECT_EQ(chosen.find("also averages over"), std::string::npos);
}

// The kind of noise goes with its strength: to tell one apart is to tell both.
TEST_F(ExperimentBrowser, AnAxisThatGoesWithAnotherMixesNothing) {
  ReportedExperiment experiment;
  experiment.name = experiment.title = "e";
  experiment.axes = {"federation.epochs", "defence.kind", "defence.sigma"};
  ReportedPlot plot;
  plot.kind = "line";
  plot.x = "federation.epochs";
  plot.y = "f1";
  plot.series = "defence.sigma";
  experiment.plots = {plot};
  for (const int epochs : {1, 10}) {
    for (const nlohmann::json& sigma : {nlohmann::json(), nlohmann::json(0.1)}) {
      ReportedCell cell;
      cell.key = std::to_string(experiment.cells.size());
      cell.state = CellState::done;
      cell.values = {epochs, sigma.is_null() ? "none" : "noise", sigma};
      cell.metrics = {{"f1", 0.5}};
      experiment.cells.push_back(cell);
    }
  }
  const std::string page = built(open(experiment_page({experiment})));
  EXPECT_EQ(count(page, kInk), 1);
  EXPECT_EQ(page.find("also averages over"), std::string::npos);
}

TEST_F(ExperimentBrowser, IgnoresAViewThatMeansNothing) {
  const Visit visit =
      open(experiment_page({fixture::small_experiment()}),
           "#small/federation.epochs=magic&small/cell=__proto__&small/sort=toString&at=nowhere&%");
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_NE(section(visit, "small").find("data-shown=\"2\""), std::string::npos);
}

TEST_F(ExperimentBrowser, RunsNoHostileText) {
  const Visit visit = open(experiment_page(fixture::hostile_experiments()));
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_EQ(visit.dom.find("data-hacked"), std::string::npos);
  EXPECT_EQ(count(built(visit), "<img"), 0);
  EXPECT_NE(built(visit).find("&lt;/script&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
}

TEST_F(ExperimentBrowser, TakesNamesThatObjectsHaveThemselves) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.axes = {"__proto__"};
  experiment.settings = {{"constructor", "toString"}};
  experiment.plots[0].x = "__proto__";
  experiment.plots[0].y = "valueOf";
  experiment.plots[0].series = "constructor";
  for (ReportedCell& cell : experiment.cells)
    if (cell.state == CellState::done) cell.metrics = {{"valueOf", 1}, {"__proto__", 2}};
  const Visit visit = open(experiment_page({experiment}));
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_EQ(count(built(visit), kInk), 1);
  EXPECT_NE(visit.dom.find("data-shown=\"2\""), std::string::npos);
}

TEST_F(ExperimentBrowser, AllPendingOrNothingIsFine) {
  for (const auto& experiments :
       {std::vector<ReportedExperiment>{fixture::pending_experiment()}, {ReportedExperiment{}}, {}}) {
    const Visit visit = open(experiment_page(experiments));
    EXPECT_EQ(visit.console, kSilent);
    EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
    EXPECT_EQ(count(built(visit), "data-drawn="), 0);
  }
}

TEST_F(ExperimentBrowser, DrawsWhateverCellsHold) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.plots[0].log_x = true;
  experiment.plots.push_back(
      {.kind = "pie", .title = "", .x = "", .y = "", .series = "", .facet = "", .log_x = false, .where = {}});
  experiment.plots.push_back({.kind = "scatter",
                              .title = "",
                              .x = "f1",
                              .y = "perplexity_after",
                              .series = "nothing",
                              .facet = "",
                              .log_x = false,
                              .where = {}});
  experiment.cells[0].metrics.emplace_back("perplexity_after", INFINITY);
  experiment.cells[2].metrics.emplace_back("perplexity_after", 30);
  experiment.cells[0].values = {nullptr};
  experiment.cells[2].values = {"many"};
  experiment.cells[4].values = {true};
  const Visit visit = open(experiment_page({experiment}));
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_EQ(count(built(visit), kInk), 2);
  EXPECT_NE(built(visit).find("knows no plot of kind “pie”"), std::string::npos);
  EXPECT_NE(built(visit).find("∞"), std::string::npos);
}

TEST_F(ExperimentBrowser, DrawsTheFrontierOfDefences) {
  ReportedExperiment experiment = fixture::small_experiment();
  experiment.axes = {"defence.kind", "defence.sigma"};
  experiment.plots = {{.kind = "frontier",
                       .title = "",
                       .x = "perplexity_after",
                       .y = "f1",
                       .series = "defence.kind",
                       .facet = "",
                       .log_x = false,
                       .where = {}}};
  const ReportedCell cell = experiment.cells[0];
  experiment.cells.clear();
  const auto add = [&](const std::string& key, nlohmann::json kind, nlohmann::json sigma, double leak,
                       double cost) {
    ReportedCell one = cell;
    one.key = key;
    one.values = {std::move(kind), std::move(sigma)};
    one.metrics = {{"f1", leak}, {"perplexity_after", cost}};
    experiment.cells.push_back(one);
  };
  add("a", "none", nullptr, 1, 30);
  add("b", "noise-per-step", 0.1, 1, 31);
  add("c", "noise-per-step", 1.0, 0.25, 40);
  const Visit visit = open(experiment_page({experiment}));
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_EQ(count(built(visit), kInk), 1);
  // Without a defence and the stronger noise: the weaker costs and stops nothing.
  EXPECT_EQ(count(built(visit), "<td>yes</td>"), 2);
}

TEST_F(ExperimentBrowser, KeepsItsTablesWithoutTheChartLibrary) {
  const Visit visit = open(without_charts(experiment_page(fixture::experiments())));
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_EQ(count(built(visit), "could not be drawn"), 9);
  EXPECT_EQ(count(built(visit), "<details open"), 7);
  EXPECT_NE(visit.dom.find("data-ready=\"true\""), std::string::npos);
}

TEST_F(ExperimentBrowser, OpensTenThousandCells) {
  const Visit visit = open(experiment_page({fixture::large_experiment(10'000, 16, 16)}));
  EXPECT_EQ(visit.console, kSilent);
  EXPECT_NE(visit.dom.find("data-shown=\"3334\""), std::string::npos);
  EXPECT_NE(built(visit).find("Show all 3334"), std::string::npos);
  EXPECT_NE(built(visit).find("leaves out some sample messages"), std::string::npos);
}

}  // namespace
}  // namespace undertext
