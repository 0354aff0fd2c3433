# Writes OUTPUT, a C++ file that holds the text of every file of HEADERS (a list joined by "|").
# Called as: cmake -DOUTPUT=... -DHEADERS=... -P embed_headers.cmake

string(REPLACE "|" ";" HEADERS "${HEADERS}")
set(entries "")
foreach(header IN LISTS HEADERS)
  get_filename_component(name "${header}" NAME)
  file(READ "${header}" hex HEX)
  # As bytes: a string literal longer than 64 KiB is beyond what every compiler takes, and this needs no quoting.
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "[^a-z0-9]" "_" symbol "${name}")
  string(APPEND arrays "constexpr unsigned char ${symbol}[] = {${bytes}};\n")
  string(APPEND entries "      {\"${name}\", text(${symbol})},\n")
endforeach()

file(WRITE "${OUTPUT}.new" "#include \"generator/emulate/standin_headers.h\"

#include <string>

namespace esc {
namespace {

${arrays}
template <std::size_t N>
std::string text(const unsigned char (&bytes)[N]) {
  return std::string(bytes, bytes + N);
}

}  // namespace

const std::vector<VirtualHeader>& standin_headers() {
  static const std::vector<VirtualHeader> kHeaders = {
${entries}  };
  return kHeaders;
}

}  // namespace esc
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
