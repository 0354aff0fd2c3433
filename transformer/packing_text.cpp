#include "transformer/packing_text.h"

#include <stdexcept>
#include <string_view>

namespace esc {

// Embedded by CMakeLists.txt: the headers of the same names, whole.
extern const std::string_view packed_format_file;
extern const std::string_view panel_sources_file;
extern const std::string_view packing_file;
extern const std::string_view pattern_check_file;

namespace transformer {
namespace {

std::string_view between_markers(std::string_view file) {
  constexpr std::string_view begin = "// [packing text begins]\n";
  constexpr std::string_view end = "// [packing text ends]\n";
  const std::size_t first = file.find(begin);
  const std::size_t last = file.find(end);
  if (first == file.npos || last == file.npos) {
    throw std::logic_error("a header of the packing text has lost its markers");
  }
  return file.substr(first + begin.size(), last - first - begin.size());
}

}  // namespace

std::string packing_text() {
  std::string text;
  for (const std::string_view file : {packed_format_file, panel_sources_file, packing_file, pattern_check_file}) {
    text += between_markers(file);
  }
  return text;
}

}  // namespace transformer
}  // namespace esc
