// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>

#include "tuner/build/kernel_text.h"

namespace esc::tuning {

/// The machine code of all texts that a program has asked for, each built once.
class CubinStore {
 public:
  /// `builder` is called in parallel.
  explicit CubinStore(Builder builder) : builder_(std::move(builder)) {}

  /// Builds the text, or waits for whoever builds it already. Safe to call in parallel. Throws as the builder does.
  std::shared_ptr<const Cubin> get(const KernelText& text);

 private:
  using Result = std::shared_future<std::shared_ptr<const Cubin>>;
  Builder builder_;
  std::mutex mutex_;
  std::map<KernelText, Result> results_;
};

}  // namespace esc::tuning
