# SPDX-License-Identifier: Apache-2.0
# Text files as constants of the program.
#
#   esc_embed_text(TARGET NAMES name... FILES file...)
#
# adds to TARGET a generated source that defines `extern const std::string_view name` in namespace esc for each file, in
# the same order. Who uses a text declares it. The source is made at build time, again whenever a file changes.

set(ESC_EMBED_TEXT_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/WriteTextSource.cmake)

function(esc_embed_text target)
  cmake_parse_arguments(ARG "" "" "NAMES;FILES" ${ARGN})
  list(LENGTH ARG_NAMES names)
  list(LENGTH ARG_FILES files)
  if(NOT names EQUAL files)
    message(FATAL_ERROR "esc_embed_text(${target}): ${names} names for ${files} files")
  endif()
  set(paths)
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND paths ${path})
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_texts.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${source}" "-DNAMES=${ARG_NAMES}" "-DFILES=${paths}" -P ${ESC_EMBED_TEXT_SCRIPT}
    DEPENDS ${paths} ${ESC_EMBED_TEXT_SCRIPT}
    COMMENT "Embedding texts in ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
