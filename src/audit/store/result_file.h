// The file under a ResultStore: its format, and what is checked before it is trusted.
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>

#include "audit/store/checksum.h"
#include "audit/store/sqlite.h"

namespace undertext {

inline constexpr std::chrono::seconds kResultPatience{60};  // for other processes

// Makes the file where it is missing or empty. Processes must take turns in this.
sqlite::Database open_results_to_write(const std::filesystem::path& file);
sqlite::Database open_results_to_read(const std::filesystem::path& file);

// UserError unless the pages hang together and every row has its checksum.
void check_results(sqlite::Database& database);

// Inserts a row and, in its last column, the checksum of the columns before.
template <typename... Values>
void insert_row(sqlite::Database& database, std::string_view sql, const Values&... values) {
  Checksum sum;
  (sum.add(values), ...);
  database.run(sql, values..., sum.value());
}

}  // namespace undertext
