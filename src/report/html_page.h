// The report as one self-contained page: no network, no file beside it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/page_frame.h"

namespace undertext {

// UserError when the results are not whole (see report/results.h). Texts go in as escaped JSON and reach the
// page as text only, whatever they hold. Samples are cut to keep the page below kLargestPage where they alone
// would exceed it; the page says so.
std::string html_page(const nlohmann::json& document);

}  // namespace undertext
