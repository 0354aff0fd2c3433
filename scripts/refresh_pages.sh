#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes what is generated in the pages anew: pictures, tables, the reference, and what commands print.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage="Usage: scripts/refresh_pages.sh [BIN]

Writes what is generated in the pages anew: pictures and tables from records, the reference from what the programs
print, and the output of the commands that pages show. BIN is the folder of the programs (default: build/release/bin).
Read the difference before you commit it.
Exit status: 0 done; 1 a page has a fault that a person must mend; 2 bad usage."

case ${1:-} in
  -h | --help)
    echo "$usage"
    exit
    ;;
esac
(($# <= 1)) || fail 2 "one argument at most; see scripts/refresh_pages.sh --help"
bin=${1:-build/release/bin}
[[ -x $bin/escgen && -x $bin/installed_test ]] || fail 2 "$bin has no escgen and no installed_test; build them first"

scripts/figures.py
scripts/reference.py "$bin"
ESC_UPDATE_GOLDEN=1 "$bin/installed_test" --gtest_filter='Pages.*'
scripts/check_pages.py
