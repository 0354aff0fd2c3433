# SPDX-License-Identifier: Apache-2.0
# The libraries the project stands on. Each is a Debian package that scripts/setup.sh installs.

find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
find_package(TBB REQUIRED)
find_package(ZLIB 1.2.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)

# Takes the rights from the processes that run texts of bundles. Its package has no description for CMake.
find_path(ESC_SECCOMP_INCLUDE_DIR seccomp.h REQUIRED)
find_library(ESC_SECCOMP_LIBRARY seccomp REQUIRED)
mark_as_advanced(ESC_SECCOMP_INCLUDE_DIR ESC_SECCOMP_LIBRARY)
add_library(esc_seccomp INTERFACE)
target_include_directories(esc_seccomp SYSTEM INTERFACE ${ESC_SECCOMP_INCLUDE_DIR})
target_link_libraries(esc_seccomp INTERFACE ${ESC_SECCOMP_LIBRARY})
# Its macros are C.
target_compile_options(esc_seccomp INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-c99-extensions -Wno-missing-field-initializers>)

# LibTooling parses the loop nests and formats what is emitted; ORC runs emitted text on the host. Debian's own LLVM 22
# is asked for by path: an older one that stands first on the machine cannot parse the headers of CUDA 13.
set(ESC_LLVM_DIR /usr/lib/llvm-22 CACHE PATH "Where LLVM and Clang are installed")
find_package(LLVM REQUIRED CONFIG PATHS ${ESC_LLVM_DIR}/lib/cmake/llvm NO_DEFAULT_PATH)
find_package(Clang REQUIRED CONFIG PATHS ${ESC_LLVM_DIR}/lib/cmake/clang NO_DEFAULT_PATH)

add_library(esc_llvm INTERFACE)
target_include_directories(esc_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
target_link_libraries(esc_llvm INTERFACE clang-cpp LLVM)

# Only programs that measure on a GPU need it: without it they are left out.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
find_package(CUDAToolkit QUIET)
# They compare with cuSPARSELt, too, which is no part of the toolkit.
set(ESC_CUSPARSELT_ROOT "" CACHE PATH "Where cuSPARSELt is installed (empty: where the toolkit or the system has its header)")
find_path(ESC_CUSPARSELT_INCLUDE_DIR cusparseLt.h HINTS ${ESC_CUSPARSELT_ROOT} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
mark_as_advanced(ESC_CUSPARSELT_INCLUDE_DIR)

if(ESC_BUILD_TESTS OR NOT DEFINED ESC_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
endif()
