#include "generator/commands/loop_nest_input.h"

#include <fmt/format.h>

#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/verify/confined_nest.h"

namespace esc {

LoopNest read_loop_nest(const std::string& file, std::optional<ScalarType> element) {
  LoopNest nest = file.empty() ? parse_loop_nest(std::string(spmm_template), "spmm.c")
                               : read_confined_nest(read_file(file), file, NestHeaders::beside);
  const ScalarType written = nest.element();
  if (!file.empty() && element && *element != written) {
    throw UserError(fmt::format("--dtype {}", name_of(*element)), fmt::format("is not what {} has: {}", file, name_of(written)),
                    "leave --dtype out, or write the nest in that type");
  }
  for (ArrayDeclaration& array : nest.arrays) {
    array.type = element.value_or(written);
  }
  return nest;
}

}  // namespace esc
