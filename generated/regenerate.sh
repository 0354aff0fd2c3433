#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generates the bundles of this folder again, after a change of the generator that is meant to change them.
#
#   generated/regenerate.sh [--check] [ESCGEN]
#
# --check writes nothing: status 1 and a diff when a bundle is not what the generator makes of its matrix now.
# ESCGEN is the program, by default the one in build/release.
set -euo pipefail

mode=--force
if [[ ${1:-} == --check ]]; then
  mode=--check
  shift
fi
folder=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
escgen=${1:-$folder/../build/release/bin/escgen}
"$escgen" generate --spec "$folder/spec.json" -o "$folder" "$mode"
