// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/workshop.h"

namespace esc::cli {

/// A workshop with a matrix, in which bundles with epilogues are made.
class EpilogueWorkshop : public Workshop {
 protected:
  static constexpr const char* panel_schedule = "panel:ufi=2,columns=8,vector=2,groups=4,warps=2,panels=4,stage=on";
  static constexpr const char* rows_schedule = "rows:columns=8";
  static constexpr const char* everything = "scale+bias+bias_column+residual+zero_point+gelu+gelu_tanh+silu+clamp+relu";

  void SetUp() override { write_matrix(); }

  /// A command that makes out/a from a.mtx with this epilogue.
  static std::vector<std::string> line(const std::string& epilogue, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out", "--epilogue", epilogue});
    return more;
  }
  void generate(const std::string& epilogue, const std::vector<std::string>& more = {"--no-verify"}) const {
    const ProcessResult generated = escgen(line(epilogue, more));
    ASSERT_EQ(generated.status, 0) << generated.errors;
  }

  void expect_verified(const std::string& bundle = "out/a") const {
    const ProcessResult verified = escgen({"verify", bundle});
    EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
    EXPECT_THAT(verified.output, ::testing::StartsWith("passed by emulation: "));
  }

  /// What is between C and n in the declaration of the product.
  std::string operands(const std::string& bundle = "out/a") const {
    const std::string header = read(bundle + "/a.h");
    std::istringstream words(header.substr(header.find("cudaError_t a_spmm(const void* packed")));
    std::string declaration;
    for (std::string word; words >> word && !declaration.ends_with(";");) {
      declaration += (declaration.empty() ? "" : " ") + word;
    }
    const std::string before = "int64_t ldc, ";
    const std::size_t from = declaration.find(before) + before.size();
    return declaration.substr(from, declaration.find("int32_t n") - from);
  }
};

}  // namespace esc::cli
