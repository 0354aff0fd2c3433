// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "generator/commands/layer_request.h"
#include "generator/commands/model_spec.h"
#include "generator/emit/generate.h"
#include "generator/emit/manifest.h"
#include "generator/ir/loop_nest.h"
#include "generator/patterns/csr_view.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/plain_text.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/tiny_layer.h"
#include "transformer/pack.h"
#include "transformer/unpack.h"

namespace esc::fuzz {
namespace {

using nlohmann::json;

/// Layers of several families, of both types that have units of their own, of a row alone and of nothing but zeros.
std::vector<GeneratedLayer> layers_of_bundles() {
  std::vector<GeneratedLayer> layers;
  const auto add = [&layers](const SparseMatrix& matrix, std::int64_t bcol, const char* schedule) {
    layers.push_back(tiny_layer(spmm_nest(matrix.element), matrix, bcol, parse_choice(schedule, "user")));
  };
  const SparseMatrix matrix = tiny_matrix(ScalarType::f32);
  add(matrix, 64, "3-7-2-32");
  add(matrix, 5, "atomic:ufi=3,ufk=2,warptile=1,threads=32,compaction=off");
  add(matrix, 5, "panel:ufi=4,columns=4,vector=1,groups=4,warps=2,panels=4,ufk=8,stage=on,pdl=off");
  add(matrix, 5, "rows:columns=4,vector=1,unroll=2,task=8,light=2,warps=2,pdl=on");
  add(tiny_matrix(ScalarType::f64), 8,
      "panel:ufi=2,columns=8,vector=2,groups=4,warps=2,panels=4,ufk=4,stage=on,pdl=on");
  add({1, 5, {0, 2}, {1, 3}, {0.5, -2}}, 33, "4-7-1-32");
  add({6, 9, {0, 0, 0, 0, 0, 0, 0}, {}, {}}, 32, "4-7-1-32");
  return layers;
}

/// What a spec has to say to ask for the layer.
json entry_of(const LayerRequest& request) {
  json entry{{"matrix", request.matrix},
             {"bcol", request.bcol},
             {"name", request.name},
             {"schedule", request.schedule},
             {"seed", request.read.seed}};
  if (!request.nest.file.empty()) {
    entry["kernel"] = request.nest.file;
  }
  if (!request.nest.epilogue.empty()) {
    entry["epilogue"] = request.nest.epilogue;
  }
  if (!request.nest.sizes.named.empty()) {
    entry["sizes"] = request.nest.sizes.named;
  }
  if (request.element) {
    entry["dtype"] = name_of(*request.element);
  }
  for (const TargetDevice& device : request.devices) {
    entry[device.name.starts_with("sm_") ? "arch" : "gpu"] = device.name;
  }
  return entry;
}

auto numbers_of(const LayerRequest& request) {
  std::vector<std::pair<std::string, DeviceKey>> devices;
  for (const TargetDevice& device : request.devices) {
    devices.emplace_back(device.name, device.key);
  }
  return std::tuple(request.matrix, request.bcol, request.name, request.schedule, request.nest.file,
                    request.nest.epilogue, request.nest.sizes.named, devices, request.element, request.read.seed);
}

/// Whether it is the spec of a model, which says for which columns of B each layer is made.
bool judge_model_spec(std::string_view input) {
  std::optional<ModelSpec> spec;
  if (!is_accepted([&] { spec = parse_model_spec(std::string(input), "spec.json"); }) || !spec) {
    return false;
  }
  expect(!spec->request.token_counts.empty() && !spec->request.layer.matrix.empty(),
         "a spec of a model without model or columns");
  for (const LayerException& exception : spec->request.exceptions) {
    expect(!exception.skip || (exception.bcols.empty() && exception.schedule.empty()),
           "a layer that is left out and made");
  }
  return true;
}

bool judge_spec(std::string_view input) {
  if (judge_model_spec(input)) {
    return true;
  }
  std::vector<LayerRequest> requests;
  if (!is_accepted([&] { requests = parse_spec(std::string(input), "spec.json"); })) {
    return false;
  }
  expect(!requests.empty(), "a spec without layers");
  json entries = json::array();
  for (const LayerRequest& request : requests) {
    entries.push_back(entry_of(request));
  }
  const std::string printed = json{{"layers", entries}}.dump();
  const std::vector<LayerRequest> again = parse_spec(printed, "printed.json");
  expect(again.size() == requests.size(), "a spec that is printed as another one: " + printed);
  for (std::size_t number = 0; number < again.size(); ++number) {
    expect(numbers_of(again[number]) == numbers_of(requests[number]),
           "a layer that is printed as another one: " + printed);
  }
  return true;
}

auto numbers_of(const Manifest& manifest) {
  return std::tuple(manifest.name, manifest.rows, manifest.columns, manifest.bcol, manifest.nonzeros,
                    manifest.pattern_sha256, manifest.values_sha256, manifest.schedule, manifest.loop_nest,
                    manifest.tool_version, manifest.source, manifest.schedule_source, manifest.architectures);
}

bool judge_manifest(std::string_view input) {
  const std::string text(input);
  static_cast<void>(is_manifest_of(text, "awkward"));
  Manifest manifest;
  if (!is_accepted([&] { manifest = parse_manifest(text, "manifest.json"); })) {
    return false;
  }
  expect(is_manifest_of(text, manifest.name), "a manifest that is none of its own name");
  const json printed{{"format_version", 2},
                     {"layout", manifest.layout},
                     {"dtype", "f32"},
                     {"name", manifest.name},
                     {"m", manifest.rows},
                     {"k", manifest.columns},
                     {"bcol", manifest.bcol},
                     {"nnz", manifest.nonzeros},
                     {"pattern_sha256", manifest.pattern_sha256},
                     {"values_sha256", manifest.values_sha256},
                     {"schedule", {{"text", manifest.schedule}, {"source", manifest.schedule_source}}},
                     {"loop_nest", manifest.loop_nest},
                     {"tool_version", manifest.tool_version},
                     {"source", manifest.source},
                     {"architectures", manifest.architectures}};
  expect(numbers_of(parse_manifest(printed.dump(), "printed.json")) == numbers_of(manifest),
         "a manifest that is printed as another one: " + printed.dump());
  return true;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// A matrix without non-zeros has few bytes and any number of rows, and unpacking takes room for those.
constexpr std::int64_t most_rows = 1 << 16;

bool is_small(const transformer::PackedFormat& format) {
  return std::visit([](const auto& known) { return known.shape.rows <= most_rows; }, format);
}

/// A matrix whose packing gives these bytes.
bool judge_packed_bytes(std::string_view packed) {
  try {
    const transformer::PackedFormat format = transformer::read_format(bytes_of(packed));
    if (!is_small(format)) {
      return true;
    }
    const transformer::CsrMatrix matrix = transformer::unpack(bytes_of(packed));
    transformer::check(matrix.view());
    std::visit(
        [&](const auto& known) {
          const auto again = transformer::pack(matrix.view(), known.shape);
          expect(std::ranges::equal(again.bytes.span(), bytes_of(packed)),
                 "a packed matrix that is packed as another one");
        },
        format);
    return true;
  } catch (const transformer::FormatError& refusal) {
    const std::string words = refusal.what();
    expect(!words.empty() && is_plain_text(words), "a refusal without plain words: " + words);
    return false;
  }
}

template <typename Value>
void put(std::string& bytes, std::size_t at, Value value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// The bytes with the size and the checksums that they have, so that what is between these is looked at.
std::string sealed(std::string_view packed) {
  using transformer::Header;
  std::string bytes(packed);
  bytes.resize(transformer::round_up(std::max<std::size_t>(bytes.size(), transformer::header_bytes), 8));
  put<std::uint64_t>(bytes, offsetof(Header, total_bytes), bytes.size());
  put(bytes, offsetof(Header, payload_checksum),
      transformer::checksum(bytes.data() + transformer::header_bytes, bytes.size() - transformer::header_bytes));
  put(bytes, offsetof(Header, header_checksum), transformer::checksum(bytes.data(), offsetof(Header, header_checksum)));
  return bytes;
}

bool judge_packed(std::string_view input) {
  const bool accepted = judge_packed_bytes(input);
  const bool accepted_sealed = judge_packed_bytes(sealed(input));
  return accepted || accepted_sealed;
}

/// The tiny matrix, packed. Its values are small whole numbers.
template <typename Cut>
void add_packed(std::vector<std::string>& seeds, const Cut& cut, transformer::ScalarType element) {
  const SparseMatrix matrix = tiny_matrix(esc::ScalarType::f32);
  transformer::CsrView view = csr_view(matrix);
  view.element = element;
  const auto packed = transformer::pack(view, cut);
  const std::span<const std::byte> bytes = packed.bytes.span();
  seeds.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// The same with each type of elements that the cut allows.
template <typename Cut>
void add_packed(std::vector<std::string>& seeds, const Cut& cut) {
  using transformer::ScalarType;
  for (const ScalarType element : {ScalarType::f32, ScalarType::f64, ScalarType::f16, ScalarType::bf16}) {
    if (Cut::elements.allows(static_cast<std::uint64_t>(element))) {
      add_packed(seeds, cut, element);
    }
  }
}

}  // namespace

Harness spec_harness() {
  return {
      .kind = "spec",
      .judge = judge_spec,
      .seeds =
          {project_file("generated/spec.json"), R"({"layers": [{"matrix": "a.npy", "bcol": 64}]})",
           R"({"model": "a.safetensors", "bcol": [1, 16], "min_sparsity": 0.5, "gpu": ["h200"], "exceptions": [{"tensor": "b*", "bcol": 4}, {"tensor": "c", "skip": true}]})",
           R"json({"layers": [
  {"matrix": "layers/ffn-1.smtx", "bcol": [32, 64, 128], "name": "ffn1", "schedule": "auto", "seed": 7, "gpu": "h200"},
  {"matrix": "/data/ffn2.mtx", "bcol": [8], "kernel": "../nest.c", "sizes": {"stride": 2, "pad": 0}, "dtype": "f64", "arch": "sm_90"},
  {"matrix": "c.mtx", "bcol": 32, "schedule": "unroll(i, 2); enumerate(); merge()", "dtype": "f32"},
  {"matrix": "d.npy", "bcol": 128, "schedule": "published", "arch": "80", "seed": 18446744073709551615}
]})json"},
      .words = {"{",
                "}",
                "[",
                "]",
                ",",
                ":",
                "\"",
                "\"matrix\"",
                "\"bcol\"",
                "\"name\"",
                "\"schedule\"",
                "\"kernel\"",
                "\"sizes\"",
                "\"dtype\"",
                "\"seed\"",
                "\"gpu\"",
                "\"arch\"",
                "\"layers\"",
                "\"model\"",
                "\"exceptions\"",
                "\"tensor\"",
                "\"skip\"",
                "\"min_sparsity\"",
                "null",
                "true",
                "0",
                "1",
                "-1",
                "1.5",
                "1e400",
                "2147483647",
                "2147483648",
                "9223372036854775808",
                "18446744073709551616",
                "\"\"",
                "\"auto\"",
                "\"f32\"",
                "\"h100\"",
                "\"sm_80\"",
                "\\u0000",
                "\\ud800",
                "\\n",
                "\xff",
                "4-7-1-32",
                "\"..\"",
                "/"},
      .mutants = 2600};
}

Harness manifest_harness() {
  Harness harness{.kind = "manifest",
                  .judge = judge_manifest,
                  .words = {"{",
                            "}",
                            "[",
                            "]",
                            ",",
                            ":",
                            "\"",
                            "null",
                            "true",
                            "0",
                            "1",
                            "-1",
                            "2",
                            "1.5",
                            "1e400",
                            "2147483647",
                            "2147483648",
                            "9223372036854775808",
                            "18446744073709551616",
                            "\"\"",
                            "\"kn\"",
                            "\"f32\"",
                            "\"f64\"",
                            "\"m\"",
                            "\"name\"",
                            "\"schedule\"",
                            "\"text\"",
                            "\\u0000",
                            "\\ud800",
                            "\\n",
                            "\xff",
                            "../x"},
                  .mutants = 2600};
  harness.seeds.push_back(project_file("generated/digits_hidden/manifest.json"));
  for (const GeneratedLayer& layer : layers_of_bundles()) {
    harness.seeds.push_back(manifest_json(layer.layer, {}, {}));
  }
  return harness;
}

Harness packed_harness() {
  Harness harness{
      .kind = "packed",
      .judge = judge_packed,
      .words = {std::string(8, '\0'), std::string("\1\0\0\0\0\0\0\0", 8), std::string("\2\0\0\0\0\0\0\0", 8),
                std::string("\xff\xff\xff\x7f\0\0\0\0", 8), std::string(8, '\xff'), std::string("\0\0\x80\x7f", 4),
                std::string("\0\0\xc0\x7f", 4), std::string("\0\0\0\x80", 4), std::string("\0\0\1\0", 4), "ESCPACK\x1a",
                "ESCREGN\x1a", "ESCTASK\x1a", "ESCFRAG\x1a", "ESCGATH\x1a", "ESCBITM\x1a", "ESCSP24\x1a"},
      .mutants = 5300};
  for (const GeneratedLayer& layer : layers_of_bundles()) {
    const std::span<const std::byte> bytes = layer.bytes();
    harness.seeds.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  using namespace transformer;
  add_packed(harness.seeds, ListCut{.height = 2, .max_list_columns = 3});
  add_packed(harness.seeds, ListCut{.height = 5, .max_list_columns = 64});
  add_packed(harness.seeds, RegionCut{.height = 2, .warp_row_tiles = 2, .block_row_tiles = 4});
  add_packed(harness.seeds, RegionCut{.height = 1, .warp_row_tiles = 1, .block_row_tiles = 2});
  add_packed(harness.seeds, TaskCut{.longest = 4, .light = 2, .block_heavy = 2, .block_light = 4});
  add_packed(harness.seeds, TaskCut{.longest = 64, .light = 8, .block_heavy = 1, .block_light = 2});
  add_packed(harness.seeds, FragmentCut{.block_row_tiles = 2, .steps = 1, .residuals = 2});
  add_packed(harness.seeds, FragmentCut{.block_row_tiles = 1, .steps = 3, .residuals = 0});
  add_packed(harness.seeds, FragmentCut{.block_row_tiles = 2, .steps = 3, .residuals = 1});
  add_packed(harness.seeds, FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = 9});
  add_packed(harness.seeds, FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = 9, .placed = 1},
             transformer::ScalarType::f32);
  add_packed(harness.seeds,
             FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = 9, .placed = 1, .joined = 2, .shares = 4},
             transformer::ScalarType::f32);
  add_packed(harness.seeds,
             FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = 9, .placed = 2, .joined = 2, .shares = 4},
             transformer::ScalarType::f32);
  add_packed(harness.seeds, BitmapCut{});
  return harness;
}

}  // namespace esc::fuzz
