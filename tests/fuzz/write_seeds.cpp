// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of each kind of input as files FOLDER/KIND/NUMBER, for the programs of libFuzzer, and the kinds to
// standard output.

#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include "generator/support/file.h"
#include "tests/fuzz/harness.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "Usage: write_seeds FOLDER\n";
    return 2;
  }
  try {
    for (const esc::fuzz::Harness& harness : esc::fuzz::harnesses()) {
      const std::filesystem::path folder = std::filesystem::path(arguments[1]) / harness.kind;
      std::filesystem::create_directories(folder);
      std::size_t number = 0;
      for (const auto& seeds : {harness.seeds, harness.refused}) {
        for (const std::string& seed : seeds) {
          esc::write_file_whole(folder / ("seed_" + std::to_string(number++)), seed);
        }
      }
      std::cout << harness.kind << '\n';
    }
  } catch (const std::exception& problem) {
    std::cerr << "write_seeds: " << problem.what() << '\n';
    return 2;
  }
}
