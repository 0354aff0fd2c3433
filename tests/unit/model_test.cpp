// SPDX-License-Identifier: Apache-2.0
// Models that their own libraries have written, and small ones made here: which weights they have, and which matrices
// those are.

#include "generator/model/model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>

#include "generator/matrix/fingerprint.h"
#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/statistics.h"
#include "generator/model/assemble_weights.h"
#include "generator/model/layer_file.h"
#include "generator/model/survey.h"
#include "generator/model/tensor_name.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tests/unit/model_fixtures.h"

namespace esc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string written(const std::string& name) { return (written_models / name).string(); }

SparseMatrix transposed(const SparseMatrix& matrix) {
  std::vector<double> dense(static_cast<std::size_t>(matrix.rows * matrix.columns), 0);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t at = matrix.offsets[static_cast<std::size_t>(row)];
         at < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++at) {
      dense[static_cast<std::size_t>(matrix.column_of[static_cast<std::size_t>(at)] * matrix.rows + row)] =
          matrix.values[static_cast<std::size_t>(at)];
    }
  }
  return matrix_of(matrix.columns, matrix.rows, dense);
}

/// The same pattern, whatever its values.
bool has_pattern(const SparseMatrix& one, const SparseMatrix& other) {
  return fingerprint(one).pattern == fingerprint(other).pattern;
}

std::vector<std::string> names_of(const std::vector<Weight>& weights) {
  std::vector<std::string> names;
  for (const Weight& weight : weights) {
    names.push_back(weight.name);
  }
  return names;
}

TEST(WrittenModels, TensorsOfEveryFloatTypeAreTheSameMatrix) {
  const SparseMatrix dense = read_matrix(written("dense.npy"));
  for (const char* name : {"up_proj.weight", "gate_proj.weight", "head.weight"}) {
    EXPECT_EQ(read_layer(written("layers.safetensors:") + name), dense) << name;
  }
  EXPECT_EQ(read_layer(written("layers.safetensors:down_proj.weight")), transposed(dense));
  SparseMatrix wide = dense;
  wide.element = ScalarType::f64;
  EXPECT_EQ(read_layer(written("layers.safetensors:head.weight"), {.element = ScalarType::f64}), wide);
}

TEST(WrittenModels, SayWhatTheyHave) {
  const Model model = open_model(written("layers.safetensors"));
  EXPECT_THAT(names_of(model.weights), ElementsAre("conv.weight", "down_proj.weight", "gate_proj.weight", "head.weight",
                                                   "position_ids", "query.weight", "up_proj.bias", "up_proj.weight"));
  EXPECT_STREQ(find_weight(model, "gate_proj.weight").type->name, "BF16");
  EXPECT_THAT(find_weight(model, "conv.weight").shape, ElementsAre(6, 4, 3, 3));
  EXPECT_EQ(find_weight(model, "query.weight").form, WeightForm::masked);
  EXPECT_THAT(why_no_matrix(find_weight(model, "up_proj.bias")), HasSubstr("1 dimensions"));
  EXPECT_THAT(why_no_matrix(find_weight(model, "position_ids")), HasSubstr("type I64"));
  EXPECT_THAT(read_layer_shape(written("layers.safetensors:conv.weight")), ElementsAre(6, 4, 3, 3));
  EXPECT_THAT(read_layer_shape(written("layers.safetensors:head.weight")), IsEmpty());
  EXPECT_EQ(stored_type(written("layers.safetensors:down_proj.weight")), ScalarType::f16);
  EXPECT_EQ(stored_type(written("layers.safetensors:gate_proj.weight")), ScalarType::bf16);
  EXPECT_EQ(stored_type(written("layers.safetensors:head.weight")), ScalarType::f64);
  EXPECT_EQ(stored_type(written("layers.safetensors:position_ids")), std::nullopt);
  EXPECT_EQ(stored_type(written("dense.npy")), ScalarType::f32);
  EXPECT_EQ(stored_type(written("two_four.npy")), ScalarType::f16);
}

TEST(WrittenModels, MasksTakeValuesAway) {
  const SparseMatrix masked = read_layer(written("layers.safetensors:query.weight"));
  EXPECT_TRUE(has_pattern(masked, read_matrix(written("dense.npy"))));
  EXPECT_NE(masked, read_matrix(written("dense.npy")));
}

TEST(WrittenModels, BitmasksAreMatrices) {
  const SparseMatrix dense = read_matrix(written("dense.npy"));
  EXPECT_EQ(read_layer(written("bitmask.safetensors:up_proj.weight")), dense);
  const SparseMatrix early = read_layer(written("bitmask.safetensors:early.weight"));
  EXPECT_EQ(early.columns, 37);
  for (std::int64_t row = 0; row < early.rows; ++row) {
    EXPECT_LE(early.row_length(row), dense.row_length(row));
  }
  const SparseMatrix two_four = read_layer(written("bitmask.safetensors:down_proj.weight"));
  EXPECT_EQ(two_four, read_matrix(written("two_four.npy")));
  EXPECT_EQ(two_four.nonzeros(), 99) << "a zero that is kept among the two of four is none of the matrix";
}

TEST(WrittenModels, ShardsAreOneModel) {
  const SparseMatrix dense = read_matrix(written("dense.npy"));
  for (const std::string name : {"model.safetensors.index.json", ""}) {
    EXPECT_THAT(names_of(open_model(written(name)).weights), ElementsAre("a.weight", "b.weight"));
  }
  EXPECT_EQ(read_layer(written("model.safetensors.index.json:a.weight")), dense);
  EXPECT_EQ(read_layer(written("model-00001-of-00002.safetensors:a.weight")), dense);
  EXPECT_EQ(read_layer(written("model-00001-of-00002.safetensors")), dense) << "the one matrix of a file needs no name";
  EXPECT_NE(read_layer(written("model.safetensors.index.json:b.weight")), dense);
}

TEST(WrittenModels, SciPysFormatsAreTheSameMatrix) {
  const SparseMatrix dense = read_matrix(written("dense.npy"));
  for (const std::string form : {"csr", "csc", "coo", "bsr", "dia"}) {
    EXPECT_EQ(read_layer(written(form + ".npz")), dense) << form;
    EXPECT_EQ(read_layer(written(form + "_stored.npz")), dense) << form;
    EXPECT_EQ(name_of(open_model(written(form + ".npz")).weights.front().form), form);
  }
  EXPECT_EQ(read_layer(written("blocks.npz")), dense);
}

TEST(WrittenModels, ArraysOfNumPyAreTensors) {
  const SparseMatrix dense = read_matrix(written("dense.npy"));
  for (const char* name :
       {"arrays.npz:up", "arrays.npz:fortran", "arrays_deflated.npz:up", "arrays_deflated.npz:half"}) {
    EXPECT_EQ(read_layer(written(name)), dense) << name;
  }
}

/// What `survey_weight` says must be what the matrix in its own type says of itself.
void expect_survey(const Weight& weight) {
  SCOPED_TRACE(weight.place());
  const StoredElement element = *weight.type->element;
  const ScalarType type = element == StoredElement::float16    ? ScalarType::f16
                          : element == StoredElement::bfloat16 ? ScalarType::bf16
                          : element == StoredElement::float32  ? ScalarType::f32
                                                               : ScalarType::f64;
  SparseMatrix matrix =
      read_weight(weight, {.allow_nonfinite = true, .element = type == ScalarType::f32 ? type : ScalarType::f64});
  round_values(matrix, type);
  const WeightSurvey survey = survey_weight(weight);
  const LengthStatistics lengths = row_statistics(matrix);
  EXPECT_EQ(survey.nonzeros, matrix.nonzeros());
  EXPECT_EQ(survey.shortest_row, lengths.shortest);
  EXPECT_EQ(survey.longest_row, lengths.longest);
  EXPECT_EQ(survey.fingerprint, fingerprint(matrix));
}

TEST(Survey, SaysWhatTheMatricesSay) {
  std::size_t surveyed = 0;
  for (const std::string file : {"layers.safetensors", "bitmask.safetensors", "model.safetensors.index.json", "csc.npz",
                                 "blocks.npz", "arrays.npz", "arrays_deflated.npz"}) {
    const Model model = open_model(written(file));
    for (const Weight& weight : model.weights) {
      if (why_no_matrix(weight).empty()) {
        ++surveyed;
        expect_survey(weight);
      }
    }
  }
  EXPECT_EQ(surveyed, 17U);
}

/// Sizes that end inside, at and after a word of bits and a chunk of elements.
TEST(Survey, TakesMatricesOfAnySize) {
  std::mt19937 random(7);
  for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, 63}, {64, 64}, {3, 65}, {129, 257}, {1, 40000}, {40000, 1}, {32768, 2}, {200, 333}}) {
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    for (float& value : values) {
      value = random() % 3 != 0 ? (random() % 2 != 0 ? 0.0F : -0.0F) : static_cast<float>(random() % 100);
    }
    const std::string bytes = SafetensorsText()
                                  .add("w", "F32", "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]",
                                       raw_bytes<float>(values))
                                  .bytes();
    expect_survey(safetensors_of(bytes).front());
  }
}

TEST(Survey, CountsValuesThatAreNotFinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Weight> weights =
      safetensors_of(SafetensorsText()
                         .add("a", "F32", "[1, 4]", raw_bytes<float>({1, infinity, 0, std::nanf("")}))
                         .add("b", "BF16", "[1, 3]", raw_bytes<std::uint16_t>({0x7f80, 0x3f80, 0x8000}))
                         .add("c", "F16", "[1, 3]", raw_bytes<std::uint16_t>({0x7c00, 0xfc01, 0x7bff}))
                         .add("d", "F64", "[1, 2]", raw_bytes<double>({-infinity, 1e300}))
                         .bytes());
  EXPECT_EQ(survey_weight(weights[0]).nonfinite, 2);
  EXPECT_EQ(survey_weight(weights[1]).nonfinite, 1);
  EXPECT_EQ(survey_weight(weights[1]).nonzeros, 2);
  EXPECT_EQ(survey_weight(weights[2]).nonfinite, 2);
  EXPECT_EQ(survey_weight(weights[3]).nonfinite, 1);
}

TEST(Survey, ReadsManyWeightsAtOnce) {
  const Model model = open_model(written("layers.safetensors"));
  std::vector<const Weight*> matrices;
  for (const Weight& weight : model.weights) {
    if (why_no_matrix(weight).empty()) {
      matrices.push_back(&weight);
    }
  }
  const std::vector<WeightSurvey> together = survey_weights(matrices);
  ASSERT_EQ(together.size(), matrices.size());
  for (std::size_t number = 0; number < matrices.size(); ++number) {
    EXPECT_EQ(together[number].fingerprint, survey_weight(*matrices[number]).fingerprint);
  }
}

/// Bytes that must not be asked for, but for some at the begin.
class GuardedBytes final : public StoredBytes {
 public:
  GuardedBytes(std::string text, std::uint64_t allowed)
      : StoredBytes("a.safetensors", text.size()), text_(std::move(text)), allowed_(allowed) {}
  void read_at(std::uint64_t begin, std::span<std::byte> buffer) const override {
    EXPECT_LE(begin + buffer.size(), allowed_);
    std::memcpy(buffer.data(), text_.data() + begin, buffer.size());
  }

 private:
  std::string text_;
  std::uint64_t allowed_;
};

TEST(Models, ReadNothingThatIsNotAskedFor) {
  const std::string bytes = SafetensorsText()
                                .add("a", "F32", "[2, 2]", raw_bytes<float>({1, 0, 0, 2}))
                                .add("b", "F32", "[1, 2]", raw_bytes<float>({3, 4}))
                                .bytes();
  const auto guarded = std::make_shared<const GuardedBytes>(bytes, bytes.size() - 2 * sizeof(float));
  const std::vector<Weight> weights = assemble_weights(read_safetensors(guarded));
  EXPECT_EQ(read_weight(weights[0], {}), matrix_of(2, 2, std::vector<double>{1, 0, 0, 2}));
}

TEST(Models, NoticeAFileThatIsCutMeanwhile) {
  const TestFolder folder;
  const std::filesystem::path path = folder.file(
      "a.safetensors", SafetensorsText().add("a", "F32", "[64, 64]", std::string(64 * 64 * 4, '\1')).bytes());
  const Model model = open_model(path);
  std::filesystem::resize_file(path, 200);
  EXPECT_THROW(read_weight(model.weights.front(), {}), UserError);
  EXPECT_THROW(survey_weight(model.weights.front()), UserError);
}

std::string floats(std::int64_t count, float first = 1) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return raw_bytes<float>(values);
}

SparseMatrix read(const Model& model, const std::string& name) { return read_weight(find_weight(model, name), {}); }

TEST(Masks, OfParametrizationsTakeValuesAway) {
  // As torch.ao.pruning has them of a layer M, of one that was pruned twice, of rows, and of a layer that is the model
  // itself.
  const std::string values = raw_bytes<float>({1, 2, 3, 4});
  const Model model{
      "m",
      safetensors_of(SafetensorsText()
                         .add("M.parametrizations.weight.original", "F32", "[2, 2]", values)
                         .add("M.parametrizations.weight.0.mask", "F32", "[2, 2]", raw_bytes<float>({1, 0, 0, 1}))
                         .add("N.parametrizations.in_proj_weight.0.mask", "BOOL", "[2, 2]", std::string("\1\1\0\1", 4))
                         .add("N.parametrizations.in_proj_weight.1.mask", "BOOL", "[2, 2]", std::string("\1\0\1\1", 4))
                         .add("N.parametrizations.in_proj_weight.original", "F32", "[2, 2]", values)
                         .add("R.parametrizations.weight.original", "F32", "[2, 2]", values)
                         .add("R.parametrizations.weight.0.mask", "BOOL", "[2]", std::string("\0\1", 2))
                         .add("parametrizations.weight.original", "F32", "[2, 2]", values)
                         .add("parametrizations.weight.0.mask", "U8", "[2, 2]", std::string("\0\0\0\1", 4))
                         .bytes())};
  EXPECT_THAT(names_of(model.weights), ElementsAre("M.weight", "N.in_proj_weight", "R.weight", "weight"));
  EXPECT_EQ(read(model, "M.weight"), matrix_of(2, 2, std::vector<double>{1, 0, 0, 4}));
  EXPECT_EQ(read(model, "N.in_proj_weight"), matrix_of(2, 2, std::vector<double>{1, 0, 0, 4}));
  EXPECT_EQ(read(model, "R.weight"), matrix_of(2, 2, std::vector<double>{0, 0, 3, 4}));
  EXPECT_EQ(read(model, "R.weight.T"), matrix_of(2, 2, std::vector<double>{0, 3, 0, 4}));
  EXPECT_EQ(read(model, "weight"), matrix_of(2, 2, std::vector<double>{0, 0, 0, 4}));
  EXPECT_EQ(survey_weight(find_weight(model, "R.weight")).nonzeros, 2);
}

TEST(Filters, OfThreeToFiveDimensionsAreMatrices) {
  const Model model{"m", safetensors_of(SafetensorsText()
                                            .add("one.weight", "F32", "[4, 3, 2]", floats(24))
                                            .add("three.weight", "F32", "[2, 3, 1, 2, 2]", floats(24))
                                            .bytes())};
  std::vector<double> values(24);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(read(model, "one.weight"), matrix_of(4, 6, values));
  EXPECT_EQ(read(model, "three.weight"), matrix_of(2, 12, values));
}

/// 2 experts with 3 inner and 4 outer features.
TEST(Experts, AreALayerEach) {
  const auto two_of = [](const std::string& gate_up, const std::string& down) {
    return Model{"m", safetensors_of(SafetensorsText()
                                         .add("mlp.experts.gate_up_proj", "F32", gate_up, floats(48))
                                         .add("mlp.experts.down_proj", "F32", down, floats(24, 100))
                                         .bytes())};
  };
  std::vector<double> values(24);
  std::iota(values.begin(), values.end(), 25);
  const Model out_in = two_of("[2, 6, 4]", "[2, 4, 3]");
  EXPECT_THAT(names_of(out_in.weights), ElementsAre("mlp.experts.down_proj.0", "mlp.experts.down_proj.1",
                                                    "mlp.experts.gate_up_proj.0", "mlp.experts.gate_up_proj.1"));
  EXPECT_EQ(read(out_in, "mlp.experts.gate_up_proj.1"), matrix_of(6, 4, values));
  const Model in_out = two_of("[2, 4, 6]", "[2, 3, 4]");
  EXPECT_EQ(read(in_out, "mlp.experts.gate_up_proj.1"), transposed(matrix_of(4, 6, values)));
  EXPECT_EQ(read(in_out, "mlp.experts.gate_up_proj.1.T"), matrix_of(4, 6, values));
  EXPECT_TRUE(find_weight(in_out, "mlp.experts.down_proj.0").expert->is_transposed);
  EXPECT_EQ(find_weight(in_out, "mlp.experts.down_proj.0").rows(), 4);
  expect_survey(in_out.weights[3]);
  expect_survey(out_in.weights[3]);
}

TEST(Experts, AreToldByNameOrNamed) {
  const Model model{"m", safetensors_of(SafetensorsText()
                                            .add("block_sparse_moe.input_linear.weight", "F32", "[2, 2, 3]", floats(12))
                                            .add("moe.conv.weight", "F32", "[2, 2, 3]", floats(12))
                                            .add("x.weight", "F32", "[2, 2, 3]", floats(12))
                                            .bytes())};
  EXPECT_THAT(names_of(model.weights),
              ElementsAre("block_sparse_moe.input_linear.weight.0", "block_sparse_moe.input_linear.weight.1",
                          "moe.conv.weight", "x.weight"));
  const SparseMatrix second = matrix_of(2, 3, std::vector<double>{7, 8, 9, 10, 11, 12});
  EXPECT_EQ(read(model, "x.weight.1"), second) << "whatever the name says";
  EXPECT_EQ(read(model, "x.weight.1.T"), transposed(second));
  EXPECT_EQ(read(model, "x.weight").rows, 2);
}

TEST(Experts, OfArchivesAreSlicesOfTheirArrays) {
  const std::string array = npy_bytes(npy_dictionary("<f4", false, "(2, 2, 3)"), floats(12));
  const Model model{"m", npz_of(archive_of({{"experts.w.npy", array}}))};
  EXPECT_EQ(read(model, "experts.w.1"), matrix_of(2, 3, std::vector<double>{7, 8, 9, 10, 11, 12}));
}

TEST(LayerFile, IsAPathOrAPathWithATensor) {
  const auto parts = [](const std::string& name) {
    const LayerFile layer = parse_layer_file(name);
    EXPECT_EQ(layer.name(), name);
    return std::pair(layer.path, layer.tensor);
  };
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(parts("a.mtx"), Parts("a.mtx", ""));
  EXPECT_EQ(parts("a:b.mtx"), Parts("a:b.mtx", ""));
  EXPECT_EQ(parts("a.safetensors"), Parts("a.safetensors", ""));
  EXPECT_EQ(parts("d/a.SafeTensors:b/c.weight:0"), Parts("d/a.SafeTensors", "b/c.weight:0"));
  EXPECT_EQ(parts("a.npz:b.npz:c"), Parts("a.npz", "b.npz:c"));
  EXPECT_EQ(parts("x:y.npz:c.safetensors:d"), Parts("x:y.npz", "c.safetensors:d"));
  EXPECT_EQ(parts("m.safetensors.index.json:h.0"), Parts("m.safetensors.index.json", "h.0"));
}

TEST(TensorNames, AreOrderedByTheirNumbers) {
  EXPECT_TRUE(is_before("layers.2.w", "layers.10.w"));
  EXPECT_FALSE(is_before("layers.10.w", "layers.2.w"));
  EXPECT_TRUE(is_before("layers.2", "layers.2.w"));
  EXPECT_TRUE(is_before("a.01", "a.1") != is_before("a.1", "a.01"));
  EXPECT_FALSE(is_before("a.1", "a.1"));
  EXPECT_TRUE(is_before("a.99999999999999999999998", "a.99999999999999999999999"));
}

}  // namespace
}  // namespace esc
