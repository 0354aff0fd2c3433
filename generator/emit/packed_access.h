// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc {

/// What the text of a kernel needs beside its nest: how the packed matrix is read.
struct PackedAccess {
  /// An array of the packed matrix and where it starts: "Cols", "unsigned short",
  /// "reinterpret_cast<const unsigned short*>(packed + Cols_at)".
  struct Section {
    std::string array;
    std::string type;
    std::string place;
  };

  std::vector<std::string> constants;  ///< lines of the text
  std::vector<Section> sections;
  std::string offset_type = "int";  ///< of positions in sections
};

}  // namespace esc
