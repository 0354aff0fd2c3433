// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace esc {

/// The first two columns of a table of layers: name and shape. A name that is too long for its column has a line of its
/// own, so that rows stay within a page.
class LayerRows {
 public:
  /// Makes room for a layer that the table is going to have.
  void expect(const std::string& name, const std::string& shape);

  /// "name    shape   ", without an end of line; an empty name continues the layer of the row before.
  std::string head(const std::string& name, const std::string& shape) const;

  /// A row of a layer: `figures` of a fixed width, and words, whose further lines begin below the first one.
  std::string row(const std::string& name, const std::string& shape, const std::string& figures,
                  const std::string& words) const;

 private:
  std::size_t name_columns_ = 5;
  std::size_t shape_columns_ = 5;
};

}  // namespace esc
