// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <iterator>

#include "generator/support/error.h"

namespace esc {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  ESC_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is available");
}

void Sha256::add(std::span<const std::byte> bytes) {
  ESC_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "SHA-256 takes bytes");
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  ESC_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1, "SHA-256 ends");
  std::string text;
  for (const unsigned char byte : digest) {
    fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  }
  return text;
}

}  // namespace esc
