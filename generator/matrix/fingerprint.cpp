#include "generator/matrix/fingerprint.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <memory>

#include "generator/matrix/typed_elements.h"
#include "generator/support/error.h"

namespace esc {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are summed as they lie in memory");

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    ESC_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is available");
  }

  void add(std::span<const std::byte> bytes) {
    ESC_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "SHA-256 takes bytes");
  }

  std::string hex() {
    std::array<unsigned char, 32> digest{};
    ESC_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1, "SHA-256 ends");
    std::string text;
    for (const unsigned char byte : digest) {
      fmt::format_to(std::back_inserter(text), "{:02x}", byte);
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

Fingerprint fingerprint(const SparseMatrix& matrix) {
  Sha256 pattern;
  const std::array<std::int64_t, 3> shape{matrix.rows, matrix.columns, matrix.nonzeros()};
  pattern.add(std::as_bytes(std::span(shape)));
  pattern.add(std::as_bytes(std::span(matrix.offsets)));
  pattern.add(std::as_bytes(std::span(matrix.column_of)));
  return {pattern.hex(), sha256_hex(TypedElements(matrix.element, matrix.values).bytes())};
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

std::string sha256_of_text(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

}  // namespace esc
