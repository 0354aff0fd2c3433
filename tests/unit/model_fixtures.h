// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generator/model/assemble_weights.h"
#include "generator/model/npz.h"
#include "generator/model/safetensors.h"
#include "generator/model/weight.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc {

/// The models that SciPy and safetensors have written.
inline const std::filesystem::path written_models = ESC_SOURCE_DIR "/tests/data/models";

/// The bytes of a .safetensors file with this header, followed by `data` as it is.
inline std::string safetensors_bytes(const std::string& header, std::string_view data) {
  return raw_bytes<std::uint64_t>({header.size()}) + header + std::string(data);
}

/// `"NAME": {...}` of such a header.
inline std::string header_entry(const std::string& name, const std::string& type, const std::string& shape,
                                std::size_t begin, std::size_t end) {
  return "\"" + name + "\": {\"dtype\": \"" + type + "\", \"shape\": " + shape + ", \"data_offsets\": [" +
         std::to_string(begin) + ", " + std::to_string(end) + "]}";
}

/// A .safetensors file of tensors, one after the other.
class SafetensorsText {
 public:
  SafetensorsText& add(const std::string& name, const std::string& type, const std::string& shape,
                       const std::string& data) {
    header_ +=
        (header_.empty() ? "" : ", ") + header_entry(name, type, shape, data_.size(), data_.size() + data.size());
    data_ += data;
    return *this;
  }
  std::string bytes() const { return safetensors_bytes("{" + header_ + "}", data_); }

 private:
  std::string header_;
  std::string data_;
};

/// A member of an archive that is to be made.
struct ArchivedFile {
  std::string name;
  std::string content;
};

/// A zip archive of stored files, with the given checksums and no more than readers need.
std::string archive_of(const std::vector<ArchivedFile>& files);

inline std::vector<Weight> safetensors_of(std::string_view bytes) {
  return assemble_weights(read_safetensors(std::make_shared<const MemoryBytes>("a.safetensors", bytes)));
}

inline std::vector<Weight> npz_of(std::string_view bytes) {
  return read_npz(std::make_shared<const MemoryBytes>("a.npz", bytes));
}

}  // namespace esc
