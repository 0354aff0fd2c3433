#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clean clone to a verified kernel: sets the machine up, builds the generator and the tuner, and generates the kernel of the
# shipped layer. Needs no GPU. Takes no arguments.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
(($# == 0)) || fail 2 "scripts/quickstart.sh takes no arguments"

scripts/setup.sh
configure release -D ESC_BUILD_TESTS=OFF
say "Building the generator and the tuner (3 minutes on two cores)"
cmake --build --preset release --target escgen esctune

say "Generating and verifying the kernel of a pruned layer, tests/data/digits/hidden.mtx"
build/release/bin/escgen generate tests/data/digits/hidden.mtx --bcol 64 --name digits_hidden \
  -o build/quickstart --force

say "The kernel is in build/quickstart/digits_hidden:"
ls -l build/quickstart/digits_hidden
cat <<END

To use it, in the CMakeLists.txt of a CUDA program:

  add_subdirectory("$PWD/build/quickstart/digits_hidden" digits_hidden)
  target_link_libraries(your_program PRIVATE esc::digits_hidden)

and in the program: #include "digits_hidden.h", which says what each function does.
END
