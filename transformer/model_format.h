// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file of a model's packed matrices, model.packed. As in packed_bytes.h, the text between the markers is part of
// what is generated: of the functions that open the file.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// A model's file: a header, the packed matrices, each at a multiple of 256, and after them an index with an entry for
// each. A matrix that is another one's neighbour by mistake differs from what is expected of it in its entry, a damaged
// one in its checksum.
// ---------------------------------------------------------------------------------------------------------------------

struct ModelEntry {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t description = 0;       ///< of the packed matrix's header, whatever its values
  uint64_t layer = 0;             ///< digest of the layer's name and pattern
  uint64_t payload_checksum = 0;  ///< of its values, too
  uint64_t reserved[3] = {};
};

struct ModelHeader {
  unsigned char magic[8] = {'E', 'S', 'C', 'M', 'O', 'D', 'L', 0x1a};
  uint32_t version = 1;
  uint32_t header_bytes = 256;
  uint64_t total_bytes = 0;
  uint64_t index_at = 0;
  uint64_t entries = 0;
  uint64_t index_checksum = 0;
  uint64_t reserved[25] = {};
  uint64_t header_checksum = 0;  ///< of the bytes before it
};
static_assert(sizeof(ModelEntry) == 64 && sizeof(ModelHeader) == header_bytes, "no padding of the compiler's");

/// Whether two headers say the same of a packed matrix, but for its values, these numbers say.
inline uint64_t description_of(Header header) {
  header.payload_checksum = 0;
  header.header_checksum = 0;
  return checksum(&header, sizeof header);
}

/// The header of a file with these entries.
inline ModelHeader make_model_header(const ModelEntry* index, uint64_t entries, uint64_t index_at) {
  ModelHeader header;
  header.total_bytes = index_at + entries * sizeof(ModelEntry);
  header.index_at = index_at;
  header.entries = entries;
  header.index_checksum = checksum(index, entries * sizeof(ModelEntry));
  header.header_checksum = checksum(&header, offsetof(ModelHeader, header_checksum));
  return header;
}

// [packing text ends]
}  // namespace esc::transformer
