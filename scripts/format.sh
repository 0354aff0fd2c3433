#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats the C++ files, or says which are not formatted.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage="Usage: scripts/format.sh [--check]

Formats every C++ file as .clang-format says, with clang-format-22; comments are not reflowed.
  --check   changes nothing and lists the lines that are not formatted, and comments of more than 120 columns
Exit status: 0 all is formatted; 1 something is not; 2 bad usage; 77 clang-format-22 is missing."

check=no
case ${1:-} in
  "") ;;
  --check) check=yes ;;
  -h | --help)
    echo "$usage"
    exit
    ;;
  *) fail 2 "unknown argument '$1'; see scripts/format.sh --help" ;;
esac
command -v clang-format-22 >/dev/null || fail 77 "clang-format-22 is missing: scripts/setup.sh --tests installs it"

# Bundles in generated/ and the texts in templates/ are what the generator prints.
mapfile -t files < <(find generator transformer tuner tests docs -name '*.cpp' -o -name '*.h' | LC_ALL=C sort)
if [[ $check == no ]]; then
  clang-format-22 -i "${files[@]}"
  exit
fi
status=0
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 100 clang-format-22 --dry-run -Werror || status=1
if LC_ALL=C.UTF-8 grep -nE '^.{121}' "${files[@]}" | grep -E '^[^:]*:[0-9]*: *(//|\* )'; then
  status=1
fi
exit "$status"
