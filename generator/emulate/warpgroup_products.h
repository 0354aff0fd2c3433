// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "generator/emulate/access_judge.h"
#include "generator/emulate/matrix_descriptor.h"
#include "generator/emulate/matrix_fragments.h"
#include "generator/emulate/warp.h"

namespace esc {

/// What one lane brings to a product of a warpgroup (`wgmma.mma_async`), of 64 rows, two columns for each sum and 8
/// words of each.
struct WarpgroupOperands {
  std::vector<float*> registers;  ///< of D
  std::vector<float> values;      ///< what these hold
  MatrixProduct product;          ///< of which elements, and whether B is transposed; the statement says it
  std::array<std::uint32_t, 4> a{};
  std::array<const std::uint32_t*, 4> places_of_a{};  ///< null where it is no variable
  std::uint64_t descriptor = 0;
  bool adds = false;  ///< to what D holds, else to zero

  std::optional<MatrixDescriptor> matrix() const { return MatrixDescriptor::of(descriptor, product.transposed); }

  std::uint32_t columns() const { return static_cast<std::uint32_t>(2 * registers.size()); }
};

/// The products that the warps of a block have under way, in groups of four warps. As late as can be is when D is
/// written: where a warp waits. Until then its registers hold a signalling NaN, so that who reads them early gets that,
/// and A and B must stay as they are. Each warp has its own rows and is followed by itself; that four do the same is
/// judged by what they do in turn. What has no meaning is a fault that stops the running thread.
class WarpgroupProducts {
 public:
  static constexpr std::uint32_t warps = 4;  ///< of a group

  /// Where a product finds B, and how many columns that has.
  struct Place {
    MatrixDescriptor matrix;
    std::uint32_t columns = 0;
  };

  explicit WarpgroupProducts(AccessJudge& judge) : judge_(judge) {}

  void begin_block(std::uint32_t threads);
  /// Reports products under way, and groups whose warps did not do the same.
  void end_block();

  // Each of a whole warp, whose last lane runs:

  void fence(std::uint32_t warp);
  void issue(std::uint32_t warp, const std::array<WarpgroupOperands*, kLanes>& lanes);
  void commit(std::uint32_t warp);
  /// Completes what is committed, in the order of issue, but for the last `pending` groups. All that this reads has
  /// been judged.
  void wait(std::uint32_t warp, std::uint32_t pending);

  /// How many products of a warp such a wait completes, and where each of them finds B.
  std::size_t ended(std::uint32_t warp, std::uint32_t pending) const {
    const std::vector<std::size_t>& groups = warps_[warp].groups;
    return groups.size() <= pending ? 0 : groups[groups.size() - 1 - pending];
  }
  Place place(std::uint32_t warp, std::size_t product) const {
    const Product& found = warps_[warp].products[product];
    return {found.b, static_cast<std::uint32_t>(found.first_b.size())};
  }

 private:
  /// The registers of D in all lanes, which several products in turn may add to.
  struct Sums {
    std::array<std::vector<float*>, kLanes> registers;
    std::array<std::vector<float>, kLanes> values;
  };

  /// B by columns.
  using Matrix = std::vector<std::array<std::uint32_t, 8>>;

  struct Product {
    MatrixProduct product;
    std::array<std::array<std::uint32_t, 4>, kLanes> a{};
    std::array<std::array<const std::uint32_t*, 4>, kLanes> places_of_a{};
    MatrixDescriptor b;
    Matrix first_b;  ///< as it was when the product was issued
    bool adds = false;
    std::shared_ptr<Sums> sums;
    Dim3 thread;
    std::uint32_t site = 0;
  };

  /// What a warp does that the others of its group must do, too.
  struct Step {
    WarpOperationKind kind = WarpOperationKind::sync;
    std::uint32_t site = 0;
    std::uint64_t descriptor = 0;
    bool adds = false;
    std::uint32_t pending = 0;
  };

  struct WarpState {
    bool fenced = false;  ///< since it began or waited
    std::size_t steps = 0;
    std::vector<Product> products;
    std::vector<std::size_t> groups;  ///< how many of them had been issued where each group was committed
  };

  void take_step(std::uint32_t warp, Step step);
  void check_alike(const std::array<WarpgroupOperands*, kLanes>& lanes);
  void check_apart(const WarpState& warp, const std::array<WarpgroupOperands*, kLanes>& lanes);
  Matrix read(const MatrixDescriptor& descriptor, std::uint32_t columns) const;
  void check_unchanged(const Product& product);
  void check_registers(const Product& product, std::uint32_t lane);

  AccessJudge& judge_;
  std::uint32_t threads_ = 0;
  std::vector<WarpState> warps_;
  std::vector<std::vector<Step>> steps_;  ///< by group
};

}  // namespace esc
