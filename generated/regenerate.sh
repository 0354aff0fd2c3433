#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generates the bundles of spec.json again, after a change of the generator that is meant to change them: those that are kept here to be read,
# and of the others the digests of their files.
#
#   generated/regenerate.sh [--check | --into FOLDER] [ESCGEN]
#
# --check writes nothing: status 1, with a diff, when a bundle is not what the generator makes of its matrix now.
# --into  does the same, and leaves all bundles in FOLDER.
# ESCGEN is the program, by default the one in build/release.
set -euo pipefail

export LC_ALL=C # which orders the names of files
folder=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made=$work/made
mode=write
kept=()
case ${1:-} in
  --check)
    mode=check
    shift
    ;;
  --into)
    mode=check
    made=$(realpath -m "$2")
    shift 2
    ;;
esac
escgen=${1:-$folder/../build/release/bin/escgen}

"$escgen" generate --spec "$folder/spec.json" -o "$made" --force
cd "$made"
for bundle in *; do
  if [[ -d $folder/$bundle ]]; then
    kept+=("$bundle")
  else
    sha256sum "$bundle"/* >>"$work/digests.txt"
  fi
done

if [[ $mode == check ]]; then
  status=0
  diff -u --label digests.txt --label 'as generated now' "$folder/digests.txt" "$work/digests.txt" || status=1
  for bundle in "${kept[@]}"; do
    diff -ru "$folder/$bundle" "$bundle" || status=1
  done
  exit "$status"
fi
cp "$work/digests.txt" "$folder/digests.txt"
for bundle in "${kept[@]}"; do
  rm -r "${folder:?}/$bundle"
  cp -r "$bundle" "$folder/$bundle"
done
