# SPDX-License-Identifier: Apache-2.0
# Writes to OUTPUT a source with the SHA-256 of the texts under ROOT that what is generated follows from.
file(GLOB_RECURSE files RELATIVE ${ROOT} "${ROOT}/generator/*" "${ROOT}/transformer/*" "${ROOT}/templates/*")
list(FILTER files INCLUDE REGEX "\\.(cpp|h|c|in|txt)$")
list(SORT files)
set(sums "")
foreach(file IN LISTS files)
  file(SHA256 "${ROOT}/${file}" sum)
  string(APPEND sums "${file} ${sum}\n")
endforeach()
string(SHA256 digest "${sums}")
file(WRITE ${OUTPUT} "#include \"generator/commands/source_digest.h\"\n\nnamespace esc {\n\nconst char* const source_digest = \"${digest}\";\n\n}\n")
