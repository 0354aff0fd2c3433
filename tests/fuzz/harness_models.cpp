// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "generator/matrix/fingerprint.h"
#include "generator/model/model.h"
#include "generator/model/survey.h"
#include "tests/fuzz/harness.h"
#include "tests/unit/model_fixtures.h"

namespace esc::fuzz {
namespace {

/// A matrix that keeps its invariants, in either type of elements, and is what a survey says of it.
void judge_matrix(const Weight& weight) {
  SparseMatrix wide;
  const bool accepted_in_double = is_accepted([&] {
    wide = read_weight(weight, {.element = ScalarType::f64});
    validate(wide);
  });
  const bool accepted = is_accepted([&] {
    const SparseMatrix matrix = read_weight(weight, {.element = ScalarType::f32});
    validate(matrix);
    expect(accepted_in_double, "a matrix that is read in float32 is refused in float64");
    expect(matrix.rows == wide.rows && matrix.columns == wide.columns && matrix.nonzeros() <= wide.nonzeros(),
           "a matrix that has more in float32 than in float64");
  });
  const bool surveyed = is_accepted([&] {
    const WeightSurvey survey = survey_weight(weight);
    expect(!accepted_in_double || survey.nonzeros == wide.nonzeros(),
           "a survey counts other non-zeros than the matrix has");
    expect(!accepted_in_double || survey.fingerprint.pattern == fingerprint(wide).pattern,
           "a survey sees another pattern than the matrix has");
    expect(!accepted_in_double || survey.nonfinite == 0, "a survey sees a value that is not finite and was read");
  });
  expect(surveyed || !accepted, "a matrix that can be read cannot be surveyed");
}

void judge_weights(const std::vector<Weight>& weights) {
  for (const Weight& weight : weights) {
    if (why_no_matrix(weight).empty()) {
      judge_matrix(weight);
    } else {
      expect(!is_accepted([&] { read_weight(weight, {}); }), "a weight that is no matrix is read as one");
    }
  }
}

bool judge_safetensors(std::string_view input) {
  return is_accepted([&] { judge_weights(safetensors_of(input)); });
}

bool judge_npz(std::string_view input) {
  return is_accepted([&] { judge_weights(npz_of(input)); });
}

constexpr std::string_view magic = "\x93NUMPY";

/// "data row col\n" and the arrays one after the other, as an archive of them.
std::string archive_of_arrays(std::string_view input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  std::istringstream names{std::string(input.substr(0, line))};
  input.remove_prefix(std::min(line + 1, input.size()));
  std::vector<ArchivedFile> files;
  for (std::string name; names >> name;) {
    const std::size_t next = std::min(input.find(magic, 1), input.size());
    files.push_back({name + ".npy", std::string(input.substr(0, next))});
    input.remove_prefix(next);
  }
  return archive_of(files);
}

bool judge_arrays(std::string_view input) { return judge_npz(archive_of_arrays(input)); }

std::string array(const std::string& type, const std::string& shape, const std::string& data) {
  return npy_bytes(npy_dictionary(type, false, shape), data);
}

/// The arrays of a sparse matrix of 4 x 6.
std::string scipy_arrays(const std::string& format, const std::string& names, const std::string& arrays) {
  return "format shape " + names + "\n" + array("|S3", "()", format) +
         array("<i8", "(2,)", raw_bytes<std::int64_t>({4, 6})) + arrays;
}

std::string written(const std::string& name) { return project_file("tests/data/models/" + name); }

const std::vector<std::string> words{"0",
                                     "-1",
                                     "[]",
                                     "4294967296",
                                     "18446744073709551615",
                                     "\"F16\"",
                                     "\"BF16\"",
                                     "\"F64\"",
                                     "\"I64\"",
                                     "\"U8\"",
                                     "_orig",
                                     "_mask",
                                     ".compressed",
                                     ".bitmask",
                                     ".shape",
                                     ".row_offsets",
                                     "../",
                                     "\"__metadata__\": {}",
                                     ", ",
                                     "}",
                                     "\xff\xff\xff\xff",
                                     std::string("\0\0\0\0", 4),
                                     "<f8",
                                     "<i4",
                                     "|S3"};

Harness harness(const char* kind, bool (*judge)(std::string_view), std::vector<std::string> seeds,
                std::size_t mutants) {
  return {.kind = kind, .judge = judge, .seeds = std::move(seeds), .words = words, .mutants = mutants};
}

}  // namespace

Harness safetensors_harness() {
  const std::string small = SafetensorsText()
                                .add("w", "F32", "[2, 3]", raw_bytes<float>({1, 0, 2, 0, 0, -3}))
                                .add("v", "BF16", "[1, 2, 2, 1]", raw_bytes<std::uint16_t>({0x3f80, 0, 0x8000, 1}))
                                .bytes();
  const std::string masked = SafetensorsText()
                                 .add("w_orig", "F16", "[1, 3]", raw_bytes<std::uint16_t>({1, 2, 3}))
                                 .add("w_mask", "BOOL", "[1, 3]", std::string("\1\0\1", 3))
                                 .bytes();
  const std::string bitmask = SafetensorsText()
                                  .add("w.shape", "I64", "[2]", raw_bytes<std::int64_t>({2, 3}))
                                  .add("w.compressed", "F32", "[3]", raw_bytes<float>({1, 2, 3}))
                                  .add("w.bitmask", "U8", "[2, 1]", "\x05\x04")
                                  .add("w.row_offsets", "I64", "[2]", raw_bytes<std::int64_t>({0, 2}))
                                  .bytes();
  const std::string two_four = SafetensorsText()
                                   .add("w.shape", "I64", "[2, 1]", raw_bytes<std::int64_t>({1, 8}))
                                   .add("w.compressed", "F64", "[1, 4]", raw_bytes<double>({1, 2, 3, 4}))
                                   .add("w.bitmask", "U8", "[1, 1]", "\x5a")
                                   .bytes();
  return harness("safetensors", judge_safetensors, {small, masked, bitmask, two_four, written("bitmask.safetensors")},
                 8000);
}

Harness npz_harness() {
  return harness("npz", judge_npz, {written("csr.npz"), written("coo_stored.npz"), written("arrays_deflated.npz")},
                 4000);
}

Harness scipy_harness() {
  const std::string four_values = raw_bytes<float>({1, -2, 3, 4});
  const std::string columns = raw_bytes<std::int32_t>({0, 5, 2, 3});
  return harness(
      "scipy", judge_arrays,
      {
          scipy_arrays("csr", "data indices indptr",
                       array("<f4", "(4,)", four_values) + array("<i4", "(4,)", columns) +
                           array("<i4", "(5,)", raw_bytes<std::int32_t>({0, 1, 1, 3, 4}))),
          scipy_arrays("csc", "data indices indptr",
                       array("<f8", "(2,)", raw_bytes<double>({1, 2})) +
                           array("<i8", "(2,)", raw_bytes<std::int64_t>({3, 1})) +
                           array("<i8", "(7,)", raw_bytes<std::int64_t>({0, 0, 1, 1, 1, 2, 2}))),
          scipy_arrays("bsr", "data indices indptr",
                       array("<f4", "(1, 2, 2)", four_values) + array("<i4", "(1,)", raw_bytes<std::int32_t>({2})) +
                           array("<i4", "(3,)", raw_bytes<std::int32_t>({0, 0, 1}))),
          scipy_arrays("coo", "data row col",
                       array("<f4", "(4,)", four_values) + array("<i4", "(4,)", raw_bytes<std::int32_t>({3, 0, 1, 2})) +
                           array("<i4", "(4,)", columns)),
          scipy_arrays("dia", "data offsets",
                       array("<f4", "(2, 2)", four_values) + array("<i4", "(2,)", raw_bytes<std::int32_t>({-1, 1}))),
          "up bias\n" + array("<f4", "(2, 2)", four_values) + array("<f2", "(2,)", raw_bytes<std::uint16_t>({1, 2})),
      },
      8000);
}

}  // namespace esc::fuzz
