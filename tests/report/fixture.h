// Results as an audit writes them, made up by formula: clients of 16, 64 and 256 messages, FedSGD and FedAvg,
// two kinds of noise, both attacks by both methods, and several hundred pairs of messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace undertext::fixture {

nlohmann::json results();

// A row's defence: "noise per step" of a strength, 0: without one; "none".
nlohmann::json defence(const std::string& title, double sigma);

// One row and one sample, every field there; the smallest results that are whole.
nlohmann::json smallest();

// Texts that try to leave the place they are put in: markup, quotes, separators, controls, other directions.
std::vector<std::string> hostile_texts();

// `results` with the hostile texts as messages, names, labels and ids.
nlohmann::json hostile_results();

}  // namespace undertext::fixture
