# SPDX-License-Identifier: Apache-2.0
# What --version says of a build beside the version: the commit that it was configured at.

# Where the sources are no checkout of their own - an archive, a copy in another project's repository - nothing is known, unless it is given.
set(ESC_COMMIT "" CACHE STRING "Commit that --version names (empty: that of the checkout, unknown without one)")
set(ESC_BUILT_COMMIT "${ESC_COMMIT}")
find_package(Git QUIET)
# Sets `result` to what git answers, to nothing where it has none.
function(esc_ask_git result)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(answer "")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

if(NOT ESC_BUILT_COMMIT AND GIT_FOUND)
  esc_ask_git(root --show-toplevel)
  if(root STREQUAL PROJECT_SOURCE_DIR)
    esc_ask_git(ESC_BUILT_COMMIT --short=12 HEAD)
    # Each commit is named by the next build.
    esc_ask_git(log --git-path logs/HEAD)
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS "${log}")
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
    endif()
  endif()
endif()
if(NOT ESC_BUILT_COMMIT)
  set(ESC_BUILT_COMMIT unknown)
endif()
