// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "transformer/packed.h"

namespace esc::transformer {

/// What becomes of a caller's values where a transformer reads them: nothing, or they are rounded to TF32.
enum class Reading { as_they_are, rounded_to_tf32 };

/// The packer's own text, for generated transformers: the types, the format, the row tile sources and the packing, as
/// C++17 definitions without a namespace around them. Needs <stddef.h>, <stdint.h> and <string.h>.
std::string packing_text(const PackedFormat& format, Reading reading = Reading::as_they_are);

/// The digests of patterns, after that, for kernels that are bound to one.
std::string pattern_check_text();

/// The text that knows the file of a model's packed matrices and their headers, for the functions that open it; as
/// above.
std::string model_file_text();

/// The definition of layer_format in a generated transformer, from the numbers of its description.
std::string layer_format_text(const PackedFormat& format);

/// The holes of a generated transformer that follow from the type of the elements: ELEMENT, as which they are packed;
/// ARGUMENT, as which a caller gives them, 16-bit ones as their bits, which C has no other type for; A and VALUES, the
/// callers' elements as the packer reads them; PACKED_SOURCE, what is packed of `source`. Only float32 is rounded.
std::map<std::string, std::string> element_holes(ScalarType element, Reading reading = Reading::as_they_are);

}  // namespace esc::transformer
