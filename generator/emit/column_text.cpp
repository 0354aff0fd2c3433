// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/column_text.h"

#include <fmt/format.h>

namespace esc {

std::string copy_rows_text(const LoopNest& nest) {
  const std::optional<Layout>& layout = nest.array(ArrayRole::dense).layout;
  if (layout && !has_contiguous_rows(*layout)) {
    return "";
  }
  return fmt::format(R"(  // Past the registers where all are there, beside each other, and begin at a multiple of 16 bytes.
  const {}* const from = rows < vector_width{} ? nullptr : {};
  if (from != nullptr && reinterpret_cast<size_t>(from) % 16 == 0) {{
    __pipeline_memcpy_async(to, from, 16);
    return;
  }}
)",
                     c_name(nest.element()), layout ? "" : " || ldb != 1", layout ? "column_of_B(B, j, ldb).first + row_of_B(k, ldb).distance" : "B + k");
}

const char* element_of_column_text(const LoopNest& nest) {
  return nest.array(ArrayRole::dense).layout ? "element_of_B(row_of_B(k + r, ldb), column_of_B(B, j, ldb))" : "B[(k + r) * ldb + j]";
}

}  // namespace esc
