// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace esc {

/// SHA-256 of bytes that come part by part.
class Sha256 {
 public:
  Sha256();

  void add(std::span<const std::byte> bytes);
  /// 64 lower-case hexadecimal digits; the last thing that is asked.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

}  // namespace esc
