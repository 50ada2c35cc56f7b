#include "report/html_page.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "fixture.h"

namespace undertext {
namespace {

using nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script>", start) - start);
}

// The message that index `column` of pair `pair` refers to.
std::string text_of(const json& data, std::size_t sample, std::size_t pair, std::size_t column) {
  return data["texts"].at(data["samples"][sample]["pairs"][pair][column].get<std::size_t>());
}

TEST(HtmlPage, IsOneWholeFileBelowItsLimit) {
  const std::string page = html_page(fixture::results());
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_LT(page.size(), kLargestPage);
  EXPECT_EQ(page.find("{{"),
            page.rfind("{{"));  // Chart.js may hold braces of its own; the template's are gone
  EXPECT_NE(page.find("Chart.js v3"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(page.find("showMessages"), std::string::npos);
}

TEST(HtmlPage, AsksForNothingFromOutside) {
  const std::string page = html_page(fixture::results());
  EXPECT_EQ(count(page, " src="), 0u);
  EXPECT_EQ(count(page, "<link"), 0u);
  EXPECT_EQ(count(page, "@import"), 0u);
  EXPECT_EQ(count(page, "url("), 0u);
  EXPECT_EQ(count(page, "innerHTML"), 0u);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(HtmlPage, IsTheSameForTheSameResults) {
  EXPECT_EQ(html_page(fixture::results()), html_page(fixture::results()));
}

TEST(HtmlPage, CarriesTheDataAndItsFindings) {
  const json data = json::parse(data_of(html_page(fixture::results())));
  EXPECT_EQ(data["rows"].size(), fixture::results()["rows"].size());
  EXPECT_NE(data["verdict"].get<std::string>().find("256 of 256"), std::string::npos);
  EXPECT_EQ(data["advice"].size(), 2u);
  EXPECT_EQ(data["defences"]["threats"].at(0)["effects"].size(), 7u);
  EXPECT_EQ(data["seed"], "1");
  EXPECT_EQ(text_of(data, 0, 0, 0), fixture::results()["samples"][0]["pairs"][0]["truth"]);
  EXPECT_LT(data["texts"].size(), 5000u);
}

TEST(HtmlPage, HostileTextsStayInsideTheirElement) {
  const std::string tame = html_page(fixture::results());
  const std::string page = html_page(fixture::hostile_results());
  for (const char* part : {"<script", "</script", "<!--", "<img", "<b"})
    EXPECT_EQ(count(page, part), count(tame, part)) << part;
  const std::string data = data_of(page);
  for (const unsigned char c : data) ASSERT_TRUE(c >= 0x20 && c < 0x7F && c != '<' && c != '>' && c != '&');
  // What comes out is what went in.
  const json back = json::parse(data);
  const auto texts = fixture::hostile_texts();
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(text_of(back, 0, i, 0), texts[i]);
}

TEST(HtmlPage, TakesTextsThatAreNotUtf8) {
  json results = fixture::smallest();
  results["samples"][0]["pairs"][0]["truth"] = "broken \xff\xc3 text";
  const json data = json::parse(data_of(html_page(results)));
  EXPECT_EQ(text_of(data, 0, 0, 0), "broken \uFFFD\uFFFD text");
}

TEST(HtmlPage, CutsWhatNobodyReads) {
  json results = fixture::smallest();
  std::string endless;
  while (endless.size() < 3'000'000) endless += "漢";
  results["samples"][0]["pairs"][0]["truth"] = endless;
  const std::string page = html_page(results);
  EXPECT_LT(page.size(), kLargestPage);
  const std::string shown = text_of(json::parse(data_of(page)), 0, 0, 0);
  EXPECT_LE(shown.size(), 2003u);
  EXPECT_TRUE(shown.ends_with("漢…"));
}

TEST(HtmlPage, CutsSamplesThatWouldNotFitAndSaysSo) {
  json results = fixture::smallest();
  json& pairs = results["samples"][0]["pairs"];
  for (int i = 0; i < 60'000; ++i)
    pairs.push_back({{"truth", "message number " + std::to_string(i)},
                     {"recovered", nullptr},
                     {"exact", false},
                     {"ratio", 0}});
  const std::string page = html_page(results);
  EXPECT_LT(page.size(), kLargestPage);
  const json sample = json::parse(data_of(page))["samples"][0];
  EXPECT_EQ(sample["total"], 60'016);
  EXPECT_GT(sample["pairs"].size(), 1000u);
  EXPECT_LT(sample["pairs"].size(), 60'016u);
}

TEST(HtmlPage, KeepsSeedsThatABrowserCannotCount) {
  json results = fixture::smallest();
  results["seed"] = std::uint64_t{18446744073709551615u};
  EXPECT_EQ(json::parse(data_of(html_page(results)))["seed"], "18446744073709551615");
}

TEST(HtmlPage, RefusesResultsThatAreNotWhole) {
  json results = fixture::results();
  results.erase("model");
  EXPECT_THROW(html_page(results), UserError);
}

}  // namespace
}  // namespace undertext
