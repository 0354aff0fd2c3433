// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/junit_report.h"

#include <fmt/format.h>

#include "generator/support/escaped.h"

namespace esc::tuning {
namespace {

/// A test case, and why it is none that passed.
struct TestCase {
  std::string group;
  std::string name;
  double microseconds = 0;
  std::string failure = {};
  std::string skipped = {};
};

std::string element(const char* name, const std::string& message) {
  return message.empty() ? "" : fmt::format("      <{} message=\"{}\"/>\n", name, escaped(message));
}

std::string xml_of(const TestCase& one) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\">\n{}{}    </testcase>\n",
                     escaped(one.group), escaped(one.name), one.microseconds * 1e-6, element("failure", one.failure),
                     element("skipped", one.skipped));
}

std::string suite(const std::vector<TestCase>& cases) {
  std::size_t failures = 0;
  std::size_t skipped = 0;
  std::string text;
  for (const TestCase& one : cases) {
    failures += one.failure.empty() ? 0 : 1;
    skipped += one.skipped.empty() ? 0 : 1;
    text += xml_of(one);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"esctune\" tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\">\n{}"
      "  </testsuite>\n</testsuites>\n",
      cases.size(), failures, skipped, text);
}

TestCase test_case(const ItemSummary& item) {
  return {.group = print(item.item.device), .name = label(item), .microseconds = item.microseconds.value_or(0)};
}

}  // namespace

std::string junit_report(const std::vector<ItemSummary>& items) {
  std::vector<TestCase> cases;
  for (const ItemSummary& item : items) {
    cases.push_back(test_case(item));
    cases.back().failure = item.microseconds ? "" : "no kernel was right";
  }
  return suite(cases);
}

std::string junit_report(const JournalComparison& comparison) {
  std::vector<TestCase> cases;
  for (const ItemChange& change : comparison.changes) {
    cases.push_back(test_case(change.after));
    if (change.verdict != Verdict::worse) {
      continue;
    }
    cases.back().failure = change.after.microseconds && change.before.microseconds
                               ? fmt::format("WORSE: {:.2f} us, {:.3f} times the {:.2f} us of before",
                                             *change.after.microseconds, change.ratio, *change.before.microseconds)
                               : "WORSE: no kernel is right any more";
  }
  for (const std::string& name : comparison.only_before) {
    cases.push_back({.group = "only before", .name = name, .skipped = "the newer records do not have it"});
  }
  return suite(cases);
}

}  // namespace esc::tuning
