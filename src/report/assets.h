// The files of the pages, carried inside the program (see assets.cmake).
#pragma once

#include <string_view>

namespace undertext::assets {

std::string_view frame_html();        // around every page, with {{names}} where the parts below go
std::string_view audit_html();        // the body of an audit's page
std::string_view experiments_html();  // the body of a page of experiments
std::string_view scores_html();       // what the scores mean, a part of both bodies
std::string_view style_css();
std::string_view audit_js();  // the scripts of assets/ for each page, in order
std::string_view experiments_js();
std::string_view chart_js();  // Chart.js, as Debian ships it

}  // namespace undertext::assets
