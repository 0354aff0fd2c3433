// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <future>
#include <map>
#include <mutex>

namespace esc {

/// Values by their keys, each made by whoever asks for it first, and kept; who asks meanwhile waits. Safe to use from
/// several threads.
template <typename Key, typename Value>
class MadeOnce {
 public:
  /// What is kept for the key, or else what `make()` gives. Where that throws, so does this for all who wait, and the
  /// next one makes it anew.
  template <typename Make>
  Value get(const Key& key, const Make& make) {
    std::promise<Value> promise;
    {
      std::unique_lock lock(mutex_);
      if (const auto found = kept_.find(key); found != kept_.end()) {
        const std::shared_future<Value> there = found->second;
        lock.unlock();
        return there.get();
      }
      kept_.emplace(key, promise.get_future().share());
    }
    try {
      Value made = make();
      promise.set_value(made);
      return made;
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);
      kept_.erase(key);
      throw;
    }
  }

  /// Whether it is made, or being made.
  bool has(const Key& key) {
    const std::lock_guard lock(mutex_);
    return kept_.contains(key);
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::shared_future<Value>> kept_;
};

}  // namespace esc
