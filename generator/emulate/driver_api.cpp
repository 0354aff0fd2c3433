// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/driver_api.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "generator/emulate/cuda_calls.h"
#include "generator/emulate/function_address.h"
#include "generator/emulate/tensor_map.h"

namespace esc {
namespace {

// Values and layouts as in the stand-in cuda.h and cudaTypedefs.h.

enum DriverError : int { kDriverSuccess = 0, kDriverInvalidValue = 1, kDriverNotSupported = 801, kDriverUnknown = 999 };
enum RuntimeError : int { kRuntimeSuccess = 0, kRuntimeInvalidValue = 1, kRuntimeUnknown = 999 };
enum QueryResult : int { kFound = 0, kNotFound = 1, kVersionTooLow = 2 };

/// The arguments of cuTensorMapEncodeTiled.
struct TiledMapRequest {
  std::int32_t type;
  std::uint32_t rank;
  std::uint64_t base;
  const std::uint64_t* sizes;
  const std::uint64_t* strides;
  const std::uint32_t* box;
  const std::uint32_t* element_strides;
  std::int32_t interleave;
  std::int32_t swizzle;
  std::int32_t l2_promotion;
  std::int32_t fill;
};

template <Use use>
void check_host(Machine& machine, const void* pointer, std::size_t bytes) {
  machine.check<use>(reinterpret_cast<std::uint64_t>(pointer), bytes, AccessNote::pack(bytes, 0, machine.site()));
}

/// Bytes of an element of those types that the emulator follows, 0 for others.
std::uint64_t element_bytes(std::int32_t type) {
  constexpr std::int32_t kUnsigned16 = 1;
  constexpr std::int32_t kFloat16 = 6;
  constexpr std::int32_t kFloat32 = 7;
  constexpr std::int32_t kBfloat16 = 9;
  return type == kFloat32 ? 4 : type == kUnsigned16 || type == kFloat16 || type == kBfloat16 ? 2 : 0;
}

/// Why the emulator cannot follow a map that the driver may take; empty where it can.
const char* beyond_the_emulator(const TiledMapRequest& request) {
  constexpr std::int32_t kLastPlainSwizzle = 3;
  if (element_bytes(request.type) == 0) {
    return "elements that are neither of 16 bits nor float32";
  }
  if (request.rank != 2) {
    return "other than two dimensions";
  }
  if (request.element_strides[1] != 1) {
    return "steps larger than one element";
  }
  if (request.interleave != 0) {
    return "an interleaved layout";
  }
  if (request.swizzle > kLastPlainSwizzle) {
    return "a swizzle of other than 16-byte pieces";
  }
  return request.fill != 0 ? "a fill other than zero" : "";
}

[[noreturn]] void stop_beyond(Machine& machine, std::string_view what) {
  machine.report(FaultKind::limit, machine.site(), "tensor map",
                 [&] { return fmt::format("a tensor map with {}", what); });
  machine.stop();
}

int encode_tiled(EncodedTensorMap* encoded, const TiledMapRequest* request) {
  return guarded_cuda_call("cuTensorMapEncodeTiled", [&](Machine& machine) -> int {
    constexpr std::uint32_t kMostDimensions = 5;
    constexpr std::uint64_t kMapAlignment = 64;
    constexpr std::uint32_t kMostElementStride = 8;
    constexpr std::int32_t kLastType = 15;
    constexpr std::int32_t kLastInterleave = 2;
    constexpr std::int32_t kLastSwizzle = 6;
    constexpr std::int32_t kLastPromotion = 3;
    if (must_fail(machine)) {
      return kDriverUnknown;
    }
    ++machine.counters().tensor_calls;
    if (machine.options().properties.compute_major < 9) {
      return kDriverNotSupported;
    }
    const TiledMapRequest& asked = *request;
    const auto in_range = [](std::int32_t value, std::int32_t last) { return value >= 0 && value <= last; };
    if (encoded == nullptr || reinterpret_cast<std::uint64_t>(encoded) % kMapAlignment != 0 || asked.rank == 0 ||
        asked.rank > kMostDimensions || asked.sizes == nullptr || (asked.rank > 1 && asked.strides == nullptr) ||
        asked.box == nullptr || asked.element_strides == nullptr || !in_range(asked.type, kLastType) ||
        !in_range(asked.interleave, kLastInterleave) || !in_range(asked.swizzle, kLastSwizzle) ||
        !in_range(asked.l2_promotion, kLastPromotion) || !in_range(asked.fill, 1)) {
      return kDriverInvalidValue;
    }
    check_host<Use::read>(machine, asked.sizes, asked.rank * sizeof(*asked.sizes));
    check_host<Use::read>(machine, asked.box, asked.rank * sizeof(*asked.box));
    check_host<Use::read>(machine, asked.element_strides, asked.rank * sizeof(*asked.element_strides));
    for (std::uint32_t dimension = 0; dimension < asked.rank; ++dimension) {
      if (asked.element_strides[dimension] == 0 || asked.element_strides[dimension] > kMostElementStride) {
        return kDriverInvalidValue;
      }
    }
    if (const std::string_view what = beyond_the_emulator(asked); !what.empty()) {
      stop_beyond(machine, what);
    }
    check_host<Use::read>(machine, asked.strides, sizeof(*asked.strides));
    const TensorMap described{asked.base,
                              asked.sizes[0],
                              asked.sizes[1],
                              asked.strides[0],
                              asked.box[0],
                              asked.box[1],
                              static_cast<Swizzle>(asked.swizzle),
                              element_bytes(asked.type)};
    const std::optional<EncodedTensorMap> map = encode_tensor_map(described);
    if (!map) {
      return kDriverInvalidValue;
    }
    if (has_gaps(described)) {
      stop_beyond(machine, "a box whose rows are shorter than its swizzle's span and do not lie one after the other");
    }
    check_host<Use::write>(machine, encoded, sizeof(*encoded));
    *encoded = *map;
    return kDriverSuccess;
  });
}

/// Whether the driver has `symbol` at `version`. The stand-in header gives the function itself.
int find_driver_function(const char* symbol, std::uint32_t version, int* result) {
  return guarded_cuda_call("cudaGetDriverEntryPointByVersion", [&](Machine& machine) -> int {
    constexpr std::uint32_t kFirstVersion = 12000;
    if (must_fail(machine)) {
      return kRuntimeUnknown;
    }
    ++machine.counters().tensor_calls;
    if (symbol == nullptr) {
      return kRuntimeInvalidValue;
    }
    const bool known = std::string_view(symbol) == "cuTensorMapEncodeTiled";
    *result = !known ? kNotFound : version < kFirstVersion ? kVersionTooLow : kFound;
    return kRuntimeSuccess;
  });
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> driver_api_functions() {
  return {{"__esc_encode_tiled", address_of(&encode_tiled)},
          {"__esc_find_driver_function", address_of(&find_driver_function)}};
}

}  // namespace esc
