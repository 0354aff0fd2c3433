// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/workshop.h"

#include <algorithm>
#include <fstream>

#include "generator/support/file.h"
#include "tests/support/run_size.h"

namespace esc::cli {

namespace fs = std::filesystem;

ProcessResult Workshop::escgen(std::vector<std::string> arguments, ProcessOptions options) const {
  const auto stands = [&](const std::string& word) { return std::ranges::find(arguments, word) != arguments.end(); };
  if (!arguments.empty() && arguments.front() == "verify" && !stands("--seed")) {
    arguments.insert(arguments.end(), {"--seed", std::to_string(tests::seed_of_the_run())});
  }
  arguments.insert(arguments.begin(), ESCGEN);
  if (options.folder.empty()) {
    options.folder = folder();
  }
  options.errors_apart = true;
  return run_process(arguments, options);
}

ProcessResult Workshop::shell(const std::string& command) const {
  return run_process({"bash", "-c", command},
                     {.folder = folder(), .environment = {"ESCGEN=" ESCGEN}, .errors_apart = true});
}

void Workshop::write(const std::string& name, std::string_view content) const {
  std::ofstream(path(name), std::ios::binary) << content;
}

std::string Workshop::read(const std::string& name) const { return read_file(path(name)); }

void Workshop::replace(const std::string& name, const std::string& from, const std::string& to, bool every) const {
  std::string text = read(name);
  std::size_t found = 0;
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    ++found;
  }
  ASSERT_TRUE(every ? found > 0 : found == 1) << from << " stands " << found << " times in " << name;
  write(name, text);
}

Snapshot Workshop::snapshot(const std::string& name) const {
  Snapshot found;
  std::error_code ignored;
  if (!fs::exists(path(name), ignored)) {
    return found;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path(name))) {
    found[entry.path().lexically_relative(path(name))] = entry.is_regular_file() ? read_file(entry.path()) : "folder";
  }
  return found;
}

void Workshop::write_matrix(const std::string& name) const {
  const ProcessResult sampled =
      escgen({"sample", "-o", name, "--rows", "13", "--cols", "17", "--sparsity", "0.6", "--seed", "3"});
  ASSERT_EQ(sampled.status, 0) << sampled.errors;
}

void Workshop::make_bundle(const std::vector<std::string>& more) const {
  write_matrix();
  std::vector<std::string> arguments{"generate", "a.mtx", "--bcol", "40", "-o", "out"};
  if (std::find(more.begin(), more.end(), "--schedule") == more.end()) {
    arguments.insert(arguments.end(), {"--schedule", "4-7-1-32"});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProcessResult generated = escgen(arguments);
  ASSERT_EQ(generated.status, 0) << generated.errors;
}

void Workshop::expect_refusal(const std::vector<std::string>& arguments, const std::string& words, int status) const {
  std::string line;
  for (const std::string& argument : arguments) {
    line += " " + argument;
  }
  SCOPED_TRACE("escgen" + line);
  const Snapshot before = snapshot(".");
  const ProcessResult refused = escgen(arguments);
  EXPECT_EQ(refused.status, status);
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.errors, ::testing::StartsWith("escgen: "));
  EXPECT_THAT(refused.errors, ::testing::HasSubstr(words));
  EXPECT_EQ(refused.errors.find('\n') + 1, refused.errors.size()) << refused.errors;
  EXPECT_TRUE(snapshot(".") == before) << "the workshop is not as it was";
}

std::string unbroken(std::string output) {
  constexpr std::string_view broken = "\n           ";
  for (std::size_t at = output.find(broken); at != output.npos; at = output.find(broken, at)) {
    const std::size_t end = std::min(output.find_first_not_of(' ', at + 1), output.size());
    output.replace(at, end - at, " ");
  }
  return output;
}

nlohmann::json parse_json(const std::string& text) {
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << text;
  return parsed;
}

std::vector<std::string> keys(const nlohmann::json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) {
    names.push_back(key);
  }
  return names;
}

}  // namespace esc::cli
