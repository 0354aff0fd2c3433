// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>

namespace esc {

/// A lowering step that must refuse, and words of its reason.
struct StepRefusal {
  const char* what;
  std::function<void()> step;
  const char* words;
};

inline void PrintTo(const StepRefusal& refusal, std::ostream* out) { *out << refusal.what; }

/// Each family has a table of them.
class RefusedStep : public testing::TestWithParam<StepRefusal> {};

}  // namespace esc
