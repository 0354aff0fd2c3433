// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "generator/emit/bundle.h"

namespace esc {

/// A generated text whose first lines name the schedule as `on_disk` does, if that is the same schedule in the words of
/// an earlier release; otherwise the text as it is.
std::string in_words_of(const std::string& on_disk, std::string generated);

/// A bundle whose texts have the words of the one in DIR/NAME, each file as in_words_of() says. The manifest stays as
/// it is: see manifest_in_words_of().
KernelBundle in_words_on_disk(KernelBundle bundle, const std::filesystem::path& directory);

}  // namespace esc
