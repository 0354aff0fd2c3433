// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace esc {

/// Microseconds of one product with so many columns of B: dense, and by the bundle's kernel.
struct MeasuredProduct {
  std::int64_t columns = 0;
  double dense = 0;
  double ours = 0;
};

/// What was measured of a layer of a network.
struct MeasuredLayer {
  std::string kept;                         ///< why it stayed dense; empty where it was replaced
  std::optional<std::int64_t> dense_above;  ///< products of more columns are dense though it was replaced
  std::vector<MeasuredProduct> products;

  /// Microseconds of the product that the network has now.
  double now(const MeasuredProduct& product) const;
};

/// What `Report.save` of the Python package has written of a model.
struct MeasuredTimes {
  std::string gpu;
  std::map<std::string, MeasuredLayer> layers;  ///< by the names of their tensors

  /// All numbers of columns that some layer was measured with, ascending.
  std::vector<std::int64_t> columns() const;
};

/// All layers that were measured with so many columns, one after the other, in microseconds.
struct TotalTime {
  std::int64_t columns = 0;
  int layers = 0;
  double dense = 0;  ///< all of them dense
  double now = 0;    ///< as the network has them now

  double speed_up() const { return dense / now; }
};

/// A sum for each number of columns, ascending.
std::vector<TotalTime> total_times(const MeasuredTimes& times);

/// Reads such a file's text. Throws UserError, with the place in it, for what is none.
MeasuredTimes parse_measured_times(const std::string& text, const std::string& file);

}  // namespace esc
