#include "report/page_frame.h"

#include <map>

#include "base/error.h"
#include "report/assets.h"
#include "text/utf8.h"

namespace undertext {
namespace {

using nlohmann::json;

// Replaces each {{name}} of the template by its part; what is put in is not looked at again.
std::string filled(std::string_view page, const std::map<std::string_view, std::string_view>& parts) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = page.find("}}", open);
    UNDERTEXT_CHECK(close != std::string_view::npos);
    out += parts.at(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
}

}  // namespace

std::string shortened(const std::string& text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = 0;
  while (true) {
    const auto point = decode_utf8(text, end);
    const std::size_t next = end + (point ? point->bytes : 1);
    if (next > longest) break;
    end = next;
  }
  return text.substr(0, end) + "…";
}

json SharedTexts::index(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  const auto [found, fresh] = indices_.try_emplace(shortened(*text, longest_), list_.size());
  if (fresh) list_.push_back(found->first);
  return found->second;
}

std::string script_safe(const json& data) {
  const std::string plain = data.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain) {
    switch (c) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string framed_page(std::string_view title, std::string_view body, std::string_view scripts,
                        const std::function<std::string(std::size_t)>& data) {
  for (const std::string_view script : {scripts, assets::chart_js()}) {
    UNDERTEXT_CHECK(script.find("</script") == std::string_view::npos);
    UNDERTEXT_CHECK(script.find("<!--") == std::string_view::npos);
  }
  const std::string whole_body = filled(body, {{"scores", assets::scores_html()}});
  const std::size_t frame = assets::frame_html().size() + title.size() + whole_body.size() +
                            assets::style_css().size() + scripts.size() + assets::chart_js().size();
  UNDERTEXT_CHECK(frame < kLargestPage);
  const std::string text = data(kLargestPage - frame);
  return filled(assets::frame_html(), {{"title", title},
                                       {"style", assets::style_css()},
                                       {"body", whole_body},
                                       {"data", text},
                                       {"chart", assets::chart_js()},
                                       {"page", scripts}});
}

}  // namespace undertext
