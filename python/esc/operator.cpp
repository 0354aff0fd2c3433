// SPDX-License-Identifier: Apache-2.0
// The operators of PyTorch: esc::linear is Y = X x W^T, where W is a pruned layer of a model bundle, esc::linear_with
// is Y = f(X x W^T, operands), where the bundle's kernels have an epilogue f, esc::unpack is W, where they can write
// it, and esc::values gives W other values in its pattern.
// One operator serves all layers of all bundles: a layer is a number that `esc_register_layer` gives, its packed
// matrices are a tensor of bytes that the layer's `place` has written. It is compiled beside a bundle (build.py), whose
// header declares esc_layer. Later formats have members after those of earlier ones, so that layers of earlier ones
// serve, too.

#include <cuda_runtime_api.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include ESC_BUNDLE_HEADER

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

/// A layer of a bundle's library, which stays loaded as long as the process is there.
struct Layer {
  const esc_layer* layer;
  ScalarType type;
};

/// All layers that were registered, each once. Products read while others register.
class Registry {
 public:
  int64_t add(const Layer& layer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known =
        std::find_if(layers_.begin(), layers_.end(), [&](const Layer& own) { return own.layer == layer.layer; });
    const int64_t number = known - layers_.begin();
    if (known == layers_.end()) {
      layers_.push_back(layer);
    }
    return number;
  }
  Layer at(int64_t number) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    STD_TORCH_CHECK(number >= 0 && number < static_cast<int64_t>(layers_.size()), "esc::linear: there is no layer ",
                    number, "; it is a number that esc.Model gives in this process");
    return layers_[static_cast<std::size_t>(number)];
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Layer> layers_;
};

Registry& registry() {
  static Registry layers;
  return layers;
}

ScalarType type_of(const char* name) {
  return std::strcmp(name, "f16") == 0    ? ScalarType::Half
         : std::strcmp(name, "bf16") == 0 ? ScalarType::BFloat16
         : std::strcmp(name, "f64") == 0  ? ScalarType::Double
                                          : ScalarType::Float;
}

cudaStream_t current_stream(int32_t device) {
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  return static_cast<cudaStream_t>(stream);
}

/// A contiguous tensor like x, with another last dimension. By the shim, since stable::new_empty looks its operator up
/// by name in each call.
Tensor empty_beside(const Tensor& x, int64_t last) {
  const int64_t dimensions = x.dim();
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = last;
  std::vector<int64_t> strides(sizes.size(), 1);
  for (int64_t at = dimensions - 2; at >= 0; --at) {
    const auto next = static_cast<std::size_t>(at) + 1;
    strides[next - 1] = strides[next] * std::max<int64_t>(sizes[next], 1);
  }
  int32_t type = 0;
  int32_t device_type = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(x.get(), &type));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(x.get(), &device_type));
  AtenTensorHandle made = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(dimensions, sizes.data(), strides.data(), type, device_type,
                                                  x.get_device_index(), &made));
  return Tensor(made);
}

/// Throws where x is not what the layer multiplies by.
void check_input(const Tensor& x, const Layer& own) {
  const esc_layer& layer = *own.layer;
  STD_TORCH_CHECK(x.is_cuda(), "esc::linear: x is not on a GPU; move it there");
  STD_TORCH_CHECK(x.scalar_type() == own.type, "esc::linear: x has elements of another type than layer ", layer.name,
                  ", which takes ", layer.dtype);
  STD_TORCH_CHECK(x.dim() >= 1 && x.size(x.dim() - 1) == layer.k, "esc::linear: the last dimension of x is not the ",
                  layer.k, " inputs of layer ", layer.name);
  STD_TORCH_CHECK(x.numel() / layer.k <= std::numeric_limits<int32_t>::max(),
                  "esc::linear: x has more than 2^31 - 1 rows; split it");
}

/// Throws where `packed` is not of the size of the layer's packed matrices on the current device, which has it.
void check_packed_bytes(const Tensor& packed, const esc_layer& layer) {
  STD_TORCH_CHECK(packed.scalar_type() == ScalarType::Byte && packed.is_contiguous() &&
                      static_cast<std::size_t>(packed.numel()) == layer.device_bytes(&layer),
                  "esc::linear: the packed weights of layer ", layer.name, " are not the ", layer.device_bytes(&layer),
                  " bytes that place() of its esc.Model gives on this GPU");
}

void check_packed(const Tensor& packed, const Tensor& x, const esc_layer& layer) {
  STD_TORCH_CHECK(packed.is_cuda() && packed.get_device_index() == x.get_device_index(),
                  "esc::linear: the packed weights of layer ", layer.name, " are not on the GPU of x");
  check_packed_bytes(packed, layer);
}

void check_status(cudaError_t status, const esc_layer& layer) {
  STD_TORCH_CHECK(status != cudaErrorNotReady, "esc::linear: layer ", layer.name,
                  " was not placed on this GPU; call place() of its esc.Model there");
  STD_TORCH_CHECK(status == cudaSuccess, "esc::linear: layer ", layer.name, ": ", cudaGetErrorString(status));
}

/// X [..., k] of the layer's type on a GPU gives Y [..., m] there, which is what the layer's epilogue makes of the
/// product with these arguments; null where it reads none. Only launches, on the current stream.
Tensor product_of(const Tensor& x, const Tensor& packed, const esc_layer& layer, const esc_argument* arguments) {
  const int32_t device = x.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  check_packed(packed, x, layer);
  const Tensor rows = x.is_contiguous() ? x : torch::stable::contiguous(x);
  Tensor y = empty_beside(x, layer.m);
  if (const int64_t tokens = x.numel() / layer.k; tokens > 0) {
    check_status(
        layer.multiply_placed(&layer, packed.const_data_ptr(), rows.const_data_ptr(), layer.k, y.mutable_data_ptr(),
                              layer.m, arguments, static_cast<int32_t>(tokens), current_stream(device)),
        layer);
  }
  return y;
}

Tensor linear(const Tensor& x, const Tensor& packed, int64_t number) {
  const Layer own = registry().at(number);
  const esc_layer& layer = *own.layer;
  STD_TORCH_CHECK(layer.operand_count == 0, "esc::linear: layer ", layer.name, " has an epilogue that reads ",
                  layer.operand_count, " tensors; hand them to esc::linear_with");
  check_input(x, own);
  return product_of(x, packed, layer, nullptr);
}

/// What writes the dense weights of a layer; null where its kernels cannot.
auto unpack_of(const esc_layer& layer) {
#if ESC_LAYER_FORMAT >= 4
  return layer.format_version >= 4 ? layer.unpack_placed : nullptr;
#else
  return static_cast<cudaError_t (*)(const esc_layer*, const void*, void*, int64_t, cudaStream_t)>(nullptr);
#endif
}

/// What writes other values into the packed weights of a layer; null where its kernels cannot.
auto values_of(const esc_layer& layer) {
#if ESC_LAYER_FORMAT >= 4
  return layer.format_version >= 4 ? layer.values_placed : nullptr;
#else
  return static_cast<cudaError_t (*)(const esc_layer*, void*, const void*, int64_t, cudaStream_t)>(nullptr);
#endif
}

/// A contiguous m x k tensor of the layer's type on a GPU.
Tensor empty_weight(const Layer& own, int32_t device) {
  const std::int64_t sizes[] = {own.layer->m, own.layer->k};
  const std::int64_t strides[] = {own.layer->k, 1};
  const int32_t type = own.type == ScalarType::Half       ? aoti_torch_dtype_float16()
                       : own.type == ScalarType::BFloat16 ? aoti_torch_dtype_bfloat16()
                       : own.type == ScalarType::Double   ? aoti_torch_dtype_float64()
                                                          : aoti_torch_dtype_float32();
  AtenTensorHandle made = nullptr;
  TORCH_ERROR_CODE_CHECK(
      aoti_torch_empty_strided(2, sizes, strides, type, aoti_torch_device_type_cuda(), device, &made));
  return Tensor(made);
}

/// The dense weights, m x k, zeros too. Only launches, on the current stream.
Tensor unpack(const Tensor& packed, int64_t number) {
  const Layer own = registry().at(number);
  const auto function = unpack_of(*own.layer);
  STD_TORCH_CHECK(function != nullptr, "esc::unpack: layer ", own.layer->name,
                  " has no kernel that can write its dense weights");
  const int32_t device = packed.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  check_packed_bytes(packed, *own.layer);
  Tensor weight = empty_weight(own, device);
  check_status(
      function(own.layer, packed.const_data_ptr(), weight.mutable_data_ptr(), own.layer->k, current_stream(device)),
      *own.layer);
  return weight;
}

/// The values of W, m x k of the layer's type on the GPU of `packed`, become those of the packed weights, whose pattern
/// stays. Only launches, on the current stream.
void values(const Tensor& weight, Tensor packed, int64_t number) {
  const Layer own = registry().at(number);
  const auto function = values_of(*own.layer);
  STD_TORCH_CHECK(function != nullptr, "esc::values: layer ", own.layer->name,
                  " has no kernel that can take other values");
  const int32_t device = packed.get_device_index();
  STD_TORCH_CHECK(weight.is_cuda() && weight.get_device_index() == device && weight.scalar_type() == own.type &&
                      weight.is_contiguous() && weight.dim() == 2 && weight.size(0) == own.layer->m &&
                      weight.size(1) == own.layer->k,
                  "esc::values: the weight of layer ", own.layer->name, " is not ", own.layer->m, " x ", own.layer->k,
                  " elements of ", own.layer->dtype, " without gaps, on the GPU of the packed ones");
  const torch::stable::accelerator::DeviceGuard guard(device);
  check_packed_bytes(packed, *own.layer);
  check_status(
      function(own.layer, packed.mutable_data_ptr(), weight.const_data_ptr(), own.layer->k, current_stream(device)),
      *own.layer);
}

/// How many elements an operand has: of a number 1, for each output one, for each token one, or both.
int64_t elements_of(const esc_operand& operand, const esc_layer& layer, int64_t tokens) {
  return std::strcmp(operand.form, "number") == 0    ? 1
         : std::strcmp(operand.form, "rows") == 0    ? layer.m
         : std::strcmp(operand.form, "columns") == 0 ? tokens
                                                     : tokens * layer.m;
}

/// A number is read while the call is made, so that it is on the host; all else on x's device, contiguous.
esc_argument argument_of(const Tensor& given, const esc_operand& operand, const esc_layer& layer, const Tensor& x) {
  const bool is_number = std::strcmp(operand.form, "number") == 0;
  STD_TORCH_CHECK(given.scalar_type() == type_of(operand.dtype), "esc::linear_with: ", operand.name, " of layer ",
                  layer.name, " has elements of another type than ", operand.dtype);
  STD_TORCH_CHECK(is_number ? !given.is_cuda() : given.is_cuda() && given.get_device_index() == x.get_device_index(),
                  "esc::linear_with: ", operand.name, " of layer ", layer.name,
                  is_number ? " is a number, which is to be on the host" : " is not on the GPU of x");
  const int64_t elements = elements_of(operand, layer, x.numel() / layer.k);
  STD_TORCH_CHECK(given.numel() == elements && given.is_contiguous(), "esc::linear_with: ", operand.name, " of layer ",
                  layer.name, " does not have ", elements, " elements without gaps");
  return {given.const_data_ptr(), layer.m};
}

Tensor linear_with(const Tensor& x, const Tensor& packed, int64_t number, const std::vector<Tensor>& operands) {
  const Layer own = registry().at(number);
  const esc_layer& layer = *own.layer;
  check_input(x, own);
  STD_TORCH_CHECK(operands.size() == layer.operand_count, "esc::linear_with: the epilogue of layer ", layer.name,
                  " reads ", layer.operand_count, " tensors, not ", operands.size());
  std::vector<esc_argument> arguments;
  arguments.reserve(operands.size());
  for (std::size_t at = 0; at < operands.size(); ++at) {
    arguments.push_back(argument_of(operands[at], layer.operands[at], layer, x));
  }
  return product_of(x, packed, layer, arguments.empty() ? nullptr : arguments.data());
}

}  // namespace

STABLE_TORCH_LIBRARY(esc, library) {
  library.def("linear(Tensor x, Tensor packed, int layer) -> Tensor");
  library.def("linear_with(Tensor x, Tensor packed, int layer, Tensor[] operands) -> Tensor");
  library.def("unpack(Tensor packed, int layer) -> Tensor");
  library.def("values(Tensor weight, Tensor(a!) packed, int layer) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(esc, CUDA, library) {
  library.impl("linear", TORCH_BOX(&linear));
  library.impl("linear_with", TORCH_BOX(&linear_with));
  library.impl("unpack", TORCH_BOX(&unpack));
  library.impl("values", TORCH_BOX(&values));
}

/// The number by which esc::linear knows a layer from now on; -1 where its library was made by a version of the format
/// that is not known here. B and C must be n x k and n x m.
extern "C" int64_t esc_register_layer(const esc_layer* layer) {
  constexpr uint32_t first_placed_format = 3;
  if (layer->format_version < first_placed_format || layer->format_version > ESC_LAYER_FORMAT ||
      std::strcmp(layer->layout, "nk") != 0) {
    return -1;
  }
  return registry().add({layer, type_of(layer->dtype)});
}

/// Whether esc::unpack can write the dense weights of a layer.
extern "C" int esc_can_unpack(const esc_layer* layer) { return unpack_of(*layer) != nullptr ? 1 : 0; }

/// Whether esc::values can write other values of a layer.
extern "C" int esc_takes_values(const esc_layer* layer) { return values_of(*layer) != nullptr ? 1 : 0; }
