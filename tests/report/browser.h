// A page in a real browser, without a screen.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace undertext {

struct Visit {
  std::string dom;                   // after the scripts have run
  std::vector<std::string> console;  // what the page logged, errors among it
};

// Skips the test where there is no browser.
class BrowserTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // view: what stands after the file's name in the address, "#attack=words".
  Visit open(const std::string& page, const std::string& view = "", const std::string& flags = "");

 private:
  std::string browser_;
  std::filesystem::path folder_;
};

int count(const std::string& text, const std::string& pattern);

// The body as the scripts built it, without the scripts.
std::string built(const Visit& visit);

// The page without Chart.js.
std::string without_charts(std::string page);

}  // namespace undertext
