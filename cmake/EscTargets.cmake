# SPDX-License-Identifier: Apache-2.0
# How every target of the project is compiled: C++20, warnings as errors, and the sanitizers or counters where a preset asks for
# them.

set(ESC_SANITIZE "" CACHE STRING "Sanitizers for every target, as for -fsanitize= (empty: none)")

# A fuzzer sees which branches an input takes in whatever it links: the build tree of fuzzers is compiled for that as a whole.
option(ESC_BUILD_FUZZERS "Offer the libFuzzer programs (needs Clang)" OFF)
if(ESC_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "libFuzzer comes with Clang: configure with --preset fuzz")
  endif()
  if(NOT ESC_SANITIZE)
    set(ESC_SANITIZE "fuzzer-no-link,address,undefined")
  endif()
endif()

# Counters stand in files that every process maps while it runs, so that what a confined or a killed process ran is counted too.
option(ESC_COVERAGE "Count which lines run, in the folder profile of the build tree (needs Clang)" OFF)
if(ESC_COVERAGE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "Lines are counted by Clang's counters: configure with --preset coverage")
endif()

add_library(esc_options INTERFACE)
target_compile_features(esc_options INTERFACE cxx_std_20)
target_compile_options(esc_options INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Werror)
# What is computed is the same to the last bit with every compiler: Clang joins products and sums unless told not to.
target_compile_options(esc_options INTERFACE -ffp-contract=off)
# GCC 12 sees overlapping copies in operator+ of std::string (its bug 105651).
target_compile_options(esc_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Without it GCC spends a tenth of its time on looking for memory that it could use again, precompiled headers included.
target_compile_options(esc_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)
# Files that are compiled as one have constants of the same names; GCC alone tells those of another file apart.
target_compile_options(esc_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wshadow>)
# The standard library's own std::stable_sort calls std::get_temporary_buffer, and embedded texts are long.
target_compile_options(esc_options INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations -Wno-overlength-strings>)
if(ESC_SANITIZE)
  target_compile_options(esc_options INTERFACE -fsanitize=${ESC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(esc_options INTERFACE -fsanitize=${ESC_SANITIZE})
  target_compile_definitions(esc_options INTERFACE ESC_SANITIZED)
endif()
if(ESC_COVERAGE)
  set(counting -fprofile-instr-generate=${CMAKE_BINARY_DIR}/profile/%m.profraw -fprofile-continuous)
  target_compile_options(esc_options INTERFACE ${counting} -fcoverage-mapping)
  target_link_options(esc_options INTERFACE ${counting})
endif()

# It links each of the programs in a tenth of the time that GNU ld takes.
find_program(ESC_LLD ld.lld)
mark_as_advanced(ESC_LLD)
if(ESC_LLD)
  target_link_options(esc_options INTERFACE -fuse-ld=lld)
endif()

# The headers that nearly every file includes, read once and not hundreds of times. A compiler cache cannot vouch for
# what was precompiled, and with one the saving is its own.
include(CMakeDependentOption)
cmake_dependent_option(ESC_PRECOMPILED_HEADERS "Read the headers that all files share once" ON
                       "NOT CMAKE_CXX_COMPILER_LAUNCHER;NOT ESC_SANITIZE" OFF)

# How much is optimised in the release build. Code that runs once takes longer to optimise than it ever runs, so that
# Clang inlines there only what makes it smaller, and what nearly all tests run for long is in the libraries.
set(ESC_RUNS_ONCE_OPTIONS $<$<CONFIG:Release>:-O1>
    "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:Clang>>:SHELL:-mllvm -inline-threshold=25>")
set(ESC_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)

# esc_precompile(NAME [HEADERS ...] [OPTIONS ...] [LINKS ...]): those headers and others, for targets with the same
# options. None of the libraries whose headers stand there has definitions of its own but fmt.
function(esc_precompile name)
  cmake_parse_arguments(ARG "" "" "HEADERS;OPTIONS;LINKS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE esc_options fmt::fmt nlohmann_json::nlohmann_json ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <bit> <charconv> <cmath> <cstdint> <cstring> <filesystem> <functional>
                            <iterator> <limits> <map> <memory> <optional> <ranges> <set> <span> <string> <string_view> <system_error> <tuple>
                            <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> ${ARG_HEADERS})
endfunction()

# Compilers take precompiled headers only where the options are the same: Clang the whole level of optimisation, GCC
# whether there is any. CLI11 and Clang have their own: every file that reads CLI11 compiles its variables again.
if(ESC_PRECOMPILED_HEADERS)
  esc_precompile(esc_precompiled OPTIONS ${ESC_RUNS_ONCE_OPTIONS})
  esc_precompile(esc_precompiled_computing)
  esc_precompile(esc_precompiled_commands HEADERS <CLI/CLI.hpp> OPTIONS ${ESC_RUNS_ONCE_OPTIONS})
  esc_precompile(esc_precompiled_clang LINKS esc_llvm OPTIONS ${ESC_RUNS_ONCE_OPTIONS}
    HEADERS <clang/AST/ASTContext.h> <clang/AST/DynamicRecursiveASTVisitor.h> <clang/Frontend/ASTUnit.h>
            <clang/Frontend/CompilerInstance.h> <clang/Tooling/Tooling.h> <llvm/IR/Module.h>)
  # Files of tests are many and small: most of their time goes into what they include of the project's own, too. Nests
  # and schedules are variants of many types.
  set(of_tests generator/support/error.h generator/ir/loop_nest.h generator/schedule/schedule_database.h)
  list(TRANSFORM of_tests PREPEND ${PROJECT_SOURCE_DIR}/)
  list(PREPEND of_tests <gmock/gmock.h> <gtest/gtest.h> <rapidcheck.h>)
  esc_precompile(esc_precompiled_tests HEADERS ${of_tests} OPTIONS ${ESC_TEST_OPTIONS} -DGTEST_HAS_PTHREAD=1)
  esc_precompile(esc_precompiled_computing_tests
    HEADERS ${of_tests} OPTIONS ${ESC_RUNS_ONCE_OPTIONS} -DGTEST_HAS_PTHREAD=1)
  target_include_directories(esc_precompiled_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(esc_precompiled_computing_tests PRIVATE ${PROJECT_SOURCE_DIR})
endif()

# esc_shared_headers(NAME FROM): the target's files find those headers read already.
function(esc_shared_headers name from)
  if(ESC_PRECOMPILED_HEADERS)
    target_link_libraries(${name} PRIVATE fmt::fmt)
    target_precompile_headers(${name} REUSE_FROM ${from})
    # GCC 12 then no longer knows them for headers of the system, and warns of what it has not understood in them where it optimises.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                             -Wno-error=maybe-uninitialized -Wno-error=free-nonheap-object -Wno-error=use-after-free
                             -Wno-error=dangling-pointer)
    endif()
  endif()
endfunction()

# Most of a small file's time goes into headers of others, those of Clang, fmt and JSON, which files that are compiled as one read once.
# Tools that want a command for each file (clang-tidy), and who looks for an include that a file lacks, leave this off.
option(ESC_COMPILE_TOGETHER "Compile several files of a library as one" ON)

# esc_library(NAME [COMPUTES] SOURCES ... [ALONE ...] [LINKS ...]): a static library whose headers are included by their path from the project's root.
# COMPUTES: what goes through a matrix, a product or an emulated kernel element by element, so that it is optimised in full.
# ALONE: sources whose own constants have the names that others of the library have, too, so that they are not compiled together.
function(esc_library name)
  cmake_parse_arguments(ARG "COMPUTES" "" "SOURCES;ALONE;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC esc_options ${ARG_LINKS})
  if(ARG_COMPUTES)
    esc_shared_headers(${name} esc_precompiled_computing)
  else()
    esc_runs_once(${name} ${ARG_LINKS})
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${ESC_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# esc_runs_once(NAME LINKS...): in the release build little is optimised, because the code of the target's own files
# (the reading of a command line, a step of lowering, which sees a nest and never a matrix) takes longer to optimise
# than it ever runs. The libraries it links tell which headers it finds read already.
function(esc_runs_once name)
  set(shared esc_precompiled)
  if(CLI11::CLI11 IN_LIST ARGN)
    set(shared esc_precompiled_commands)
  elseif(esc_llvm IN_LIST ARGN)
    set(shared esc_precompiled_clang)
  elseif(GTest::gmock IN_LIST ARGN)
    set(shared esc_precompiled_computing_tests)
  endif()
  esc_shared_headers(${name} ${shared})
  target_compile_options(${name} PRIVATE ${ESC_RUNS_ONCE_OPTIONS})
  # With little optimisation GCC 12 takes what an absent std::optional holds, where elements are moved, for a value that is used.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endfunction()

# esc_program(NAME SOURCES ... [LINKS ...]): a program, most of which reads a command line and prints what others have found.
function(esc_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE esc_options ${ARG_LINKS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  esc_runs_once(${name} ${ARG_LINKS})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${ESC_COMPILE_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# esc_test(NAME [IN PROGRAM] SOURCES ... [LINKS ...] [TOGETHER] [COMPUTES] [SHARDS n] [SECONDS n] [LABELS ...]): a GoogleTest program, or with IN
# files that are compiled alike as a part of another one. CTest knows the program, as SHARDS entries where one would keep a processor too long.
# TOGETHER: its files are compiled as one, because most of their time goes into the headers of GoogleTest.
# COMPUTES: its own files run for long, so that they are optimised a little.
# SECONDS: about what all of it takes; CTest begins with what takes longest, so that no processor waits for another in
# the end.
function(esc_test name)
  cmake_parse_arguments(ARG "TOGETHER;COMPUTES" "IN;SHARDS;SECONDS" "SOURCES;LINKS;LABELS" ${ARGN})
  if(ARG_IN)
    add_library(${name} OBJECT ${ARG_SOURCES})
    target_link_libraries(${ARG_IN} PRIVATE ${name})
  else()
    add_executable(${name} ${ARG_SOURCES})
    esc_optimised_definitions_first(${name})
    esc_add_shards(${name} "${ARG_SHARDS}" "${ARG_SECONDS}" "${ARG_LABELS}")
  endif()
  target_link_libraries(${name} PRIVATE esc_options esc_test_run ${ARG_LINKS} GTest::gmock)
  target_compile_definitions(${name} PRIVATE ESC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(ARG_COMPUTES)
    esc_runs_once(${name} GTest::gmock)
  else()
    target_compile_options(${name} PRIVATE ${ESC_TEST_OPTIONS})
    esc_shared_headers(${name} esc_precompiled_tests)
  endif()
  if(ARG_TOGETHER)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# Of an inline function that several files have, strings and vectors and nests among them, a linker takes the first
# definition that it meets: not one of a test, which is not optimised, but one of the libraries, which tests spend their
# time in. Counters of lines would see what no program links.
function(esc_optimised_definitions_first program)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT ESC_COVERAGE)
    set(first esc_ir esc_ir_computing esc_support)
    target_link_libraries(${program} PRIVATE ${first})
    list(TRANSFORM first REPLACE "(.+)" "$<TARGET_FILE:\\1>")
    list(JOIN first "," files)
    target_link_options(${program} BEFORE PRIVATE "LINKER:--whole-archive,${files},--no-whole-archive")
  endif()
endfunction()

# The program as so many entries of CTest, each of which runs every so many-th of its cases.
function(esc_add_shards program shards seconds labels)
  if(NOT shards)
    set(shards 1)
  endif()
  if(NOT seconds)
    set(seconds 1)
  endif()
  math(EXPR cost "${seconds} / ${shards}")
  math(EXPR last "${shards} - 1")
  foreach(index RANGE ${last})
    set(entry ${program})
    if(shards GREATER 1)
      math(EXPR number "${index} + 1")
      set(entry ${program}_${number})
    endif()
    add_test(NAME ${entry} COMMAND ${program})
    set_tests_properties(${entry} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}" SKIP_RETURN_CODE 77 COST ${cost} LABELS "${labels}")
  endforeach()
endfunction()
