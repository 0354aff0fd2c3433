// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/confine/allowance.h"
#include "generator/verify/confined_kernel.h"
#include "generator/verify/verify.h"

namespace esc {

/// Addresses that a call takes: those of B, C and what is like it, and of what is noted for each word of C.
std::uint64_t mapped_bytes(const SparseMatrix& matrix, const KernelCall& call, const BundleUnderTest& bundle);

/// What the kernel of a bundle is to do in a check: calls, each with the sample of rows and tiles that the effort
/// allows, and what they need. It says of which calls the kernel is relieved. The bundle and the effort must outlive
/// it.
class CallPlan {
 public:
  CallPlan(const BundleUnderTest& bundle, const EmulationEffort& effort) : bundle_(bundle), effort_(effort) {}

  void add(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed);
  /// A call of NAME_unpack, of so many rows that it takes no longer than a part of a product.
  void add_unpacking(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed);
  /// A call of NAME_values likewise, which writes other values into the packed matrix of the bundle.
  void add_repacking(const KernelCall& call, const OtherMatrix& other);

  const std::vector<TaskCall>& calls() const { return calls_; }
  /// Multiply-adds of a call, and of all.
  std::uint64_t work(std::size_t number) const { return work_[number]; }
  std::uint64_t all_work() const { return all_work_; }
  Allowance allowance() const;

  void say_what_is_left_out(VerificationReport& report) const;

 private:
  /// Of a call that writes so many bytes.
  void add_of(UnpackFunction function, const KernelCall& call, const SparseMatrix& matrix,
              std::span<const std::byte> packed, std::int64_t bytes);

  const BundleUnderTest& bundle_;
  const EmulationEffort& effort_;
  std::vector<TaskCall> calls_;
  std::vector<std::uint64_t> work_;
  std::uint64_t all_work_ = 0;
  std::int64_t most_touched_ = 0;
  std::uint64_t most_mapped_ = 0;
  std::vector<std::string> too_large_;
};

}  // namespace esc
