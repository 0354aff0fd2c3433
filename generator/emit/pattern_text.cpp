// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/pattern_text.h"

#include <fmt/format.h>

#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"

namespace esc {
namespace {

std::string digest_table(const std::vector<transformer::PatternDigest>& digests) {
  std::string table =
      "// Hash and non-zeros of each group of row tiles.\nconstexpr PatternDigest layer_pattern[] = {\n";
  for (const transformer::PatternDigest& digest : digests) {
    table += fmt::format("    {{{:#018x}u, {}}},\n", digest.hash, digest.nonzeros);
  }
  return table +
         "};\nstatic_assert(sizeof layer_pattern / sizeof layer_pattern[0] == pattern_groups(layer_format.shape), "
         "\"one digest per group\");";
}

/// The template with those of the holes that it has.
std::string filled(std::string_view text, const std::map<std::string, std::string>& holes) {
  std::map<std::string, std::string> own;
  for (const auto& [name, value] : holes) {
    if (text.find("@@" + name + "@@") != text.npos) {
      own.emplace(name, value);
    }
  }
  return fill(text, own);
}

const char* const rule_of_one = R"(The pattern of A must be the one that the kernel
 * was made for; values are free, but a value that is zero where the pattern has a non-zero is a difference.)";

const char* const rule_of_any = R"(The pattern of A may be any that needs no
 * more bytes, and none of whose packed tiles (16 rows, 256 columns) needs more room than the kernel has; that is so for
 * the one it was made for. What is behind the packed matrix in its bytes becomes zero.)";

const char* const functions_of_any = R"(
/* Bytes that the packed matrix of A needs, which may be more or less than {0}_packed_bytes(); arguments as above. 0 where
 * they are bad or the kernel has no room for one of the packed tiles. */
size_t {0}_bytes_for(const {1}* a, int64_t lda);
size_t {0}_bytes_for_csr(const int32_t* offsets, const int32_t* columns, const {1}* values);

/* Packs A into packed, `bytes` bytes of the caller's, aligned to 8; what is after the packed matrix becomes zero.
 * {0}_spmm reads its device copy like any other. Returns as {0}_transform does; 2 also when there are fewer bytes than
 * {0}_bytes_for says. The header of a packed matrix has a digest of its pattern, so that {0}_load takes files of the
 * one alone that the kernel was made for. */
int {0}_transform_into(const {1}* a, int64_t lda, void* packed, size_t bytes);
int {0}_transform_csr_into(const int32_t* offsets, const int32_t* columns, const {1}* values, void* packed, size_t bytes);
)";

}  // namespace

std::map<std::string, std::string> pattern_holes(const TakenPatterns& patterns,
                                                 const std::map<std::string, std::string>& others) {
  if (patterns.kernel_shape.empty()) {
    return {{"PATTERN", digest_table(patterns.digests)},
            {"PATTERN_STATUS", "pattern_differs"},
            {"PACK_LAYER", filled(bound_pattern_template, others)},
            {"MORE_FUNCTIONS", ""}};
  }
  return {{"PATTERN", fmt::format("// What the kernel has room for: packed tiles of any matrix of this shape.\n"
                                  "constexpr auto kernel_shape = {};",
                                  patterns.kernel_shape)},
          {"PATTERN_STATUS", "does_not_fit"},
          {"PACK_LAYER", filled(any_pattern_template, others)},
          {"MORE_FUNCTIONS", filled(any_pattern_functions_template, others)}};
}

std::map<std::string, std::string> header_pattern_holes(bool any_pattern, const std::string& name,
                                                        const std::string& argument) {
  return {{"PATTERN_RULE", any_pattern ? rule_of_any : rule_of_one},
          {"PATTERN_REFUSED", any_pattern ? "does not fit" : "differs"},
          {"MORE_FUNCTIONS", any_pattern ? fmt::format(fmt::runtime(functions_of_any), name, argument) : ""},
          {"HOST_FUNCTIONS", any_pattern ? "functions above" : "three functions above"},
          {"FAILED", any_pattern ? "failed; empty when it did not" : "did not return 0; empty when it did"}};
}

}  // namespace esc
