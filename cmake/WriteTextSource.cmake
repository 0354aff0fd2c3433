# Run by esc_embed_text: writes OUTPUT, a C++ source that defines one string_view per entry of NAMES from FILES.

set(source "#include <string_view>\n\nnamespace esc {\n")
foreach(name path IN ZIP_LISTS NAMES FILES)
  file(READ "${path}" text)
  string(FIND "${text}" ")esc_text\"" delimiter)
  if(NOT delimiter EQUAL -1)
    message(FATAL_ERROR "${path} contains the delimiter of the raw string that would hold it")
  endif()
  string(APPEND source "\nextern const std::string_view ${name};\n"
                       "constinit const std::string_view ${name} = R\"esc_text(${text})esc_text\";\n")
endforeach()
string(APPEND source "\n}  // namespace esc\n")
file(WRITE "${OUTPUT}" "${source}")
