// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/strict_json.h"
#include "tuner/records/record_json.h"

namespace esc::tuning {
namespace {

using nlohmann::json;

/// Every header begins so, whatever the format.
constexpr std::string_view beginning_of_header = R"({"journal":"esctune","format":)";

/// An item that can have been measured.
void check_possible(const WorkItem& item) {
  const LayerFacts& layer = item.layer;
  if (std::min({layer.rows, layer.columns, layer.nonzeros, item.bcol}) < 1) {
    throw NotARecord{"has a number of rows, columns, non-zeros or columns of B that is 0"};
  }
  if (item.nest.item_columns > 1 && item.bcol > std::numeric_limits<std::int32_t>::max() / item.nest.item_columns) {
    throw NotARecord{"has more columns of C than there can be"};
  }
  if ((layer.nonzeros - 1) / layer.rows >= layer.columns) {
    throw NotARecord{"has more non-zeros than elements"};
  }
}

void check_possible(const CandidateRecord& record) {
  if (record.outcome == Outcome::ok && record.samples.empty()) {
    throw NotARecord{"is ok and has no samples"};
  }
  if (std::ranges::any_of(record.samples, [](double sample) { return !(sample > 0) || std::isinf(sample); })) {
    throw NotARecord{"has a sample that is no time"};
  }
}

using Line = std::variant<Record, RatesRecord>;

Line line_from(const json& line) {
  const int expected = line.contains("nest") ? record_format_of_nests : record_format;
  if (const json& format = line.at("format"); format != expected || !format.is_number_integer()) {
    throw NotARecord{fmt::format("has format {}; this program reads format {}", format.dump(), expected)};
  }
  const std::string kind = line.at("record");
  if (kind == "candidate") {
    const CandidateRecord record = candidate_from(line);
    check_possible(record.item);
    check_possible(record);
    return Record(record);
  }
  if (kind == "decision") {
    const DecisionRecord record = decision_from(line);
    check_possible(record.item);
    return Record(record);
  }
  if (kind == "rates") {
    return rates_from(line);
  }
  throw NotARecord{fmt::format("has the unknown word '{}'", kind)};
}

Line parse_line(const std::string& line, const std::string& place) {
  std::string why = "is not JSON";
  try {
    return line_from(parse_strict_json(line, ""));
  } catch (const json::parse_error&) {
  } catch (const json::exception&) {
    why = "lacks a field of a record, or has one of another type";
  } catch (const NotARecord& problem) {
    why = problem.why;
  } catch (const UserError& problem) {
    why = fmt::format("{} {}", problem.place(), problem.rule());
  }
  throw UserError(place, why, "remove the line, or merge the file with --skip-damaged");
}

/// The name of a file and the words of a driver need not be UTF-8.
std::string text_of(const json& line) { return line.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string journal_header() { return fmt::format("{}{}}}", beginning_of_header, record_format); }

bool JournalText::is_journal() const {
  const bool is_empty = records.empty() && rates.empty() && damaged.empty();
  return has_header || !records.empty() || !rates.empty() || (is_empty && journal_header().starts_with(unfinished));
}

std::string print(const Record& record) {
  return text_of(std::visit([](const auto& kind) { return to_json(kind); }, record));
}

std::string print(const RatesRecord& record) { return text_of(to_json(record)); }

Record parse_record(const std::string& line, const std::string& place) {
  Line parsed = parse_line(line, place);
  if (auto* const record = std::get_if<Record>(&parsed)) {
    return std::move(*record);
  }
  throw UserError(place, "has the rates of a device, and a measurement is needed", "remove the line");
}

bool may_be_unfinished_record(const std::string& text) {
  // Keys are sorted, so that the three kinds of records begin with these.
  const std::array<std::string, 4> beginnings{R"({"algorithm":")", R"({"bcol":)", R"({"device":")", journal_header()};
  const bool is_beginning = std::ranges::any_of(beginnings, [&](const std::string& beginning) {
    return text.starts_with(beginning) || beginning.starts_with(text);
  });
  return is_beginning || text.front() == '\0';
}

JournalText parse_journal(const std::string& text, const std::string& file) {
  JournalText journal;
  int number = 0;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line == journal_header()) {
      journal.has_header = true;
      continue;
    }
    try {
      if (line.starts_with(beginning_of_header)) {
        throw UserError(fmt::format("{}:{}", file, number), "says that this is a journal of another format",
                        fmt::format("this program reads format {}", record_format));
      }
      Line parsed = parse_line(line, fmt::format("{}:{}", file, number));
      if (auto* const record = std::get_if<Record>(&parsed)) {
        journal.records.push_back(std::move(*record));
      } else {
        journal.rates.push_back(std::get<RatesRecord>(std::move(parsed)));
      }
    } catch (const UserError& problem) {
      journal.damaged.emplace_back(problem.what());
    }
  }
  journal.unfinished = text.substr(begin);
  return journal;
}

std::vector<Record> read_records(const std::vector<std::string>& files) {
  std::vector<Record> records;
  for (const std::string& file : files) {
    JournalText journal = parse_journal(read_file(file, most_journal_bytes), file);
    if (!journal.damaged.empty()) {
      throw UserError("", journal.damaged.front());
    }
    records.insert(records.end(), std::make_move_iterator(journal.records.begin()),
                   std::make_move_iterator(journal.records.end()));
  }
  return records;
}

std::vector<RatesRecord> read_rates(const std::string& file) {
  JournalText journal = parse_journal(read_file(file, most_journal_bytes), file);
  if (!journal.damaged.empty()) {
    throw UserError("", journal.damaged.front());
  }
  return std::move(journal.rates);
}

}  // namespace esc::tuning
