// SPDX-License-Identifier: Apache-2.0
#include "tuner/build/kernel_text.h"

#include <fmt/format.h>

#include "generator/matrix/fingerprint.h"

namespace esc::tuning {

std::string digest(const KernelText& text) {
  std::string all = fmt::format("sm_{}\n", text.architecture);
  for (const std::string& kernel : text.kernels) {
    all += kernel + '\n';
  }
  all += text.text;
  return sha256_of_text(all);
}

std::string short_digest(const std::string& text) { return sha256_of_text(text).substr(0, 16); }

}  // namespace esc::tuning
