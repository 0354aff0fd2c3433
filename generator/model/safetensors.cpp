// SPDX-License-Identifier: Apache-2.0
#include "generator/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "generator/matrix/text_scanner.h"
#include "generator/model/tensor_name.h"
#include "generator/support/error.h"
#include "generator/support/plain_text.h"
#include "generator/support/strict_json.h"

namespace esc {
namespace {

using nlohmann::json;

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // as the format's own library has it
constexpr const char* write_again =
    "write the file again with safetensors.torch.save_file or safetensors.numpy.save_file";

bool is_printable(unsigned char c) { return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r'); }

std::string text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The text of the header, with what is needed to refuse it at a tensor.
class Header {
 public:
  explicit Header(const StoredBytes& file) : file_(file), text_(text_of(file)), json_(parse()) {}

  const json& entries() const { return json_; }
  /// The byte after the header: the first one of the tensors.
  std::uint64_t end() const { return length_bytes + text_.size(); }

  /// At the tensor's name in the header.
  [[noreturn]] void refuse(const std::string& name, const std::string& rule, const char* remedy = write_again) const {
    refuse_at_byte(file_, byte_of(name), fmt::format("{} {}", in_quotes(name), rule), remedy);
  }

 private:
  static std::string text_of(const StoredBytes& file) {
    if (file.size() < length_bytes) {
      refuse_at_byte(file, file.size(),
                     file.size() == 0 ? "the file is empty" : "the file ends before the length of its header",
                     write_again);
    }
    std::array<std::byte, length_bytes> raw;
    file.read_at(0, raw);
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
      length |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
    }
    if (std::ranges::all_of(raw, [](std::byte byte) { return is_printable(std::to_integer<unsigned char>(byte)); })) {
      refuse_at_byte(file, 0,
                     fmt::format("begins with the text {}, where a .safetensors file has the length of its header",
                                 in_quotes(text_of_bytes(raw))),
                     "look at what it is, and fetch or write it again");
    }
    if (length > file.size() - length_bytes) {
      refuse_at_byte(file, 0, fmt::format("a header of {} bytes is longer than the file of {}", length, file.size()),
                     "it is no .safetensors file, or cut short: fetch or write it again");
    }
    if (length > longest_header) {
      refuse_at_byte(file, 0, fmt::format("a header of {} bytes is beyond {}", length, longest_header), write_again);
    }
    std::string text(static_cast<std::size_t>(length), '\0');
    file.read_at(length_bytes, std::as_writable_bytes(std::span(text)));
    return text;
  }

  json parse() const {
    json parsed;
    try {
      parsed = parse_strict_json(text_, "");
    } catch (const json::parse_error& problem) {
      refuse_at_byte(file_, length_bytes + (problem.byte > 0 ? problem.byte - 1 : 0), "the header is not JSON",
                     write_again);
    } catch (const json::exception&) {
      refuse_at_byte(file_, length_bytes, "the header is not JSON", write_again);
    } catch (const UserError& twice) {
      const std::size_t at = text_.rfind('"' + twice.place() + '"');
      refuse_at_byte(file_, length_bytes + (at == text_.npos ? 0 : at),
                     fmt::format("{} {}", in_quotes(twice.place()), twice.rule()), "leave one of the two out");
    }
    if (!parsed.is_object()) {
      refuse_at_byte(file_, length_bytes, "the header is not an object of names and tensors", write_again);
    }
    return parsed;
  }

  std::uint64_t byte_of(const std::string& name) const {
    const std::size_t at = text_.find(json(name).dump(-1, ' ', false, json::error_handler_t::replace));
    return length_bytes + (at == text_.npos ? 0 : at);
  }

  const StoredBytes& file_;
  std::string text_;
  json json_;
};

void check_metadata(const Header& header, const json& metadata) {
  const bool is_texts =
      metadata.is_object() && std::ranges::all_of(metadata, [](const json& value) { return value.is_string(); });
  if (!is_texts) {
    header.refuse("__metadata__", "is not an object of texts");
  }
}

/// The number, if it is one from 0 to 2^63 - 1.
std::optional<std::int64_t> whole_number(const json& value) {
  if (!value.is_number_unsigned() ||
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> whole_numbers(const Header& header, const std::string& name, const json& entry,
                                        const char* key) {
  std::vector<std::int64_t> numbers;
  const json& list = entry.at(key);
  bool is_list = list.is_array();
  for (std::size_t index = 0; is_list && index < list.size(); ++index) {
    const std::optional<std::int64_t> number = whole_number(list[index]);
    is_list = number.has_value();
    numbers.push_back(number.value_or(0));
  }
  if (!is_list) {
    header.refuse(name, fmt::format("has a \"{}\" that is no list of whole numbers", key));
  }
  return numbers;
}

const TensorType& type_of(const Header& header, const std::string& name, const json& entry) {
  const json& type = entry.at("dtype");
  const TensorType* known = type.is_string() ? tensor_type(type.get<std::string>()) : nullptr;
  if (known == nullptr) {
    header.refuse(name,
                  fmt::format("has the unknown type {}",
                              in_quotes(type.is_string() ? type.get<std::string>()
                                                         : type.dump(-1, ' ', false, json::error_handler_t::replace))),
                  "convert the tensor to F32, F16 or BF16");
  }
  return *known;
}

StoredTensor read_entry(const Header& header, const std::shared_ptr<const StoredBytes>& file, const std::string& name,
                        const json& entry) {
  if (const std::string problem = name_problem(name); !problem.empty()) {
    header.refuse(name, "as the name of a tensor " + problem, "give the tensor another name");
  }
  static const std::set<std::string> keys{"dtype", "shape", "data_offsets"};
  if (!entry.is_object() || entry.size() != keys.size() ||
      !std::ranges::all_of(keys, [&](const std::string& key) { return entry.contains(key); })) {
    header.refuse(name, "does not have dtype, shape and data_offsets, and nothing else");
  }
  const TensorType& type = type_of(header, name, entry);
  const std::vector<std::int64_t> shape = whole_numbers(header, name, entry, "shape");
  const std::vector<std::int64_t> offsets = whole_numbers(header, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    header.refuse(name, "has data_offsets that are not a begin and an end");
  }
  const std::uint64_t data_bytes = file->size() - header.end();
  const auto begin = static_cast<std::uint64_t>(offsets[0]);
  const auto end = static_cast<std::uint64_t>(offsets[1]);
  if (end > data_bytes) {
    header.refuse(name, fmt::format("ends at byte {} of the tensors, of which the file has {}", end, data_bytes),
                  "the file is cut short or its header is wrong: fetch or write it again");
  }
  const std::optional<std::uint64_t> elements = element_count(shape);
  const auto bits = static_cast<std::uint64_t>(type.bits);
  if (!elements || *elements > std::numeric_limits<std::uint64_t>::max() / bits ||
      *elements * bits != 8 * (end - begin)) {
    header.refuse(name, fmt::format("has {} bytes, which is not the size of {} elements of type {}", end - begin,
                                    shape_text(shape), type.name));
  }
  return {.name = name,
          .type = &type,
          .shape = shape,
          .file = file,
          .begin = header.end() + begin,
          .end = header.end() + end};
}

/// Every byte after the header belongs to one tensor.
void check_places(const Header& header, const StoredBytes& file, const std::vector<StoredTensor>& tensors) {
  std::uint64_t reached = header.end();
  const StoredTensor* furthest = nullptr;  // the one that ends there
  for (const StoredTensor& tensor : tensors) {
    if (tensor.begin < reached && tensor.end > tensor.begin && furthest != nullptr) {
      header.refuse(tensor.name,
                    fmt::format("lies in the bytes of {}: tied weights, which the format does not have",
                                in_quotes(furthest->name)),
                    "write the model again with safetensors.torch.save_model, or save_file of clones, so that each has "
                    "bytes of its own or is left out");
    }
    if (tensor.begin != reached) {
      header.refuse(tensor.name, fmt::format("begins at byte {} of the file, and what lies before it ends at {}",
                                             tensor.begin, reached));
    }
    reached = tensor.end;
    furthest = &tensor;
  }
  if (reached != file.size()) {
    refuse_at_byte(file, reached, fmt::format("{} bytes follow the last tensor", file.size() - reached), write_again);
  }
}

}  // namespace

std::vector<StoredTensor> read_safetensors(const std::shared_ptr<const StoredBytes>& file) {
  const Header header(*file);
  std::vector<StoredTensor> tensors;
  for (const auto& [name, entry] : header.entries().items()) {
    if (name == "__metadata__") {
      check_metadata(header, entry);
    } else {
      tensors.push_back(read_entry(header, file, name, entry));
    }
  }
  std::ranges::stable_sort(tensors, [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_places(header, *file, tensors);
  return tensors;
}

}  // namespace esc
