// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace esc {

/// A shared library, loaded for as long as this object lives.
class SharedLibrary {
 public:
  /// Throws UserError, with the remedy, when the file is not a shared library.
  explicit SharedLibrary(const std::filesystem::path& file, const std::string& remedy = {});
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  /// The function of this signature that the library calls `symbol`. Throws UserError with the remedy where there is
  /// none.
  template <typename Signature>
  Signature* function(const std::string& symbol, const std::string& remedy) const {
    return reinterpret_cast<Signature*>(address(symbol, remedy));
  }

  /// Null where it has no such function.
  template <typename Signature>
  Signature* find_function(const std::string& symbol) const {
    return reinterpret_cast<Signature*>(find_address(symbol));
  }

 private:
  void* find_address(const std::string& symbol) const;
  void* address(const std::string& symbol, const std::string& remedy) const;

  std::filesystem::path file_;
  void* handle_;
};

}  // namespace esc
