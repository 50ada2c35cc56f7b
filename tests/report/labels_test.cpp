#include "report/labels.h"

#include <gtest/gtest.h>

#include "fixture.h"

namespace undertext {
namespace {

TEST(Numbers, NeverRoundToAllOrNone) {
  EXPECT_EQ(fraction_text(1), "1.000");
  EXPECT_EQ(fraction_text(0.99999), "0.999");
  EXPECT_EQ(fraction_text(0.00001), "0.001");
  EXPECT_EQ(fraction_text(0), "0.000");
  EXPECT_EQ(fraction_text(255.0 / 256), "0.996");
  EXPECT_EQ(ratio_text(100), "100.0");
  EXPECT_EQ(ratio_text(99.99), "99.9");
  EXPECT_EQ(percent_text(1), "100%");
  EXPECT_EQ(percent_text(0.9999), "99%");
  EXPECT_EQ(percent_text(0.001), "<1%");
  EXPECT_EQ(percent_text(0), "0%");
  EXPECT_EQ(percent_text(0.125), "13%");
}

TEST(Numbers, PerplexityAtAnySize) {
  EXPECT_EQ(perplexity_text(31.24), "31.2");
  EXPECT_EQ(perplexity_text(1234.5), "1234");
  EXPECT_EQ(perplexity_text(3.2e9), "3.2e+09");
  EXPECT_EQ(or_dash(std::nullopt, perplexity_text), "–");
}

TEST(Labels, NameWhatTellsProtocolsApart) {
  nlohmann::json document = fixture::results();
  const Results same = parse_results(document);
  EXPECT_EQ(Labels(same).protocol(same.rows.front().protocol), "FedSGD");
  EXPECT_EQ(Labels(same).protocol({"FedAvg", 10, 32, 0.001, "sum", "all-but-embedding"}),
            "FedAvg, 10 epochs, batch 32");
  EXPECT_EQ(Labels(same).protocol({"FedAvg", 1, 0, 0.001, "sum", "all-but-embedding"}), "FedAvg, 1 epoch");
  EXPECT_EQ(Labels(same).short_protocol({"FedAvg", 10, 32, 0.001, "sum", "all-but-embedding"}),
            "FedAvg E=10 B=32");

  document["rows"][0]["protocol"]["reduction"] = "mean";
  document["rows"][1]["protocol"]["learning_rate"] = 0.5;
  const Results varied = parse_results(document);
  EXPECT_EQ(Labels(varied).protocol(varied.rows[0].protocol), "FedSGD, rate 0.001, mean");
  EXPECT_EQ(Labels(varied).protocol(varied.rows[1].protocol), "FedSGD, rate 0.5, sum");
}

TEST(Labels, NameDefencesMethodsAndSettings) {
  const Results results = parse_results(fixture::smallest());
  const Labels labels(results);
  EXPECT_EQ(labels.defence({}), "none");
  EXPECT_EQ(labels.defence({"noise-per-step", "noise per step", "noise-per-step:sigma=0.1", "sigma", 0.1}),
            "noise per step, σ=0.1");
  EXPECT_EQ(labels.defence({"pruning", "pruning", "pruning:share=0.9", "share", 0.9}), "pruning, share=0.9");
  EXPECT_EQ(labels.defence({"frozen-embedding", "frozen embedding", "frozen-embedding", {}, {}}),
            "frozen embedding");
  EXPECT_EQ(labels.method(results.rows[0]), "best");
  ResultRow oracle = results.rows[0];
  oracle.method = "paper";
  oracle.oracle = true;
  oracle.messages = 1;
  EXPECT_EQ(labels.method(oracle), "paper (oracle)");
  EXPECT_EQ(labels.setting(oracle), "1 message, FedSGD, no defence");
}

TEST(Labels, TellDefencesOfOneStrengthApart) {
  nlohmann::json document = fixture::smallest();
  for (const char* clip : {"1", "2"}) {
    nlohmann::json row = document["rows"][0];
    row["id"] = clip;
    row["defence"] = fixture::defence("DP-SGD", 0.5);
    row["defence"]["spec"] = std::string("dpsgd:sigma=0.5,clip=") + clip;
    document["rows"].push_back(row);
  }
  const Results results = parse_results(document);
  EXPECT_EQ(Labels(results).defence(results.rows[1].defence), "dpsgd:sigma=0.5,clip=1");
  EXPECT_EQ(Labels(results).defence(results.rows[2].defence), "dpsgd:sigma=0.5,clip=2");
}

}  // namespace
}  // namespace undertext
