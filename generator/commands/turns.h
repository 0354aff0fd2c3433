// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace esc {

/// Turns of pieces of work that are done in several threads: piece 0 has the first one, and each that of its number.
/// Safe to use from several threads.
class Turns {
 public:
  /// Of so many pieces of work.
  explicit Turns(std::size_t count) : is_over_(count) {}

  /// The turn of a piece of work, over with this object at the latest, however the work ends: those after it wait for
  /// that. So it is before all that may fail.
  class Turn {
   public:
    Turn(Turns& turns, std::size_t number) : turns_(turns), number_(number) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { end(); }

    /// Waits until all those in front are over.
    void wait();
    void end() noexcept;

   private:
    Turns& turns_;
    std::size_t number_;
  };

 private:
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::size_t next_ = 0;       ///< the first that is not over
  std::vector<bool> is_over_;  ///< of its size from the beginning, so that ending a turn never asks for memory
};

}  // namespace esc
