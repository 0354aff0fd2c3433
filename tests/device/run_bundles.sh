#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks, on a GPU host, what make_bundles.sh generated; compiles it first where compile_bundles.sh has not done so.
#
#   tests/device/run_bundles.sh DEVICE_CHECK BUNDLES [SANITIZED]
#
# BUNDLES is make_bundles.sh's OUTPUT; matrices stand where list.txt says, relative paths in BUNDLES. Every product has a C that is
# poisoned. About SANITIZED bundles (default 0), spread over the list, run again under each tool of compute-sanitizer, the
# tools beside each other. What device-check and the tools print stands in BUNDLES/logs; the last lines here sum it up. The
# exit status is 1 where a bundle failed or a tool found something.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
device_check=$(realpath "$1")
cd "$2"
sanitized=${3:-0}
mkdir -p logs

total=$(wc -l <list.txt)
if [ ! -f predecessor.so ] || [ "$(cut -d' ' -f1 list.txt | xargs ls 2>/dev/null | wc -l)" -lt "$total" ]; then
  "$here/compile_bundles.sh" .
fi
sed "s#^#$PWD/#" list.txt >logs/all.txt

status=0
"$device_check" logs/all.txt | tee logs/plain.log || status=1

if [ "$sanitized" -gt 0 ]; then
  # A step that the seven bundles of a matrix and bCol do not divide goes through all of them.
  step=$((total / sanitized < 1 ? 1 : total / sanitized))
  while [ $((step % 7)) = 0 ]; do step=$((step + 1)); done
  awk -v step="$step" 'NR % step == 1 || step == 1' logs/all.txt >logs/some.txt
  tools=(memcheck racecheck initcheck synccheck)
  for tool in "${tools[@]}"; do
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$device_check" logs/some.txt >"logs/$tool.log" 2>&1 &
  done
  wait
  for tool in "${tools[@]}"; do
    passed=$(grep -E '^[0-9]+ passed, 0 failed$' "logs/$tool.log" || true)
    found=$(grep -E '(ERROR|RACECHECK) SUMMARY' "logs/$tool.log" || true)
    echo "compute-sanitizer $tool: $(wc -l <logs/some.txt) bundles, ${passed:-NOT ALL PASSED}, ${found:-NO SUMMARY}"
    [[ -n $passed && $found =~ :\ 0\ (errors|hazards) ]] || status=1
  done
fi
exit $status
