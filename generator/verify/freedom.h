// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/verify/policy_text.h"

namespace esc {

using Words = std::set<std::string, std::less<>>;

/// What a generated text leaves open, and what it fixes.
struct Freedom {
  std::vector<std::size_t> fixed;  ///< declarations that must be there in this order
  std::size_t first_gap = 1;       ///< before which of them others may be: these ...
  std::size_t last_gap = 0;        ///< ... to this one
  Words fixed_names;
  Words open_texts;    ///< what may be declared in another way ...
  Words open_names;    ///< ... and its names
  Words kernel_heads;  ///< kernels up to their bodies
  Words words;         ///< which the open part has
  Words parts;         ///< its conditional parts and directives
  Words assembly;
  Words statements;  ///< that have words of storage
};

bool is_kernel(const PolicyText& text, const Declaration& it);
/// Whether nothing in its form is beyond what a text may have of its own.
bool has_simple_form(const Declaration& it);
/// Whether the word gives a variable another lifetime than its block's, or a function another caller.
bool is_word_of_storage(std::string_view word);

/// An assembly statement up to its operands: "asm volatile ( "..."".
std::string assembly_at(const PolicyText& text, std::size_t at);
/// The statement of a declaration in which `at` is, up to its end or to a block that it opens.
std::string statement_at(const PolicyText& text, const Declaration& declaration, std::size_t at);

/// Of a kernel's text its kernels, device functions, and the constants and types that no host code uses, by itself or
/// by way of others, are open; of a transformer's all functions, constants and types before `enum Status`.
Freedom freedom_of_kernel(const PolicyText& generated);
Freedom freedom_of_transformer(const PolicyText& generated);

}  // namespace esc
