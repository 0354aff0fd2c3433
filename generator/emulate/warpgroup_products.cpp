// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/warpgroup_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace esc {
namespace {

/// A signalling NaN that no arithmetic gives.
constexpr std::uint32_t kPoison = 0x7fa5c3e1;

bool is_poison(const float* place) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, place, sizeof(bits));
  return bits == kPoison;
}

/// Not as a float, which might become a quiet NaN on its way.
void poison(float* place) { std::memcpy(place, &kPoison, sizeof(kPoison)); }

/// Of a register without a place nobody knows.
bool holds(const std::uint32_t* place, std::uint32_t value) {
  return place == nullptr || std::memcmp(place, &value, sizeof(value)) == 0;
}

/// The registers of D are those that all lanes name.
bool names(const std::array<WarpgroupOperands*, kLanes>& lanes,
           const std::array<std::vector<float*>, kLanes>& registers) {
  return std::ranges::equal(
      lanes, registers, [](const WarpgroupOperands* lane, const auto& others) { return lane->registers == others; });
}

/// Eight columns at a time it is the product of `mma` of such elements, with the same rows of A. `b` has columns.
template <class Operands, class Columns, class Values>
void multiply(MatrixProduct::Element element, const Operands& a, const Columns& b, bool adds, Values& sums) {
  if (!adds) {
    for (auto& of_lane : sums) {
      std::ranges::fill(of_lane, 0.0F);
    }
  }
  std::array<std::array<std::uint32_t, 2>, kLanes> registers{};
  std::array<ProductFragments, kLanes> fragments;
  std::array<ProductFragments*, kLanes> lanes{};
  for (std::uint32_t first = 0; first < b.size(); first += 8) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const auto& column = b[first + lane / 4];
      registers[lane] = {column[lane % 4], column[lane % 4 + 4]};
      fragments[lane] = {sums[lane].data() + first / 2, a[lane].data(), registers[lane].data()};
      lanes[lane] = &fragments[lane];
    }
    multiply_matrices({element}, lanes);
  }
}

}  // namespace

void WarpgroupProducts::begin_block(std::uint32_t threads) {
  threads_ = threads;
  warps_.assign((threads + kLanes - 1) / kLanes, {});
  steps_.assign((warps_.size() + warps - 1) / warps, {});
}

void WarpgroupProducts::end_block() {
  for (std::uint32_t warp = 0; warp < warps_.size(); ++warp) {
    const WarpState& state = warps_[warp];
    if (!state.products.empty()) {
      judge_.registers().thread_index = state.products.front().thread;
      judge_.report(FaultKind::race, state.products.front().site, "", [&] {
        return fmt::format("the block ends while {} products of the warp are under way, for which it has not waited",
                           state.products.size());
      });
    }
    const std::vector<Step>& steps = steps_[warp / warps];
    if (state.steps < steps.size()) {
      const Step& missed = steps[state.steps];
      judge_.report(FaultKind::missing_lanes, missed.site, "", [&] {
        return fmt::format("{} of a warpgroup, of which warp {} has done {} steps and another one {}",
                           to_string(missed.kind), warp, state.steps, steps.size());
      });
    }
  }
}

/// The warps of a group take the same steps, whichever of them is the first to take one.
void WarpgroupProducts::take_step(std::uint32_t warp, Step step) {
  step.site = judge_.site();
  const std::uint32_t group = warp / warps;
  if ((group + 1) * warps * kLanes > threads_) {
    judge_.refuse(FaultKind::missing_lanes, "", [&] {
      return fmt::format("{} by warp {} of a block of {} threads, which end within the four warps from {} on",
                         to_string(step.kind), warp, threads_, group * warps);
    });
  }
  std::vector<Step>& steps = steps_[group];
  const std::size_t number = warps_[warp].steps++;
  if (number == steps.size()) {
    steps.push_back(step);
    return;
  }
  const Step& first = steps[number];
  if (first.kind != step.kind || first.site != step.site || first.pending != step.pending) {
    judge_.refuse(FaultKind::missing_lanes, "", [&] {
      return fmt::format("{} by warp {}, where another warp of its group has come to {} at {}", to_string(step.kind),
                         warp, to_string(first.kind), judge_.describe_site(first.site));
    });
  }
  if (first.descriptor != step.descriptor || first.adds != step.adds) {
    judge_.refuse(FaultKind::bad_operand, "", [&] {
      return fmt::format(
          "{} by warp {} with the descriptor {:#x}, {} to D, where another warp of its group has {:#x}, {}",
          to_string(step.kind), warp, step.descriptor, step.adds ? "added" : "not added", first.descriptor,
          first.adds ? "added" : "not added");
    });
  }
}

void WarpgroupProducts::fence(std::uint32_t warp) {
  take_step(warp, {WarpOperationKind::fence_products});
  warps_[warp].fenced = true;
}

void WarpgroupProducts::commit(std::uint32_t warp) {
  take_step(warp, {WarpOperationKind::commit_products});
  warps_[warp].groups.push_back(warps_[warp].products.size());
}

void WarpgroupProducts::check_alike(const std::array<WarpgroupOperands*, kLanes>& lanes) {
  const WarpgroupOperands& first = *lanes.front();
  for (std::uint32_t lane = 1; lane < kLanes; ++lane) {
    const WarpgroupOperands& other = *lanes[lane];
    if (other.descriptor != first.descriptor || other.adds != first.adds) {
      judge_.refuse(FaultKind::bad_operand, "", [&] {
        return fmt::format("wgmma.mma_async with the descriptor {:#x}, {} to D, in lane 0, but {:#x}, {}, in lane {}",
                           first.descriptor, first.adds ? "added" : "not added", other.descriptor,
                           other.adds ? "added" : "not added", lane);
      });
    }
  }
}

/// No register of D may be another one of the same product, nor of one under way that has not the very same D.
void WarpgroupProducts::check_apart(const WarpState& warp, const std::array<WarpgroupOperands*, kLanes>& lanes) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    std::vector<float*> mine = lanes[lane]->registers;
    std::ranges::sort(mine);
    bool apart = std::ranges::adjacent_find(mine) == mine.end();
    for (const Product& product : warp.products) {
      apart = apart && std::ranges::none_of(product.sums->registers[lane],
                                            [&](float* other) { return std::ranges::binary_search(mine, other); });
    }
    if (!apart) {
      judge_.refuse(FaultKind::bad_operand, "", [&] {
        return fmt::format(
            "wgmma.mma_async with a D of which lane {} has a register twice, or in the D of another product under way",
            lane);
      });
    }
  }
}

void WarpgroupProducts::issue(std::uint32_t warp, const std::array<WarpgroupOperands*, kLanes>& lanes) {
  check_alike(lanes);
  const WarpgroupOperands& first = *lanes.front();
  take_step(warp, {WarpOperationKind::issue_product, 0, first.descriptor, first.adds});
  WarpState& state = warps_[warp];
  if (!state.fenced) {
    judge_.refuse(FaultKind::race, "", [] {
      return std::string(
          "wgmma.mma_async, and no wgmma.fence of the warp is between it and the kernel's begin or the latest "
          "wgmma.wait_group");
    });
  }
  const auto same = std::ranges::find_if(state.products,
                                         [&](const Product& product) { return names(lanes, product.sums->registers); });
  if (same == state.products.end()) {
    check_apart(state, lanes);
  }
  Product product{.product = first.product,
                  .b = *first.matrix(),
                  .first_b = {},
                  .adds = first.adds,
                  .sums = {},
                  .thread = judge_.registers().thread_index,
                  .site = judge_.site()};
  product.first_b = read(product.b, first.columns());
  product.sums = same == state.products.end() ? std::make_shared<Sums>() : same->sums;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    product.a[lane] = lanes[lane]->a;
    product.places_of_a[lane] = lanes[lane]->places_of_a;
    if (same == state.products.end()) {
      product.sums->registers[lane] = lanes[lane]->registers;
      product.sums->values[lane] = lanes[lane]->values;
      std::ranges::for_each(lanes[lane]->registers, poison);
    }
  }
  state.products.push_back(std::move(product));
}

WarpgroupProducts::Matrix WarpgroupProducts::read(const MatrixDescriptor& descriptor, std::uint32_t columns) const {
  const std::uint64_t window = judge_.program().shared_window();
  Matrix matrix(columns);
  for (std::uint32_t number = 0; number < MatrixDescriptor::pieces(columns); ++number) {
    const auto* const piece = reinterpret_cast<const void*>(window + descriptor.piece(number));
    if (!descriptor.transposed) {
      std::memcpy(matrix[number / 2].data() + 4 * (number % 2), piece, MatrixDescriptor::piece_bytes);
      continue;
    }
    std::array<std::uint16_t, 8> halves{};
    std::memcpy(halves.data(), piece, MatrixDescriptor::piece_bytes);
    const std::uint32_t k = number % 16;
    for (std::uint32_t column = 0; column < halves.size(); ++column) {
      matrix[number / 16 * 8 + column][k / 2] |= std::uint32_t{halves[column]} << (k % 2 * 16);
    }
  }
  return matrix;
}

/// Neither A nor B nor D may be written between issue and wait.
void WarpgroupProducts::check_unchanged(const Product& product) {
  if (read(product.b, static_cast<std::uint32_t>(product.first_b.size())) != product.first_b) {
    judge_.refuse(FaultKind::race, "", [&] {
      return fmt::format(
          "wgmma.wait_group for the product at {}, since which the shared memory that it reads has been written",
          judge_.describe_site(product.site));
    });
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    check_registers(product, lane);
  }
}

/// Nor may registers be gone, so that other variables could be where they were.
void WarpgroupProducts::check_registers(const Product& product, std::uint32_t lane) {
  const auto refuse_unless = [&](bool unchanged, const char* matrix) {
    if (!unchanged) {
      judge_.refuse(FaultKind::race, "", [&] {
        return fmt::format(
            "wgmma.wait_group for the product at {}: lane {} has written a register of {} since, or left the function "
            "that it is a variable of",
            judge_.describe_site(product.site), lane, matrix);
      });
    }
  };
  refuse_unless(std::ranges::all_of(product.sums->registers[lane], is_poison), "D");
  refuse_unless(std::ranges::equal(product.places_of_a[lane], product.a[lane], holds), "A");
}

void WarpgroupProducts::wait(std::uint32_t warp, std::uint32_t pending) {
  take_step(warp, {.kind = WarpOperationKind::wait_for_products, .pending = pending});
  WarpState& state = warps_[warp];
  const std::size_t count = ended(warp, pending);
  std::for_each_n(state.products.begin(), count, [this](const Product& product) { check_unchanged(product); });
  for (std::size_t number = 0; number < count; ++number) {
    const Product& product = state.products[number];
    multiply(product.product.element, product.a, product.first_b, product.adds, product.sums->values);
    // D stays as it is where a product that is not completed adds to it.
    const std::shared_ptr<Sums> sums = std::move(state.products[number].sums);
    for (std::uint32_t lane = 0; lane < kLanes && sums.use_count() == 1; ++lane) {
      for (std::size_t sum = 0; sum < sums->values[lane].size(); ++sum) {
        *sums->registers[lane][sum] = sums->values[lane][sum];
      }
    }
  }
  state.products.erase(state.products.begin(), state.products.begin() + static_cast<std::ptrdiff_t>(count));
  std::erase_if(state.groups, [count](std::size_t end) { return end <= count; });
  for (std::size_t& end : state.groups) {
    end -= count;
  }
  state.fenced = false;
}

}  // namespace esc
