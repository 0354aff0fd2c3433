// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace esc {

/// An input program that is not the product, with the words of its refusal. An @ in the source marks the place that the
/// refusal points at, and is taken out before the source is parsed.
struct Refused {
  const char* name;
  std::string source;
  const char* words;
  const char* file = "nest.c";
};

inline void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

std::vector<Refused> refused_loops();
std::vector<Refused> refused_subscripts();
std::vector<Refused> refused_statements();
std::vector<Refused> refused_guards();
std::vector<Refused> refused_any_nests();
std::vector<Refused> invalid_texts();
std::vector<Refused> refused_epilogues();

}  // namespace esc
