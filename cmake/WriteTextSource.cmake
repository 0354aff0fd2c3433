# SPDX-License-Identifier: Apache-2.0
# Run by esc_embed_text: writes OUTPUT, a C++ source that defines one string_view per entry of NAMES from FILES. The line
# that says under which licence the project has a file is no part of its text: what is generated from it has a line of its own.

set(source "#include <string_view>\n\nnamespace esc {\n")
foreach(name path IN ZIP_LISTS NAMES FILES)
  file(READ "${path}" text)
  string(REGEX REPLACE "^(//|#) SPDX-License-Identifier: [^\n]*\n" "" text "${text}")
  string(REGEX REPLACE "^(#![^\n]*\n)# SPDX-License-Identifier: [^\n]*\n" "\\1" text "${text}")
  string(FIND "${text}" ")esc_text\"" delimiter)
  if(NOT delimiter EQUAL -1)
    message(FATAL_ERROR "${path} contains the delimiter of the raw string that would hold it")
  endif()
  # Its length by sizeof: compilers count the characters of a long literal within a limit.
  string(APPEND source "\nconstexpr char characters_of_${name}[] = R\"esc_text(${text})esc_text\";\n"
                       "extern const std::string_view ${name};\n"
                       "constinit const std::string_view ${name}{characters_of_${name}, sizeof characters_of_${name} - 1};\n")
endforeach()
string(APPEND source "\n}  // namespace esc\n")
file(WRITE "${OUTPUT}" "${source}")
