// SPDX-License-Identifier: Apache-2.0
#include "generator/model/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "generator/model/zip_member_source.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using enum StoredElement;

struct NamedType {
  TensorType type;
  std::string_view numpy;  ///< empty where NumPy has no such type
};

const std::array<NamedType, 22> known_types{
    {{{"F64", 64, float64}, "<f8"}, {{"F32", 32, float32}, "<f4"}, {{"F16", 16, float16}, "<f2"},
     {{"BF16", 16, bfloat16}, ""},  {{"I64", 64, {}}, "<i8"},      {{"I32", 32, {}}, "<i4"},
     {{"I16", 16, {}}, "<i2"},      {{"I8", 8, {}}, "|i1"},        {{"U64", 64, {}}, "<u8"},
     {{"U32", 32, {}}, "<u4"},      {{"U16", 16, {}}, "<u2"},      {{"U8", 8, {}}, "|u1"},
     {{"BOOL", 8, {}}, "|b1"},      {{"C64", 64, {}}, "<c8"},      {{"F8_E4M3", 8, {}}, ""},
     {{"F8_E5M2", 8, {}}, ""},      {{"F8_E8M0", 8, {}}, ""},      {{"F8_E4M3FNUZ", 8, {}}, ""},
     {{"F8_E5M2FNUZ", 8, {}}, ""},  {{"F4", 4, {}}, ""},           {{"F6_E2M3", 6, {}}, ""},
     {{"F6_E3M2", 6, {}}, ""}}};

}  // namespace

const TensorType* tensor_type(std::string_view name) {
  const auto found = std::ranges::find_if(known_types, [&](const NamedType& known) { return name == known.type.name; });
  return found == known_types.end() ? nullptr : &found->type;
}

const TensorType* numpy_tensor_type(std::string_view name) {
  const auto found =
      std::ranges::find_if(known_types, [&](const NamedType& known) { return !name.empty() && name == known.numpy; });
  return found == known_types.end() ? nullptr : &found->type;
}

std::uint64_t StoredTensor::elements() const { return element_count(shape).value(); }

std::unique_ptr<ByteSource> open_tensor(const StoredTensor& tensor) {
  if (tensor.member) {
    return std::make_unique<ZipMemberSource>(tensor.file, *tensor.member, tensor.place(), tensor.skipped);
  }
  return std::make_unique<RangeSource>(tensor.place(), tensor.file, tensor.begin, tensor.end);
}

void refuse_element(const StoredTensor& tensor, std::uint64_t index, const std::string& rule,
                    const std::string& remedy) {
  const std::uint64_t byte = (tensor.member ? tensor.skipped : tensor.begin) + index * tensor.type->bytes();
  throw UserError(fmt::format("{}, byte {}", tensor.place(), byte), rule, remedy);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

std::optional<std::uint64_t> element_count(const std::vector<std::int64_t>& shape) {
  constexpr auto most = std::uint64_t{1} << 60;
  std::uint64_t count = 1;
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
    return std::nullopt;
  }
  if (std::ranges::find(shape, 0) != shape.end()) {
    return 0;
  }
  for (const std::int64_t extent : shape) {
    if (static_cast<std::uint64_t>(extent) > most / count) {
      return std::nullopt;
    }
    count *= static_cast<std::uint64_t>(extent);
  }
  return count;
}

}  // namespace esc
