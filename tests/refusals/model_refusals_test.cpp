// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "generator/model/layer_file.h"
#include "generator/model/model.h"
#include "generator/model/scipy_matrix.h"
#include "generator/support/error.h"
#include "tests/support/refusals.h"
#include "tests/unit/model_fixtures.h"

namespace esc {
namespace {

using namespace std::string_literals;
using test::expect_refusals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string two = raw_bytes<float>({1, 2});

/// A file of one tensor w whose entry is `entry`.
std::string with_entry(const std::string& entry, const std::string& data = two) {
  return safetensors_bytes("{" + entry + "}", data);
}

TEST(SafetensorsRefusals, NameTheTensorAndTheByte) {
  const auto named = [](const std::string& json_name) {
    return with_entry("\"" + json_name + "\": {\"dtype\": \"F32\", \"shape\": [1, 2], \"data_offsets\": [0, 8]}");
  };
  const std::string good = with_entry(header_entry("w", "F32", "[1, 2]", 0, 8));
  const std::string end = std::to_string(good.size());
  const auto at = [](std::uint64_t byte) { return "a.safetensors, byte " + std::to_string(byte); };
  const std::string first = header_entry("v", "F32", "[1, 2]", 0, 8) + ", ";
  const std::uint64_t second_name = 8 + 1 + first.size();
  expect_refusals(
      {
          {"", at(0), "the file is empty"},
          {"1234567", at(7), "ends before the length of its header"},
          {raw_bytes<std::uint64_t>({1}), at(0), "a header of 1 bytes is longer than the file of 8"},
          {"\x93NUMPY\x01\0rest of it"s, at(0), "is longer than the file"},
          {raw_bytes<std::uint64_t>({~0ULL}) + "{}", at(0), "is longer than the file"},
          {safetensors_bytes("", ""), at(8), "the header is not JSON"},
          {safetensors_bytes("[]", ""), at(8), "the header is not an object"},
          {safetensors_bytes("{\"a\"", ""), at(12), "the header is not JSON"},
          {safetensors_bytes("{\"a\": \"\xff\"}", ""), at(15), "the header is not JSON"},
          {with_entry(first + header_entry("v", "F32", "[1, 2]", 8, 16), two + two), at(second_name),
           "\"v\" is there twice"},
          {with_entry("\"w\": {\"dtype\": \"F32\", \"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}"),
           at(8), "\"w.dtype\" is there twice"},
          {with_entry("\"w\": 7"), at(9), "\"w\" does not have dtype, shape and data_offsets"},
          {with_entry("\"w\": {\"dtype\": \"F32\", \"shape\": [1, 2]}"), at(9),
           "does not have dtype, shape and data_offsets"},
          {with_entry("\"w\": {\"dtype\": \"F32\", \"shape\": [1, 2], \"data_offsets\": [0, 8], \"x\": 1}"), at(9),
           "and nothing else"},
          {with_entry(header_entry("w", "F31", "[1, 2]", 0, 8)), at(9), "\"w\" has the unknown type \"F31\""},
          {with_entry("\"w\": {\"dtype\": 32, \"shape\": [1, 2], \"data_offsets\": [0, 8]}"), at(9),
           "has the unknown type \"32\""},
          {with_entry(header_entry("w", "F32", "2", 0, 8)), at(9), "has a \"shape\" that is no list of whole numbers"},
          {with_entry(header_entry("w", "F32", "[1, -2]", 0, 8)), at(9), "has a \"shape\" that is no list"},
          {with_entry(header_entry("w", "F32", "[1.0, 2]", 0, 8)), at(9), "has a \"shape\" that is no list"},
          {with_entry(header_entry("w", "F32", "[1, 18446744073709551615]", 0, 8)), at(9),
           "has a \"shape\" that is no list"},
          {with_entry(header_entry("w", "F32", "[1, 3]", 0, 8)), at(9),
           "has 8 bytes, which is not the size of 1 x 3 elements of type F32"},
          {with_entry(header_entry("w", "F16", "[1, 2]", 0, 8)), at(9),
           "which is not the size of 1 x 2 elements of type F16"},
          {with_entry(header_entry("w", "F32", "[4611686018427387904, 4]", 0, 8)), at(9),
           "has 8 bytes, which is not the size of"},
          {with_entry(header_entry("w", "F32", "[4294967296, 4294967296]", 0, 0), ""), at(9),
           "has 0 bytes, which is not the size of"},
          {with_entry("\"w\": {\"dtype\": \"F32\", \"shape\": [1, 2], \"data_offsets\": [0]}"), at(9),
           "data_offsets that are not a begin and an end"},
          {with_entry(header_entry("w", "F32", "[1, 2]", 8, 0)), at(9), "data_offsets that are not a begin and an end"},
          {with_entry(header_entry("w", "F32", "[1, 4]", 0, 16)), at(9),
           "\"w\" ends at byte 16 of the tensors, of which the file has 8"},
          {with_entry(first + header_entry("w", "F32", "[1, 2]", 4, 12), two + two), at(second_name),
           "\"w\" lies in the bytes of \"v\": tied weights"},
          {with_entry(first + header_entry("w", "F32", "[1, 2]", 0, 8)), at(second_name),
           "\"w\" lies in the bytes of \"v\": tied weights"},
          {with_entry(first + header_entry("w", "F32", "[1, 1]", 4, 8)), at(second_name), "tied weights"},
          {"Entry not found", at(0),
           "begins with the text \"Entry no\", where a .safetensors file has the length of its header"},
          {"{\"error\":\n 404}", at(0), "begins with the text"},
          {with_entry(first + header_entry("w", "F32", "[1, 2]", 16, 24), two + two + two), at(second_name),
           "\"w\" begins at byte"},
          {good + "z", at(good.size()), "1 bytes follow the last tensor"},
          {safetensors_bytes("{}", "z"), at(10), "1 bytes follow the last tensor"},
          {with_entry("\"__metadata__\": [], " + header_entry("w", "F32", "[1, 2]", 0, 8)), at(9),
           "\"__metadata__\" is not an object of texts"},
          {with_entry("\"__metadata__\": {\"a\": 1}, " + header_entry("w", "F32", "[1, 2]", 0, 8)), at(9),
           "is not an object of texts"},
          {named(""), at(9), "as the name of a tensor is empty"},
          {named("../x"), at(9), "\"../x\" as the name of a tensor is a path that leads elsewhere"},
          {named("a/../x"), at(9), "is a path that leads elsewhere"},
          {named("/etc/passwd"), at(9), "is a path that leads elsewhere"},
          {named("a*/ int b;"), at(9), "has the characters that end or begin a comment"},
          {named("a\\nb"), at(9), "has control characters"},
          {named("a\\u001b[2J"), at(9), "has control characters"},
          {named("\xe2\x80\xae"
                 "a"),
           at(9), "marks that turn the direction of reading"},
          {named(std::string(1025, 'a')), at(9), "has more than 1024 bytes"},
      },
      [](const std::string& bytes) { safetensors_of(bytes); });
  EXPECT_NO_THROW(safetensors_of(good));
  EXPECT_NO_THROW(safetensors_of(named("encoder/layer_0/kernel:0")));
  EXPECT_NO_THROW(safetensors_of(safetensors_bytes("{}", "")));
  EXPECT_NO_THROW(safetensors_of(safetensors_bytes("{}      ", "")));
}

TEST(SafetensorsRefusals, NameTheValue) {
  const auto tensor = [](const std::string& type, const std::string& data) {
    return SafetensorsText().add("w", type, "[1, 2]", data).bytes();
  };
  const auto first_byte = [](const std::string& bytes, std::size_t data) {
    return "a.safetensors:w, byte " + std::to_string(bytes.size() - data);
  };
  const std::string nan = tensor("F32", raw_bytes<float>({1, std::nanf("")}));
  const std::string infinite = tensor("BF16", raw_bytes<std::uint16_t>({0x7f80, 0}));
  const std::string huge = tensor("F64", raw_bytes<double>({0, 1e300}));
  const std::string tiny = tensor("F64", raw_bytes<double>({1e-60, 0}));
  expect_refusals(
      {
          {nan, first_byte(nan, 4), "the value at row 0, column 1 (counted from 0) is nan"},
          {infinite, first_byte(infinite, 4), "is inf"},
          {huge, first_byte(huge, 8), "beyond float32's 3.4e38"},
          {tiny, first_byte(tiny, 16), "which float32 holds only as zero"},
          {SafetensorsText().add("w", "I64", "[1, 2]", std::string(16, '\0')).bytes(), "a.safetensors:w",
           "has elements of type I64"},
          {SafetensorsText().add("w", "F32", "[2]", two).bytes(), "a.safetensors:w", "has 1 dimensions, not 2"},
          {SafetensorsText().add("w", "F32", "[0, 2]", "").bytes(), "a.safetensors:w", "has a dimension of 0"},
          {SafetensorsText().add("w", "F32", "[0, 4294967296]", "").bytes(), "a.safetensors:w", "has a dimension of 0"},
      },
      [](const std::string& bytes) { read_weight(safetensors_of(bytes).front(), {}); });
}

/// The four tensors of a sparse-bitmask weight of 2 x 3, [1 0 2; 0 0 3], any of which may be another one.
struct BitmaskText {
  std::string shape = raw_bytes<std::int64_t>({2, 3});
  std::string shape_shape = "[2]";
  std::string values = raw_bytes<float>({1, 2, 3});
  std::string values_shape = "[3]";
  std::string bits = "\x05\x04";
  std::string bits_shape = "[2, 1]";
  std::string offsets = raw_bytes<std::int64_t>({0, 2});
  std::string offsets_shape = "[2]";
  std::string offsets_type = "I64";

  std::string bytes() const {
    return SafetensorsText()
        .add("w.shape", "I64", shape_shape, shape)
        .add("w.compressed", "F32", values_shape, values)
        .add("w.bitmask", "U8", bits_shape, bits)
        .add("w.row_offsets", offsets_type, offsets_shape, offsets)
        .bytes();
  }
};

TEST(BitmaskRefusals, NameTheTensorAndTheByte) {
  const std::string good = BitmaskText().bytes();
  EXPECT_EQ(read_weight(safetensors_of(good).front(), {}), matrix_of(2, 3, std::vector<double>{1, 0, 2, 0, 0, 3}));
  EXPECT_EQ(safetensors_of(good).front().name, "w.weight");
  const auto at = [&](const std::string& tensor, std::size_t from_end, std::size_t more = 0) {
    return "a.safetensors:w." + tensor + ", byte " + std::to_string(good.size() - from_end + more);
  };
  // The last bytes of the file are 16 of the shape, 12 of the values, 2 of the bits and 16 of the offsets.
  expect_refusals(
      {
          {BitmaskText{.shape = raw_bytes<std::int64_t>({0, 3})}.bytes(), at("shape", 46),
           "an extent of 0, outside 1 to 2^31 - 1"},
          {BitmaskText{.shape = raw_bytes<std::int64_t>({2, -1})}.bytes(), at("shape", 38), "an extent of -1"},
          {BitmaskText{.shape = raw_bytes<std::int64_t>({2, 12})}.bytes(), at("bitmask", 18),
           "where a bitmask of 2 x 12 elements is 2 x 2 of U8"},
          {BitmaskText{.bits = "\x05\x0c"}.bytes(), at("bitmask", 17), "has bits after the last column of row 1"},
          {BitmaskText{.bits = "\x05\x06"}.bytes(), at("bitmask", 17),
           "has 4 bits up to row 1, and there are 3 values"},
          {BitmaskText{.bits = std::string("\x05\0", 2)}.bytes(), at("compressed", 30, 8),
           "has 3 values, and the bitmask 2 bits"},
          {BitmaskText{.bits = "\x04\x05"}.bytes(), at("row_offsets", 8),
           "says that row 1 begins at value 2, and 1 bits are before it"},
          {BitmaskText{.offsets = raw_bytes<std::int64_t>({-1, 2})}.bytes(), at("row_offsets", 16),
           "begins at value -1"},
      },
      [](const std::string& bytes) { read_weight(safetensors_of(bytes).front(), {}); });
  const std::string shape_of_three =
      BitmaskText{.shape = raw_bytes<std::int64_t>({2, 3, 1}), .shape_shape = "[3]"}.bytes();
  const std::string three_offsets =
      BitmaskText{.offsets = raw_bytes<std::int64_t>({0, 2, 3}), .offsets_shape = "[3]"}.bytes();
  const std::string short_offsets =
      BitmaskText{.offsets = raw_bytes<std::int32_t>({0, 2}), .offsets_type = "I32"}.bytes();
  const std::string square = BitmaskText{.values_shape = "[1, 3]"}.bytes();
  const std::string incomplete =
      SafetensorsText().add("w.compressed", "F32", "[2]", two).add("w.bitmask", "U8", "[1, 1]", "\3").bytes();
  for (const auto& [bytes, words] :
       std::vector<std::pair<std::string, std::string>>{{shape_of_three, "is no shape of two I64"},
                                                        {three_offsets, "where 2 rows have as many offsets of I64"},
                                                        {short_offsets, "where 2 rows have as many offsets of I64"},
                                                        {square, "where the values are in one row"},
                                                        {incomplete, "which lacks w.shape"}}) {
    try {
      safetensors_of(bytes);
      ADD_FAILURE() << "accepted";
    } catch (const UserError& error) {
      EXPECT_THAT(error.rule(), HasSubstr(words));
      EXPECT_THAT(error.place(), StartsWith("a.safetensors:w."));
    }
  }
}

TEST(BitmaskRefusals, OfTwoOfFourNameTheRow) {
  const auto text = [](const std::string& bits, const std::string& values_shape = "[1, 2]", std::int64_t columns = 4) {
    return SafetensorsText()
        .add("w.shape", "I64", "[2, 1]", raw_bytes<std::int64_t>({1, columns}))
        .add("w.compressed", "F32", values_shape, two)
        .add("w.bitmask", "U8", "[1, 1]", bits)
        .bytes();
  };
  const auto read = [](const std::string& bytes) { return read_weight(safetensors_of(bytes).front(), {}); };
  EXPECT_EQ(read(text("\x0a")), matrix_of(1, 4, std::vector<double>{0, 1, 0, 2}));
  const std::string size = std::to_string(text("\x0a").size() - 1);
  expect_refusals(
      {{text("\x02"), "a.safetensors:w.bitmask, byte " + size, "has 1 bits in row 0, where two of four are 2"},
       {text("\x0e"), "a.safetensors:w.bitmask, byte " + size, "has 3 bits in row 0"}},
      read);
  EXPECT_THROW(safetensors_of(text("\x0a", "[2]")), UserError);
  EXPECT_THROW(safetensors_of(text("\x02", "[1, 2]", 3)), UserError);
}

TEST(MaskRefusals, NameTheElement) {
  const auto text = [](const std::string& type, const std::string& mask, const std::string& shape = "[1, 2]") {
    return SafetensorsText().add("w_orig", "F32", "[1, 2]", two).add("w_mask", type, shape, mask).bytes();
  };
  const auto read = [](const std::string& bytes) { return read_weight(safetensors_of(bytes).front(), {}); };
  const SparseMatrix expected = matrix_of(1, 2, std::vector<double>{0, 2});
  EXPECT_EQ(read(text("F32", raw_bytes<float>({0, 1}))), expected);
  EXPECT_EQ(read(text("F64", raw_bytes<double>({0, 1}))), expected);
  EXPECT_EQ(read(text("F16", raw_bytes<std::uint16_t>({0, 0x3c00}))), expected);
  EXPECT_EQ(read(text("BF16", raw_bytes<std::uint16_t>({0, 0x3f80}))), expected);
  EXPECT_EQ(read(text("BOOL", "\0\1"s)), expected);
  EXPECT_EQ(read(text("U8", "\0\1"s)), expected);
  const std::string half = text("F32", raw_bytes<float>({0, 0.5}));
  const std::string wide = text("F32", raw_bytes<float>({0, 1, 1}), "[1, 3]");
  const std::string integers = text("I32", raw_bytes<std::int32_t>({0, 1}));
  expect_refusals(
      {{half, "a.safetensors:w_mask, byte " + std::to_string(half.size() - 4),
        "a mask with an element that is neither 0 nor 1"},
       {wide, "a.safetensors:w_mask, byte " + std::to_string(wide.size() - 12),
        "is a mask of 1 x 3 for 1 x 2 elements"},
       {integers, "a.safetensors:w_mask, byte " + std::to_string(integers.size() - 8), "is a mask of type I32"}},
      read);
}

/// Tensors that no kernel may be made of: name, type, shape, and what is said of it, empty where it is a matrix.
struct Judged {
  std::string name;
  std::string type;
  std::vector<int> shape;
  std::string words;
};

void expect_judgement(const std::string& of, const std::vector<Judged>& tensors) {
  SCOPED_TRACE(of);
  SafetensorsText text;
  for (const Judged& tensor : tensors) {
    std::size_t elements = 1;
    std::string shape;
    for (const int extent : tensor.shape) {
      elements *= static_cast<std::size_t>(extent);
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    }
    text.add(tensor.name, tensor.type, "[" + shape + "]",
             std::string(elements * tensor_type(tensor.type)->bytes(), '\0'));
  }
  for (const Weight& weight : safetensors_of(text.bytes())) {
    const auto judged = std::ranges::find(tensors, weight.name, &Judged::name);
    ASSERT_NE(judged, tensors.end()) << weight.name;
    const std::optional<Obstacle> obstacle = obstacle_of(weight);
    EXPECT_EQ(obstacle.has_value(), !judged->words.empty()) << weight.name;
    if (obstacle) {
      EXPECT_THAT(obstacle->rule, HasSubstr(judged->words)) << weight.name;
      EXPECT_THAT(obstacle->remedy, Not(testing::IsEmpty()));
    }
  }
}

TEST(WeightRefusals, OfQuantisedLayersNameThem) {
  expect_judgement("compressed-tensors, int8",
                   {{"l.weight", "I8", {4, 8}, "is quantised (I8 with weight_scale, weight_zero_point)"},
                    {"l.weight_scale", "F32", {4, 1}, "belongs to l.weight, which is quantised (I8)"},
                    {"l.weight_zero_point", "I8", {4, 1}, "belongs to l.weight"},
                    {"l.bias", "F32", {4}, "has 1 dimensions"},
                    {"head.weight", "F32", {4, 8}, ""}});
  expect_judgement("compressed-tensors, packed",
                   {{"l.weight_packed", "I32", {4, 1}, "is quantised (I32 with weight_scale)"},
                    {"l.weight_scale", "BF16", {4, 2}, "belongs to l.weight_packed"},
                    {"l.weight_shape", "I64", {2}, "I64"}});
  expect_judgement("nvfp4",
                   {{"l.weight_packed", "U8", {4, 4}, "is quantised (U8 with weight_global_scale, weight_scale)"},
                    {"l.weight_scale", "F8_E4M3", {4, 1}, "belongs to l.weight_packed"},
                    {"l.weight_global_scale", "F32", {1, 1}, "belongs to l.weight_packed"}});
  expect_judgement("fp8", {{"l.weight", "F8_E4M3", {4, 8}, "is quantised (F8_E4M3 with weight_scale_inv)"},
                           {"l.weight_scale_inv", "F32", {2, 2}, "belongs to l.weight"},
                           {"m.weight", "F8_E5M2", {4, 8}, "is quantised (F8_E5M2)"}});
  expect_judgement("GPTQ and AWQ", {{"l.qweight", "I32", {4, 8}, "is quantised (I32 with qzeros, scales)"},
                                    {"l.qzeros", "I32", {1, 2}, "belongs to l.qweight"},
                                    {"l.scales", "F16", {2, 8}, "belongs to l.qweight"},
                                    {"l.g_idx", "I32", {8}, "I32"}});
  expect_judgement("bitsandbytes",
                   {{"l.weight", "U8", {16, 1}, "is quantised (U8 with weight.absmax, weight.quant_map)"},
                    {"l.weight.absmax", "F32", {2, 2}, "belongs to l.weight"},
                    {"l.weight.quant_map", "F32", {16, 1}, "belongs to l.weight"}});
  expect_judgement("MLX", {{"l.weight", "U32", {4, 8}, "is quantised (U32 with biases, scales)"},
                           {"l.scales", "F16", {4, 2}, "belongs to l.weight"},
                           {"l.biases", "F16", {4, 2}, "belongs to l.weight"}});
  expect_judgement("HQQ", {{"l.W_q", "U8", {4, 8}, "is quantised (U8 with scale, zero)"},
                           {"l.scale", "F16", {4, 1}, "belongs to l.W_q"},
                           {"l.zero", "F16", {4, 1}, "belongs to l.W_q"}});
  expect_judgement("AQLM", {{"l.codes", "I8", {4, 2, 1}, "is quantised (I8 with codebooks, scales)"},
                            {"l.codebooks", "F16", {1, 16, 1, 8}, "belongs to l.codes"},
                            {"l.scales", "F16", {4, 1, 1, 1}, "belongs to l.codes"}});
  expect_judgement("VPTQ", {{"l.indices", "I32", {1, 4, 2}, "is quantised (I32 with centroids.weight)"},
                            {"l.centroids.weight", "F16", {1, 32}, "belongs to l.indices"}});
  expect_judgement("torchao", {{"l._weight_qdata", "I8", {4, 8}, "is quantised (I8 with _weight_scale)"},
                               {"l._weight_scale", "F32", {4, 1}, "belongs to l._weight_qdata"}});
  expect_judgement("marlin",
                   {{"l.B", "I32", {4, 8}, "is quantised (I32 with s)"}, {"l.s", "F16", {2, 8}, "belongs to l.B"}});
  expect_judgement(
      "gpt-oss", {{"mlp.experts.gate_up_proj_blocks", "U8", {2, 4, 2, 2}, "is quantised (U8 with gate_up_proj_scales)"},
                  {"mlp.experts.gate_up_proj_scales", "U8", {2, 4, 2}, "belongs to mlp.experts.gate_up_proj_blocks"},
                  {"mlp.experts.gate_up_proj_bias", "BF16", {2, 4}, "a bias"}});
  expect_judgement("a layer alone", {{"weight", "I8", {4, 8}, "is quantised (I8 with weight_scale)"},
                                     {"weight_scale", "F32", {4, 1}, "belongs to weight"}});
  expect_judgement("of another file", {{"l.weight_scale", "F32", {4, 1}, "is by its name a scale"},
                                       {"m.scales", "F16", {4, 2}, "is by its name a scale"}});
  expect_judgement("not quantised", {{"scale", "F32", {4, 8}, ""},
                                     {"attn.qkv.weight", "F32", {4, 8}, ""},
                                     {"attn.relative_position_index", "I64", {4, 4}, "has elements of type I64"},
                                     {"attn.relative_position_bias_table", "F32", {4, 8}, ""},
                                     {"w", "I64", {4, 8}, "has elements of type I64"},
                                     {"upscale.weight", "F32", {4, 8}, ""}});
}

TEST(WeightRefusals, OfWhatAWeightIsComputedFromNameIt) {
  expect_judgement(
      "a mask alone",
      {{"q.weight_mask", "F32", {4, 8}, "is a mask, and q.weight_orig, whose elements it takes away, is not there"}});
  expect_judgement("values alone", {{"q.weight_orig", "F32", {4, 8}, "is what q.weight is computed from"}});
  expect_judgement("a mask beside", {{"q.weight", "F32", {4, 8}, "has q.weight_mask beside it"},
                                     {"q.weight_mask", "F32", {4, 8}, "a mask"},
                                     {"r.weight", "F32", {4, 8}, "has r.mask beside it"},
                                     {"r.mask", "BOOL", {4, 8}, "a mask"},
                                     {"s.weight", "F32", {4, 8}, "has s.mask_scores beside it"},
                                     {"s.mask_scores", "F32", {4, 8}, "a mask"},
                                     {"t.weight", "F32", {4, 8}, ""},
                                     {"t.mask", "F32", {8, 8}, "a mask"}});
  expect_judgement(
      "parametrizations",
      {{"q.parametrizations.weight.original0", "F32", {4, 1}, "is what q.weight is computed from"},
       {"q.parametrizations.weight.original1", "F32", {4, 8}, "is what q.weight is computed from"},
       {"r.parametrizations.weight.0.mask", "F32", {4, 8}, "is a mask, and r.parametrizations.weight.original"},
       {"s.parametrizations.weight.original", "F32", {4, 8}, "is what s.weight is computed from"},
       {"s.parametrizations.weight.0.base", "F32", {4, 4}, "is what s.weight is computed from"}});
  expect_judgement("norms", {{"q.weight_g", "F32", {4, 1}, "is what q.weight is computed from, with q.weight_v"},
                             {"q.weight_v", "F32", {4, 8}, "is what q.weight is computed from, with q.weight_g"}});
  expect_judgement("buffers", {{"attn.bias", "F32", {1, 1, 8, 8}, "a bias"},
                               {"attn.c_attn.weight", "F32", {4, 8}, ""},
                               {"mask_decoder.weight", "F32", {4, 8}, ""}});
}

TEST(WeightRefusals, OfOneNameTwice) {
  const std::string bytes = SafetensorsText()
                                .add("w", "F32", "[1, 2]", two)
                                .add("w_orig", "F32", "[1, 2]", two)
                                .add("w_mask", "BOOL", "[1, 2]", "\1\1")
                                .bytes();
  try {
    safetensors_of(bytes);
    ADD_FAILURE() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.rule(), HasSubstr("makes a second weight w"));
  }
}

std::string replaced(std::string bytes, std::size_t at, const std::string& with) {
  return bytes.replace(at, with.size(), with);
}

TEST(ArchiveRefusals, NameTheByte) {
  const std::string array = npy_bytes(npy_dictionary("<f4", false, "(1, 2)"), two);
  const std::string good = archive_of({{"w.npy", array}});
  const std::size_t entry = 30 + 5 + array.size();
  const std::size_t end = good.size() - 22;
  const auto at = [](std::size_t byte) { return "a.npz, byte " + std::to_string(byte); };
  const auto read = [](const std::string& bytes) { return read_weight(npz_of(bytes).front(), {}); };
  EXPECT_EQ(read(good), matrix_of(1, 2, std::vector<double>{1, 2}));
  EXPECT_EQ(read(good.substr(0, good.size() - 2) + "\3\0abc"s), matrix_of(1, 2, std::vector<double>{1, 2}))
      << "a comment";
  expect_refusals(
      {
          {"", at(0), "the file is empty"},
          {"PK", at(2), "too short for a zip archive"},
          {good.substr(0, good.size() - 1), at(good.size() - 1), "no directory of a zip archive is at the end"},
          {array, at(array.size()), "no directory of a zip archive"},
          {replaced(good, end + 4, "\1"), at(end + 4), "is one of several parts"},
          {replaced(good, end + 12, "\xff"), at(end + 12), "a directory of 255 bytes is not at"},
          {replaced(good, end + 8, "\2\0\2\0"s), at(entry + 51), "the archive's directory ends inside an entry"},
          {replaced(good, end + 8, "\0\0\0\0"s), at(entry), "the directory's 0 entries do not end where it does"},
          {replaced(good, end + 8, "\xff\xff\xff\xff"), at(end - 20), "the directory of a large archive is missing"},
          {replaced(good, entry, "PX"), at(entry), "an entry of the archive's directory is expected here"},
          {replaced(good, entry + 8, "\1"), at(entry + 8), "w.npy is encrypted"},
          {replaced(good, entry + 10, "\x0c"), at(entry + 10), "w.npy is packed by method 12"},
          {replaced(good, entry + 20, "\xff\xff"), at(entry + 20), "has 65535 bytes, which the file does not have"},
          {replaced(good, entry + 24, "\1"), at(entry + 24), "w.npy cannot have 1 bytes in"},
          {replaced(good, entry + 20, "\xff\xff\xff\xff"), at(entry + 51), "lacks the size that it says is large"},
          {replaced(good, entry + 42, "\1"), at(1), "no member of the archive begins here"},
          {replaced(good, entry + 42, "\xff\xff"), at(65535), "which the file does not have"},
          {replaced(good, entry + 46, "../"), at(entry + 46), "is a path that leads elsewhere"},
          {archive_of({{"w.npy", array}, {"w.npy", array}}), at(2 * entry + 51 + 46), "w.npy is there twice"},
          {archive_of({{"data.pkl", "x"}}), "a.npz", "has the member \"data.pkl\", which is no array"},
          {archive_of({{"w.npy", array + "z"}}), "a.npz:w, byte 60",
           "9 bytes follow the header, which is not the size of 1 x 2 elements of 4 bytes"},
          {archive_of({{"w.npy", npy_bytes(npy_dictionary("<U3", false, "(1, 2)"), two)}}), "a.npz:w, byte 20",
           "the element type \"<U3\" is not known"},
          {archive_of({{"w.npy", "no array"}}), "a.npz:w, byte 0", "does not start with \\x93NUMPY"},
          {replaced(good, 35 + array.size() - 1, "\1"), "a.npz:w, byte 35",
           "w.npy has another checksum than the archive's directory says"},
      },
      read);
}

TEST(ArchiveRefusals, OfDeflatedMembersNameTheMember) {
  std::ifstream file(written_models / "csr.npz", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto read = [](const std::string& bytes) { return read_weight(npz_of(bytes).front(), {}); };
  EXPECT_EQ(read(good).nonzeros(), 186);
  // Whatever a byte of the packed data is changed into, it is noticed by a rule or by the checksum.
  const std::size_t directory = good.find("PK\1\2");
  std::size_t refused = 0;
  for (std::size_t at = 0; at < directory; ++at) {
    try {
      const SparseMatrix matrix = read(replaced(good, at, std::string(1, static_cast<char>(good[at] ^ 0x10))));
      EXPECT_EQ(matrix, read(good)) << "byte " << at;
    } catch (const UserError& error) {
      ++refused;
      EXPECT_THAT(error.place(), StartsWith("a.npz"));
    }
  }
  EXPECT_GT(refused, directory / 3);
}

/// The arrays of a csr matrix of 2 x 3, [0 1 0; 2 0 3], any of which may be another one.
struct ScipyText {
  std::string format = "csr";
  std::string shape = raw_bytes<std::int64_t>({2, 3});
  std::string data = raw_bytes<float>({1, 2, 3});
  std::string indices = raw_bytes<std::int32_t>({1, 0, 2});
  std::string indptr = raw_bytes<std::int32_t>({0, 1, 3});
  std::string indptr_shape = "(3,)";
  std::string data_type = "<f4";

  std::string bytes() const {
    const auto array = [](const std::string& type, const std::string& extents, const std::string& content) {
      return npy_bytes(npy_dictionary(type, false, extents), content);
    };
    return archive_of({{"format.npy", array("|S3", "()", format)},
                       {"shape.npy", array("<i8", "(2,)", shape)},
                       {"data.npy", array(data_type, "(3,)", data)},
                       {"indices.npy", array("<i4", "(3,)", indices)},
                       {"indptr.npy", array("<i4", indptr_shape, indptr)}});
  }
};

TEST(ScipyRefusals, NameTheArrayAndTheByte) {
  const auto read = [](const std::string& bytes) { return read_weight(npz_of(bytes).front(), {}); };
  EXPECT_EQ(read(ScipyText().bytes()), matrix_of(2, 3, std::vector<double>{0, 1, 0, 2, 0, 3}));
  const auto at = [](const std::string& array, const std::string& type, const std::string& shape, std::size_t offset) {
    return "a.npz:" + array + ", byte " +
           std::to_string(npy_bytes(npy_dictionary(type, false, shape), "").size() + offset);
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  expect_refusals(
      {
          {ScipyText{.format = "lil"}.bytes(), at("format", "|S3", "()", 0),
           "the format \"lil\" is none of csr, csc, bsr, coo and dia"},
          {ScipyText{.shape = raw_bytes<std::int64_t>({2, 0})}.bytes(), at("shape", "<i8", "(2,)", 8),
           "an extent of 0 is outside 1 to 2^31 - 1"},
          {ScipyText{.shape = raw_bytes<std::int64_t>({2, 2})}.bytes(), at("indices", "<i4", "(3,)", 8),
           "the index 2 is outside 0 to 1"},
          {ScipyText{.shape = raw_bytes<std::int64_t>({3, 3})}.bytes(), at("indptr", "<i4", "(3,)", 0),
           "there are 3 of them, where 3 lines have one more"},
          {ScipyText{.indices = raw_bytes<std::int32_t>({1, -1, 2})}.bytes(), at("indices", "<i4", "(3,)", 4),
           "the index -1 is outside 0 to 2"},
          {ScipyText{.indices = raw_bytes<std::int32_t>({1, 2, 2})}.bytes(), "a.npz:matrix",
           "the entry at row 1, column 2 (counted from 0) is there twice"},
          {ScipyText{.indptr = raw_bytes<std::int32_t>({1, 1, 3})}.bytes(), at("indptr", "<i4", "(3,)", 0),
           "offsets start at 0 and never decrease"},
          {ScipyText{.indptr = raw_bytes<std::int32_t>({0, 4, 3})}.bytes(), at("indptr", "<i4", "(3,)", 8),
           "3 follows 4"},
          {ScipyText{.indptr = raw_bytes<std::int32_t>({0, 1, 2})}.bytes(), at("indptr", "<i4", "(3,)", 8),
           "the last offset is 2, and there are 3 indices"},
          {ScipyText{.data = raw_bytes<float>({1, infinity, 3})}.bytes(), at("data", "<f4", "(3,)", 4),
           "the value is inf"},
          {ScipyText{.data = raw_bytes<std::int32_t>({1, 2, 3}), .data_type = "<i4"}.bytes(),
           at("data", "<i4", "(3,)", 0), "the values are of type I32"},
          {ScipyText{.format = "coo"}.bytes(), "a.npz", "lacks the array \"row\" of a sparse matrix"},
          {ScipyText{.format = "dia"}.bytes(), "a.npz", "lacks the array \"offsets\""},
          {ScipyText{.format = "bsr"}.bytes(), at("data", "<f4", "(3,)", 0),
           "where 3 dimensions in C order are expected"},
      },
      [&](const std::string& bytes) {
        // Integers are no matrix before anything of them is read.
        const std::vector<Weight> weights = npz_of(bytes);
        ReadOptions options;
        read_scipy_matrix(weights.front(), options);
      });
}

class ModelFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view content) const {
    return folder_.file(name, content).string();
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  TestFolder folder_;
};

TEST_F(ModelFiles, OfPicklesAreRefusedWithTheCommandThatConverts) {
  const std::string archive = archive_of({{"archive/data.pkl", "x"}});
  for (const std::string& name : {file("a.pt", "x"), file("a.pth", archive), file("a.bin", ""), file("a.PKL", ""),
                                  file("zip.safetensors", archive), file("raw.safetensors", "\x80\x02}q\0."s),
                                  file("a.npz", archive), path("absent.ckpt")}) {
    SCOPED_TRACE(name);
    try {
      read_layer(name);
      ADD_FAILURE() << "accepted";
    } catch (const UserError& error) {
      EXPECT_EQ(error.place(), name);
      EXPECT_THAT(error.rule(), HasSubstr("is a pickle"));
      EXPECT_THAT(error.remedy(), HasSubstr("s.save_file("));
      EXPECT_THAT(error.remedy(), HasSubstr("torch.load('" + name + "'"));
    }
  }
  try {
    read_layer("a'; rm -r x.pt");
    ADD_FAILURE() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.remedy(), Not(HasSubstr("rm")));
  }
}

/// What lies there in place of a file, and models of other formats, under any ending.
TEST_F(ModelFiles, OfOtherKindsAreNamedWithTheRemedy) {
  struct Foreign {
    std::string content;
    std::string words;
    std::string remedy;
  };
  const std::vector<Foreign> kinds{
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4943162240\n",
       "is a pointer of Git LFS and not the file of 4943162240 bytes", "git lfs pull"},
      {"/annex/objects/SHA256E-s1--ab\n", "is a pointer of git-annex", "git annex get"},
      {"<!doctype html><html>", "is a page of HTML or XML", "fetch the file again"},
      {"\xef\xbb\xbf\n  <HTML lang=\"en\">", "is a page of HTML or XML", "fetch the file again"},
      {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "is a page of HTML or XML",
       "fetch the file again"},
      {"\x1f\x8b\x08\0\0\0\0\0"s, "is packed (gzip)", "unpack it"},
      {"GGUF\3\0\0\0"s, "is a GGUF file", "gguf.GGUFReader("},
      {"\x89HDF\r\n\x1a\n\0"s, "is an HDF5 or Keras file", "h5py.File("},
  };
  for (const Foreign& kind : kinds) {
    for (const char* name :
         {"a.safetensors", "a.npz", "a.npy", "a.mtx", "a.smtx", "m.safetensors.index.json", "a.dat"}) {
      SCOPED_TRACE(std::string(name) + ": " + kind.words);
      try {
        read_layer(file(name, kind.content));
        ADD_FAILURE() << "accepted";
      } catch (const UserError& error) {
        EXPECT_THAT(error.rule(), HasSubstr(kind.words));
        EXPECT_THAT(error.remedy(), HasSubstr(kind.remedy));
      }
    }
  }
  for (const auto& [name, words] :
       {std::pair("a.onnx", "is an ONNX model"), std::pair("a.gguf", "is a GGUF file"), std::pair("a.h5", "is an HDF5"),
        std::pair("a.msgpack", "Flax"), std::pair("a.tflite", "was compiled"), std::pair("a.mat", "MATLAB"),
        std::pair("a.csv", "is a table")}) {
    try {
      read_layer(file(name, "anything"));
      ADD_FAILURE() << "accepted";
    } catch (const UserError& error) {
      EXPECT_THAT(error.rule(), HasSubstr(words));
      EXPECT_THAT(error.remedy(), Not(testing::IsEmpty()));
    }
  }
}

TEST_F(ModelFiles, OfSeveralPartsMayHavePointersInTheirPlace) {
  file("a.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 16\n");
  const std::string index = file("m.safetensors.index.json", "{\"weight_map\": {\"a\": \"a.safetensors\"}}");
  expect_refusals({{index, path("a.safetensors"), "is a pointer of Git LFS"}},
                  [](const std::string& name) { read_layer(name); });
}

TEST_F(ModelFiles, WithLayersThatAreNotReadNameThem) {
  const std::string scale = raw_bytes<float>({1, 2});
  const std::string quantised = file(
      "q.safetensors",
      SafetensorsText().add("l.weight", "I8", "[2, 2]", "abcd").add("l.weight_scale", "F32", "[2, 1]", scale).bytes());
  const std::string mixed =
      file("r.safetensors",
           SafetensorsText().add("h.weight", "F32", "[1, 2]", two).add("l.weight", "I8", "[2, 2]", "abcd").bytes());
  const std::string experts =
      file("e.safetensors", SafetensorsText().add("experts.w", "F32", "[2, 1, 1]", two).bytes());
  expect_refusals(
      {{quantised, quantised + ":l.weight", "is quantised (I8 with weight_scale)"},
       {quantised + ":l.weight_scale", quantised + ":l.weight_scale", "belongs to l.weight, which is quantised (I8)"},
       {mixed, mixed, "has 1 matrix beside 1 layers that are not read"},
       {experts + ":experts.w", experts, "has 2 experts in \"experts.w\", a layer each: experts.w.0"},
       {experts + ":experts.w.2", experts, "has no tensor \"experts.w.2\""}},
      [](const std::string& name) { read_layer(name); });
  EXPECT_NO_THROW(read_layer(mixed + ":h.weight"));
}

TEST_F(ModelFiles, WithoutTheTensorAreRefusedWithNames) {
  const std::string model = file("a.safetensors", SafetensorsText()
                                                      .add("h.0.w", "F32", "[1, 2]", two)
                                                      .add("h.1.w", "F32", "[1, 2]", two)
                                                      .add("b", "F32", "[2]", two)
                                                      .bytes());
  const std::string biases = file("b.safetensors", SafetensorsText().add("b", "F32", "[2]", two).bytes());
  expect_refusals({{model, model, "has 2 matrices"},
                   {model + ":h.2.w", model, "has no tensor \"h.2.w\""},
                   {model + ":b", model + ":b", "has 1 dimensions"},
                   {biases, biases, "has no matrix in it"},
                   {biases + ":c", biases, "has no tensor \"c\", and no matrix at all"},
                   {path("absent.safetensors:w"), path("absent.safetensors"), "cannot be read: No such file"},
                   {path("a.txt"), path("a.txt"), "the ending .txt is not a matrix format that can be read"}},
                  [](const std::string& name) { read_layer(name); });
  try {
    read_layer(model);
  } catch (const UserError& error) {
    EXPECT_THAT(error.remedy(), HasSubstr("write FILE:TENSOR, with one of h.0.w, h.1.w"));
  }
}

TEST_F(ModelFiles, OfSeveralPartsAreRefusedWithTheNameThatIsWrong) {
  const auto index = [&](const std::string& map) { return file("m.safetensors.index.json", map); };
  const std::string a = file("a.safetensors", SafetensorsText().add("a", "F32", "[1, 2]", two).bytes());
  const std::string place = path("m.safetensors.index.json");
  const auto weight_map = [](const std::string& entries) { return "{\"weight_map\": {" + entries + "}}"; };
  EXPECT_EQ(read_layer(index(weight_map("\"a\": \"a.safetensors\""))), matrix_of(1, 2, std::vector<double>{1, 2}));
  expect_refusals(
      {
          {"", place, "is not JSON"},
          {"{}", place, "has no \"weight_map\""},
          {weight_map(""), place, "has no \"weight_map\""},
          {weight_map("\"a\": 1"), place + ": weight_map.\"a\"", "is not the name of a file"},
          {weight_map("\"a\": \"../a.safetensors\""), place + ": weight_map.\"a\"",
           "names \"../a.safetensors\", which is no .safetensors file beside"},
          {weight_map("\"a\": \"/etc/passwd\""), place + ": weight_map.\"a\"", "which is no .safetensors file beside"},
          {weight_map("\"a\": \"a.bin\""), place + ": weight_map.\"a\"", "which is no .safetensors file beside"},
          {weight_map("\"a\": \"a.safetensors\", \"a\": \"a.safetensors\""), place + ": weight_map.a",
           "is there twice"},
          {weight_map("\"a\": \"a.safetensors\", \"b\": \"b.safetensors\""), path("b.safetensors"),
           "is missing, which 1 of m.safetensors.index.json's tensors are in, \"b\" the first"},
          {weight_map("\"b\": \"a.safetensors\""), a, "has \"a\", which m.safetensors.index.json does not say"},
          {weight_map("\"a\": \"a.safetensors\", \"b\": \"a.safetensors\""), a,
           "does not have \"b\", which m.safetensors.index.json says"},
      },
      [&](const std::string& content) { read_layer(index(content)); });
}

}  // namespace
}  // namespace esc
