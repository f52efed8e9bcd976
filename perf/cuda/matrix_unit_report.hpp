// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables that are printed as Markdown and written as JSON.
#ifndef INVAR_PERF_CUDA_MATRIX_UNIT_REPORT_HPP
#define INVAR_PERF_CUDA_MATRIX_UNIT_REPORT_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace invar::perf {

/// A count, a measured number, or words. NaN stands for what was not measured.
using Cell = std::variant<std::int64_t, double, std::string>;

inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c >= 0 && c < ' ' ? ' ' : c;
  }
  return result + '"';
}

/// In Markdown.
inline std::string shown(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return std::to_string(*count);
  const double value = std::get<double>(cell);
  if (std::isnan(value)) return "";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, value < 10 ? "%.2f" : "%.1f", value);
  return buffer;
}
inline std::string as_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return quoted(*text);
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return std::to_string(*count);
  const double value = std::get<double>(cell);
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.7g", value);
  return buffer;
}

class Table {
 public:
  /// \param key  the table's name in JSON
  /// \param columns  the name of each in JSON and its heading in Markdown; without a heading it is in JSON only
  Table(std::string key, std::string title, std::vector<std::pair<std::string, std::string>> columns)
      : key_(std::move(key)), title_(std::move(title)), columns_(std::move(columns)) {}

  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

  void markdown(std::ostream& out) const {
    out << "\n## " << title_ << "\n\n";
    const auto line = [&](const auto& text) {
      out << '|';
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (!columns_[i].second.empty()) out << ' ' << text(i) << " |";
      out << '\n';
    };
    line([&](std::size_t i) { return columns_[i].second; });
    line([](std::size_t) { return "---"; });
    for (const auto& row : rows_) line([&](std::size_t i) { return shown(row[i]); });
    out.flush();
  }

  void json(std::ostream& out) const {
    out << "  " << quoted(key_) << ": [";
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      out << (r == 0 ? "\n    {" : ",\n    {");
      for (std::size_t i = 0; i < columns_.size(); ++i)
        out << (i == 0 ? "" : ", ") << quoted(columns_[i].first) << ": " << as_json(rows_[r][i]);
      out << '}';
    }
    out << "\n  ]";
  }

 private:
  std::string key_, title_;
  std::vector<std::pair<std::string, std::string>> columns_;
  std::vector<std::vector<Cell>> rows_;
};

inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? std::nan("") : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace invar::perf

#endif
