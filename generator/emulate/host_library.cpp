// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/host_library.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "generator/emulate/active_machine.h"
#include "generator/emulate/function_address.h"

namespace esc {
namespace {

template <Use use>
void check(const void* pointer, std::size_t bytes) {
  Machine& machine = active_machine();
  if (bytes != 0) {
    machine.check<use>(reinterpret_cast<std::uint64_t>(pointer), bytes, AccessNote::pack(0, 0, machine.site()));
  }
}

int checked_memcmp(const void* a, const void* b, std::size_t bytes) {
  check<Use::read>(a, bytes);
  check<Use::read>(b, bytes);
  return std::memcmp(a, b, bytes);
}

/// Whether a format has %n, which writes to where its argument says.
bool writes_through_format(std::string_view format) {
  for (std::size_t at = format.find('%'); at != format.npos; at = format.find('%', at + 1)) {
    at = format.find_first_not_of("0123456789.*-+ #'hlqjzt$L", at + 1);
    if (at == format.npos || format[at] == 'n') {
      return true;
    }
  }
  return false;
}

/// Stops the code that calls what no check has: a text that asks for it shall not seem to be checked.
[[noreturn]] void refuse_call(const char* function) {
  Machine& machine = active_machine();
  machine.report(FaultKind::forbidden_call, machine.site(), function,
                 [&] { return std::string("calls ") + function + ", which a text under check may not"; });
  machine.stop();
}

/// A file that the options know, read as it is in memory; 0 for the path of none.
OpenFiles::Handle checked_fopen(const char* path, const char* mode) {
  Machine& machine = active_machine();
  const KnownFiles& files = machine.options().files;
  if (machine.in_kernel() || files.empty()) {
    refuse_call("fopen");
  }
  const auto found = files.find(path);
  if (found == files.end() || std::string_view(mode) != "rb") {
    refuse_call("fopen");
  }
  return found->second ? machine.open_files.open(*found->second) : 0;
}

/// The files, one of which the caller has open; otherwise it is stopped.
OpenFiles& files_with(OpenFiles::Handle file, const char* function) {
  OpenFiles& files = active_machine().open_files;
  if (!files.has(file)) {
    refuse_call(function);
  }
  return files;
}

int checked_fclose(OpenFiles::Handle file) {
  files_with(file, "fclose").close(file);
  return 0;
}

std::size_t checked_fread(void* to, std::size_t size, std::size_t count, OpenFiles::Handle file) {
  OpenFiles& files = files_with(file, "fread");
  std::size_t wanted = 0;
  if (size == 0 || __builtin_mul_overflow(size, count, &wanted)) {
    return 0;
  }
  check<Use::write>(to, wanted);
  const std::span<const std::byte> bytes = files.read(file, wanted);
  std::ranges::copy(bytes, static_cast<std::byte*>(to));
  return bytes.size() / size;
}

int checked_fgetc(OpenFiles::Handle file) {
  const std::span<const std::byte> byte = files_with(file, "fgetc").read(file, 1);
  return byte.empty() ? EOF : static_cast<int>(byte.front());
}

/// Files in memory can always be read.
int checked_ferror(OpenFiles::Handle file) {
  files_with(file, "ferror");
  return 0;
}

int checked_snprintf(char* to, std::size_t bytes, const char* format, ...) {
  if (writes_through_format(format)) {
    refuse_call("snprintf with %n");
  }
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length >= 0 && bytes != 0) {
    check<Use::write>(to, std::min(bytes, static_cast<std::size_t>(length) + 1));
  }
  const int written = std::vsnprintf(to, bytes, format, arguments);
  va_end(arguments);
  return written;
}

using Table = std::unordered_map<std::string, std::uint64_t>;

Table make_library() {
  return {
      {"memcpy", address_of(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy))},
      {"memmove", address_of(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove))},
      {"memset", address_of(static_cast<void* (*)(void*, int, std::size_t)>(&std::memset))},
      {"memcmp", address_of(&checked_memcmp)},
      {"bcmp", address_of(&checked_memcmp)},
      {"strlen", address_of(static_cast<std::size_t (*)(const char*)>(&std::strlen))},
      {"strcmp", address_of(static_cast<int (*)(const char*, const char*)>(&std::strcmp))},
      {"snprintf", address_of(&checked_snprintf)},
      {"fopen", address_of(&checked_fopen)},
      {"fclose", address_of(&checked_fclose)},
      {"fread", address_of(&checked_fread)},
      {"fgetc", address_of(&checked_fgetc)},
      {"ferror", address_of(&checked_ferror)},
  };
}

/// A function of the mathematics library for doubles and, with an f after its name, for floats.
template <class... Doubles, class... Floats>
void add(Table& table, const std::string& name, double (*of_double)(Doubles...), float (*of_float)(Floats...)) {
  table.emplace(name, address_of(of_double));
  table.emplace(name + "f", address_of(of_float));
}

void add_of_one(Table& table, const std::string& name, double (*of_double)(double), float (*of_float)(float)) {
  add(table, name, of_double, of_float);
}

void add_of_two(Table& table, const std::string& name, double (*of_double)(double, double),
                float (*of_float)(float, float)) {
  add(table, name, of_double, of_float);
}

/// The functions that kernels of CUDA have under the same names.
void add_mathematics(Table& table) {
  add(table, "fma", static_cast<double (*)(double, double, double)>(&std::fma),
      static_cast<float (*)(float, float, float)>(&std::fma));
  add_of_two(table, "fmax", &std::fmax, &std::fmax);
  add_of_two(table, "fmin", &std::fmin, &std::fmin);
  add_of_two(table, "pow", &std::pow, &std::pow);
  add_of_one(table, "ceil", &std::ceil, &std::ceil);
  add_of_one(table, "cos", &std::cos, &std::cos);
  add_of_one(table, "erf", &std::erf, &std::erf);
  add_of_one(table, "exp", &std::exp, &std::exp);
  add_of_one(table, "exp2", &std::exp2, &std::exp2);
  // What the compiler makes of some calls of pow.
  add_of_one(table, "exp10", &::exp10, &::exp10f);
  add(table, "ldexp", static_cast<double (*)(double, int)>(&std::ldexp),
      static_cast<float (*)(float, int)>(&std::ldexp));
  add_of_one(table, "expm1", &std::expm1, &std::expm1);
  add_of_one(table, "floor", &std::floor, &std::floor);
  add_of_one(table, "log", &std::log, &std::log);
  add_of_one(table, "log1p", &std::log1p, &std::log1p);
  add_of_one(table, "log2", &std::log2, &std::log2);
  add_of_one(table, "rint", &std::rint, &std::rint);
  add_of_one(table, "sin", &std::sin, &std::sin);
  add_of_one(table, "sqrt", &std::sqrt, &std::sqrt);
  add_of_one(table, "tanh", &std::tanh, &std::tanh);
}

}  // namespace

std::uint64_t resolve_host_library(const std::string& name) {
  static const Table kTable = [] {
    Table table = make_library();
    add_mathematics(table);
    return table;
  }();
  const auto found = kTable.find(name);
  return found == kTable.end() ? 0 : found->second;
}

}  // namespace esc
