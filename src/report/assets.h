// The page's own files, carried inside the program (see assets.cmake).
#pragma once

#include <string_view>

namespace undertext::assets {

std::string_view page_html();  // the template, with {{names}} where the parts below go
std::string_view style_css();
std::string_view page_js();   // the scripts of assets/, in order
std::string_view chart_js();  // Chart.js, as Debian ships it

}  // namespace undertext::assets
