// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace esc {

/// A few GiB for the layers of a model that are in work at the same time, as far as can be told what they take before
/// they are read. Safe to use from several threads.
class LayerMemory {
 public:
  /// Of so many layers.
  explicit LayerMemory(std::size_t layers) : is_done_(layers) {}

  /// A layer that is in work for as long as this lives: layers are numbered from 0 on, without gaps.
  class Layer {
   public:
    Layer(LayerMemory& memory, std::size_t number) : memory_(memory), number_(number) {}
    ~Layer();
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;

    /// Waits until there is room for so many non-zeros. For the first of the layers that are not done there is in any
    /// case, so that others may wait for it.
    void reserve(std::int64_t nonzeros);

   private:
    LayerMemory& memory_;
    std::size_t number_;
    std::uint64_t reserved_ = 0;
  };

 private:
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::uint64_t reserved_ = 0;
  std::size_t first_ = 0;      ///< of the layers that are not done
  std::vector<bool> is_done_;  ///< of its size from the beginning: that a layer is done must not fail
};

}  // namespace esc
