// SPDX-License-Identifier: Apache-2.0
#include "tuner/build/cubin_store.h"

namespace esc::tuning {

std::shared_ptr<const Cubin> CubinStore::get(const KernelText& text) {
  std::promise<std::shared_ptr<const Cubin>> mine;
  Result result;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [entry, inserted] = results_.try_emplace(text);
    if (inserted) {
      entry->second = mine.get_future().share();
    }
    result = entry->second;
    first = inserted;
  }
  if (first) {
    try {
      mine.set_value(std::make_shared<const Cubin>(builder_(text)));
    } catch (...) {
      mine.set_exception(std::current_exception());
    }
  }
  return result.get();
}

}  // namespace esc::tuning
