#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "generator/emit/model_bundle.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "generator/support/plain_text.h"
#include "transformer/packing_text.h"

namespace esc {
namespace {

/// The text as a literal of C: what may end it or stand for something else is written as a number.
std::string literal(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_plain = code >= 0x20 && code < 0x7f && c != '"' && c != '\\' && c != '?';
    result += is_plain ? std::string(1, c) : fmt::format("\\{:03o}", code);
  }
  return result + "\"";
}

std::map<std::string, std::string> common_holes(const ModelBundle& model) {
  constexpr std::size_t digits = 12;
  return {{"NAME", model.name},
          {"VERSION", tool_version},
          {"SOURCE", comment_text(model.source)},
          {"PATTERN", model.pattern().substr(0, digits)}};
}

std::string type_of(const ModelBundle& model) {
  static const std::map<std::string, std::string> names{{"f32", "float32"}, {"f64", "float64"}, {"f16", "float16"}, {"bf16", "bfloat16"}};
  return names.at(model.dtype);
}

std::vector<std::int64_t> bcols_of(const ModelLayer& layer) {
  std::set<std::int64_t> bcols;
  for (const ModelVariant& variant : layer.variants) {
    bcols.insert(variant.bcol);
  }
  return {bcols.begin(), bcols.end()};
}

/// The tables of NAME.cpp, each an entry a line.
struct Tables {
  std::string declarations;
  std::string kernels;
  std::string numbers;
  std::string variants;
  std::string variants_of;
  std::string packings;
  std::string bcols;
  std::string layers;
};

Tables tables_of(const ModelBundle& model) {
  Tables tables;
  std::map<std::string, std::size_t> kernel_at;
  for (const auto& [name, kernel] : model.kernels) {
    const std::size_t at = kernel_at.size();
    kernel_at[name] = at;
    tables.declarations += fmt::format(
        "cudaError_t {0}_prepare(void);\ncudaError_t {0}_spmm(const void* packed, const uint64_t* numbers, const void* b, int64_t ldb, void* c, "
        "int64_t ldc, int32_t n, cudaStream_t stream);\n",
        name);
    tables.kernels += fmt::format("{{{0}_prepare, {0}_spmm}},\n", name);
  }
  std::map<std::vector<std::uint64_t>, std::size_t> numbers_at;
  std::map<std::vector<std::int64_t>, std::size_t> bcols_at;
  std::size_t numbers = 0;
  std::size_t bcols = 0;
  std::size_t variants = 0;
  std::size_t packings = 0;
  for (const ModelLayer& layer : model.layers) {
    for (const ModelVariant& variant : layer.variants) {
      if (const auto [place, is_new] = numbers_at.emplace(variant.numbers, numbers); is_new && !variant.numbers.empty()) {
        tables.numbers += fmt::format("{},\n", fmt::join(variant.numbers, ", "));
        numbers += variant.numbers.size();
      }
      tables.variants += fmt::format("{{{}, {}, {}, {}, {}}},\n", variant.capability, variant.bcol, kernel_at.at(variant.kernel),
                                     variant.numbers.empty() ? 0 : numbers_at.at(variant.numbers), packings + variant.packing);
    }
    tables.variants_of += fmt::format("{{{}, {}}},\n", variants, variants + layer.variants.size());
    variants += layer.variants.size();
    for (const transformer::ModelEntry& packing : layer.packings) {
      tables.packings += fmt::format("{{{}, {}, {:#018x}, {:#018x}}},\n", packing.offset, packing.bytes, packing.description, packing.layer);
    }
    packings += layer.packings.size();
    const std::vector<std::int64_t> own = bcols_of(layer);
    const auto [place, is_new] = bcols_at.emplace(own, bcols);
    if (is_new) {
      tables.bcols += fmt::format("{}{}", bcols == 0 ? "" : ", ", fmt::join(own, ", "));
      bcols += own.size();
    }
    tables.layers += fmt::format(
        "{{ESC_LAYER_FORMAT, {}, bcols + {}, {}, {}, {}, {}, {}, {}, {}, {}, {}_prepare, {}_multiply}},\n", own.size(), place->second, literal(layer.name),
        layer.rows, layer.columns, layer.nonzeros, literal(model.dtype), literal(model.layout), layer.packed_bytes(), literal(layer.fingerprint.pattern),
        model.name, model.name);
  }
  if (tables.numbers.empty()) {
    tables.numbers = "0,\n";
  }
  return tables;
}

bool is_nk(const ModelBundle& model) { return model.layout == "nk"; }

}  // namespace

std::string model_header_source(const ModelBundle& model) {
  std::map<std::string, std::string> holes = common_holes(model);
  holes.merge(std::map<std::string, std::string>{
      {"TYPE", type_of(model)},
      {"LAYERS", fmt::format("{}", model.layers.size())},
      {"FIRST", comment_text(model.layers.front().name)},
      {"FORMS", is_nk(model) ? "B is n x k and C n x m, both row-major." : "B is k x n and C m x n, both row-major."},
      {"PLACES", is_nk(model) ? "b: row j at b + j * ldb, ldb >= k; c: row j at c + j * ldc, ldc >= m, overwritten; n >= 1."
                              : "b: row i at b + i * ldb; c: row i at c +\n * i * ldc, overwritten; n >= 1; ldb and ldc >= n."}});
  return fill(model_header_template, holes);
}

std::string model_source(const ModelBundle& model) {
  std::map<std::string, std::string> holes = common_holes(model);
  Tables tables = tables_of(model);
  holes.merge(std::map<std::string, std::string>{{"DECLARATIONS", std::move(tables.declarations)},
                                                 {"FILE_TEXT", transformer::model_file_text()},
                                                 {"KERNELS", std::move(tables.kernels)},
                                                 {"NUMBERS", std::move(tables.numbers)},
                                                 {"VARIANTS", std::move(tables.variants)},
                                                 {"VARIANTS_OF", std::move(tables.variants_of)},
                                                 {"PACKINGS", std::move(tables.packings)},
                                                 {"BCOLS", std::move(tables.bcols)},
                                                 {"LAYER_TABLE", std::move(tables.layers)},
                                                 {"FILE_BYTES", fmt::format("{}", model.file_bytes)}});
  return fill(model_source_template, holes);
}

std::string model_cmake_source(const ModelBundle& model) {
  std::map<std::string, std::string> holes = common_holes(model);
  std::vector<std::string> files;
  for (const auto& [name, kernel] : model.kernels) {
    files.push_back(name + ".cu");
  }
  holes.merge(std::map<std::string, std::string>{{"KERNELS", fmt::format("{}", fmt::join(files, "\n  "))},
                                                 {"ARCHITECTURES", fmt::format("{}", fmt::join(model.architectures, ";"))}});
  return fill(model_cmake_template, holes);
}

}  // namespace esc
