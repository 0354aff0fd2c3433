#include "tuner/records/record_text.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tuner/records/record_json.h"

namespace esc::tuning {
namespace {

using nlohmann::json;

Record record_from(const json& line) {
  if (const int format = line.at("format"); format != record_format) {
    throw NotARecord{fmt::format("has format {}; this program reads format {}", format, record_format)};
  }
  const std::string kind = line.at("record");
  if (kind == "candidate") {
    CandidateRecord record = candidate_from(line);
    if (record.outcome == Outcome::ok && record.samples.empty()) {
      throw NotARecord{"is ok and has no samples"};
    }
    return record;
  }
  if (kind == "decision") {
    return decision_from(line);
  }
  throw NotARecord{fmt::format("has the unknown word '{}'", kind)};
}

}  // namespace

std::string print(const Record& record) {
  const json line = std::visit([](const auto& kind) { return to_json(kind); }, record);
  // The name of a file and the words of a driver need not be UTF-8.
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

Record parse_record(const std::string& line, const std::string& place) {
  std::string why = "is not JSON";
  try {
    return record_from(json::parse(line));
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

JournalText parse_journal(const std::string& text, const std::string& file) {
  JournalText journal;
  int number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', journal.whole_bytes)) {
    const std::string line = text.substr(journal.whole_bytes, end - journal.whole_bytes);
    journal.whole_bytes = end + 1;
    ++number;
    try {
      journal.records.push_back(parse_record(line, fmt::format("{}:{}", file, number)));
    } catch (const UserError& problem) {
      journal.damaged.emplace_back(problem.what());
    }
  }
  return journal;
}

std::vector<Record> read_records(const std::vector<std::string>& files) {
  std::vector<Record> records;
  for (const std::string& file : files) {
    JournalText journal = parse_journal(read_file(file), file);
    if (!journal.damaged.empty()) {
      throw UserError("", journal.damaged.front());
    }
    records.insert(records.end(), std::make_move_iterator(journal.records.begin()),
                   std::make_move_iterator(journal.records.end()));
  }
  return records;
}

}  // namespace esc::tuning
