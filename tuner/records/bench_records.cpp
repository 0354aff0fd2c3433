// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/bench_records.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "generator/support/error.h"

namespace esc::tuning {
namespace {

using nlohmann::json;

/// What the lines of a journal say. Those of a matrix are after those of its schedules.
struct BenchLines {
  CandidateRecord head;                        ///< what all that follow have in common
  std::map<std::string, LayerFacts> matrices;  ///< by file
  std::vector<CandidateRecord> times;          ///< with no more of a layer than its file
};

void read_head(const json& line, CandidateRecord& head) {
  head.item.device = {.capability = line.at("architecture"),
                      .multiprocessors = line.at("multiprocessors"),
                      .l2_bytes = line.at("l2_bytes")};
  head.item.dtype = line.at("dtype");
  head.environment = {
      .tool = line.at("esc"), .toolkit = line.at("nvrtc"), .device_name = line.at("device"), .driver = {}};
}

void read_time(const json& line, const json& name, const json& microseconds, BenchLines& lines) {
  if (!microseconds.is_number()) {
    return;
  }
  CandidateRecord record = lines.head;
  record.item.layer.file = line.at("matrix");
  record.item.bcol = line.at("bcol");
  record.candidate = name;
  record.samples = {microseconds.get<double>()};
  lines.times.push_back(std::move(record));
}

/// Whether the line is of a kind that esc-bench writes. Throws json::exception for one that lacks something.
bool read_line(const json& line, BenchLines& lines) {
  const std::string kind = line.at("record");
  if (kind == "device") {
    read_head(line, lines.head);
  } else if (kind == "pair") {
    const std::string file = line.at("matrix");
    lines.matrices[file] = {.file = file,
                            .pattern = file,
                            .rows = line.at("rows"),
                            .columns = line.at("columns"),
                            .nonzeros = line.at("nonzeros")};
  } else if (kind == "candidate") {
    read_time(line, line.at("schedule"), line.at("plain_us"), lines);
  } else if (kind == "peer") {
    read_time(line, line.at("peer"), line.at("us"), lines);
  } else {
    return false;
  }
  return true;
}

bool can_read_line(std::string_view line, BenchLines& lines) {
  try {
    return read_line(json::parse(line), lines);
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace

bool is_bench_journal(std::string_view text) { return text.starts_with(R"({"architecture":)"); }

BenchRecords bench_records(std::string_view text, const std::string& file) {
  BenchLines lines;
  int number = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    ++number;
    if (!can_read_line(text.substr(0, end), lines)) {
      throw UserError(fmt::format("{}:{}", file, number), "is no record of esc-bench",
                      "give a journal as esc-bench wrote it");
    }
    text.remove_prefix(end + 1);
  }
  BenchRecords journal;
  for (CandidateRecord& record : lines.times) {
    if (const auto matrix = lines.matrices.find(record.item.layer.file); matrix != lines.matrices.end()) {
      record.item.layer = matrix->second;
      journal.records.emplace_back(std::move(record));
    } else {
      ++journal.of_unknown_matrices;
    }
  }
  return journal;
}

}  // namespace esc::tuning
