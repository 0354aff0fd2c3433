#include "generator/commands/input.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc {

LoopNest read_loop_nest(const std::string& file) {
  return file.empty() ? parse_loop_nest(std::string(spmm_template), "spmm.c") : parse_loop_nest(read_file(file), file);
}

std::string default_name(const std::string& matrix_file) {
  std::string name = std::filesystem::path(matrix_file).stem().string();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "layer_" + name : name;
}

void check_name(const std::string& name) {
  const bool valid = !name.empty() && name.size() <= 64 && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                     std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!valid) {
    throw UserError("--name " + name, "cannot be the prefix of C functions",
                    "use letters, digits and underscores, at most 64, and no digit first");
  }
}

}  // namespace esc
