#include "browser.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

namespace undertext {
namespace {

namespace fs = std::filesystem;

std::string chromium() {
  std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      std::error_code ignored;
      if (fs::exists(fs::path(folder) / name, ignored)) return (fs::path(folder) / name).string();
    }
  }
  return "";
}

std::string content(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

void BrowserTest::SetUp() {
  browser_ = chromium();
  if (browser_.empty()) GTEST_SKIP() << "no chromium on the path: the page is not opened in a browser";
  std::string name = (fs::temp_directory_path() / "undertext-browser-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
}

void BrowserTest::TearDown() {
  if (!folder_.empty()) fs::remove_all(folder_);
}

Visit BrowserTest::open(const std::string& page, const std::string& view, const std::string& flags) {
  std::ofstream(folder_ / "report.html") << page;
  const std::string command =
      "timeout 90 " + browser_ +
      " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
      " --disable-component-update --disable-sync --enable-logging=stderr --v=0 --virtual-time-budget=5000"
      " --user-data-dir=" +
      (folder_ / "profile").string() + " " + flags + " --dump-dom 'file://" +
      (folder_ / "report.html").string() + view + "' >" + (folder_ / "dom").string() + " 2>" +
      (folder_ / "log").string();
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << content(folder_ / "log");
  Visit visit{content(folder_ / "dom"), {}};
  std::istringstream log(content(folder_ / "log"));
  for (std::string line; std::getline(log, line);)
    if (line.find("CONSOLE") != std::string::npos) visit.console.push_back(line);
  return visit;
}

int count(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), expression), {}));
}

// The body as the scripts built it, without the scripts.
std::string built(const Visit& visit) {
  const std::size_t start = visit.dom.find("<body>");
  return visit.dom.substr(start, visit.dom.find("<script", start) - start);
}

std::string without_charts(std::string page) {
  const std::size_t start = page.find("/*!\n * Chart.js");
  EXPECT_NE(start, std::string::npos);
  return page.erase(start, page.find("</script>", start) - start);
}

}  // namespace undertext
