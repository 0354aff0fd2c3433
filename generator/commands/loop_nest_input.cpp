// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/loop_nest_input.h"

#include <fmt/format.h>

#include "generator/commands/epilogue_nest.h"
#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/nest_in_type.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/verify/confined_nest.h"

namespace esc {

namespace {

/// The text of the product in this layout, with the epilogue.
std::string shipped_nest(const NestSource& source) {
  const NestLayout layout = source.layout.value_or(NestLayout::kn);
  if (!source.epilogue.empty()) {
    return nest_with_epilogue(source.epilogue, layout);
  }
  return std::string(layout == NestLayout::nk ? linear_nk_template : spmm_template);
}

}  // namespace

LoopNest read_loop_nest(const NestSource& source, std::optional<ScalarType> element) {
  if (source.file.empty()) {
    const LoopNest nest = parse_loop_nest(shipped_nest(source), "spmm.c", NestHeaders::of_system, source.sizes);
    return in_type(nest, element.value_or(nest.element()));
  }
  if (source.layout) {
    throw UserError(fmt::format("--layout {}", name_of(*source.layout)),
                    "is of no use with --kernel, whose nest says how B and C lie", "leave one of the two out");
  }
  if (!source.epilogue.empty()) {
    throw UserError("--epilogue " + source.epilogue,
                    "is of no use with --kernel, whose nest says what becomes of the sums", "leave one of the two out");
  }
  const LoopNest nest = read_confined_nest(read_file(source.file), source.file, NestHeaders::beside, source.sizes);
  if (const std::optional<LoopNest> typed = written_for(nest, element.value_or(nest.element()))) {
    return *typed;
  }
  throw UserError(
      fmt::format("--dtype {}", name_of(*element)),
      fmt::format("is not what {} has: {}", source.file, name_of(nest.element())),
      fmt::format("leave --dtype out, or write the nest in {}", *element == ScalarType::tf32 ? "float" : "that type"));
}

}  // namespace esc
