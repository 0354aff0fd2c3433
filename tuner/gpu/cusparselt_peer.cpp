// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cusparselt_peer.h"

#include <cusparseLt.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "generator/verify/reference.h"
#include "generator/verify/transformer_check.h"
#include "tuner/gpu/dense_limit.h"
#include "tuner/gpu/device.h"
#include "tuner/gpu/library_type.h"
#include "tuner/gpu/structured_rows.h"

namespace esc::gpu {
namespace {

constexpr const char* library_file = "libcusparseLt.so.0";
/// Of the matrices in memory, in bytes.
constexpr unsigned int alignment = 16;
constexpr float one = 1;
constexpr float zero = 0;

/// The library's functions, by their names without the prefix.
struct Functions {
  decltype(&cusparseLtGetErrorString) error_text = nullptr;
  decltype(&cusparseLtGetProperty) get_property = nullptr;
  decltype(&cusparseLtInit) init = nullptr;
  decltype(&cusparseLtDestroy) destroy = nullptr;
  decltype(&cusparseLtDenseDescriptorInit) describe_dense = nullptr;
  decltype(&cusparseLtStructuredDescriptorInit) describe_structured = nullptr;
  decltype(&cusparseLtMatDescriptorDestroy) destroy_matrix = nullptr;
  decltype(&cusparseLtMatmulDescriptorInit) describe_product = nullptr;
  decltype(&cusparseLtMatmulAlgSelectionInit) select = nullptr;
  decltype(&cusparseLtMatmulAlgSelectionDestroy) destroy_selection = nullptr;
  decltype(&cusparseLtMatmulAlgSetAttribute) set_attribute = nullptr;
  decltype(&cusparseLtMatmulAlgGetAttribute) get_attribute = nullptr;
  decltype(&cusparseLtMatmulPlanInit) make_plan = nullptr;
  decltype(&cusparseLtMatmulPlanDestroy) destroy_plan = nullptr;
  decltype(&cusparseLtMatmulGetWorkspace) workspace_bytes = nullptr;
  decltype(&cusparseLtSpMMACompressedSize) compressed_bytes = nullptr;
  decltype(&cusparseLtSpMMACompress) compress = nullptr;
  decltype(&cusparseLtMatmulSearch) search = nullptr;
  decltype(&cusparseLtMatmul) multiply = nullptr;
};

/// Gives the function; throws DeviceError where the library lacks it.
template <typename Function>
void resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr) {
    throw DeviceError(library_file, fmt::format("it has no function {}", symbol));
  }
}

Functions functions_of(void* library) {
  Functions functions;
  resolve(library, "cusparseLtGetErrorString", functions.error_text);
  resolve(library, "cusparseLtGetProperty", functions.get_property);
  resolve(library, "cusparseLtInit", functions.init);
  resolve(library, "cusparseLtDestroy", functions.destroy);
  resolve(library, "cusparseLtDenseDescriptorInit", functions.describe_dense);
  resolve(library, "cusparseLtStructuredDescriptorInit", functions.describe_structured);
  resolve(library, "cusparseLtMatDescriptorDestroy", functions.destroy_matrix);
  resolve(library, "cusparseLtMatmulDescriptorInit", functions.describe_product);
  resolve(library, "cusparseLtMatmulAlgSelectionInit", functions.select);
  resolve(library, "cusparseLtMatmulAlgSelectionDestroy", functions.destroy_selection);
  resolve(library, "cusparseLtMatmulAlgSetAttribute", functions.set_attribute);
  resolve(library, "cusparseLtMatmulAlgGetAttribute", functions.get_attribute);
  resolve(library, "cusparseLtMatmulPlanInit", functions.make_plan);
  resolve(library, "cusparseLtMatmulPlanDestroy", functions.destroy_plan);
  resolve(library, "cusparseLtMatmulGetWorkspace", functions.workspace_bytes);
  resolve(library, "cusparseLtSpMMACompressedSize", functions.compressed_bytes);
  resolve(library, "cusparseLtSpMMACompress", functions.compress);
  resolve(library, "cusparseLtMatmulSearch", functions.search);
  resolve(library, "cusparseLtMatmul", functions.multiply);
  return functions;
}

std::string name_of(RowStructure structure) { return fmt::format("{}:{}", structure.most, structure.of); }

}  // namespace

/// The loaded library.
struct CusparseLt::Context {
  Context() : library(dlopen(library_file, RTLD_NOW | RTLD_LOCAL)) {
    if (library == nullptr) {
      throw DeviceError("dlopen", dlerror());
    }
    try {
      call = functions_of(library);
      // Its structures change their sizes between versions.
      if (property(MAJOR_VERSION) != CUSPARSELT_VER_MAJOR || property(MINOR_VERSION) != CUSPARSELT_VER_MINOR) {
        throw DeviceError(library_file, fmt::format("it has version {}, and this program was built for {}.{}",
                                                    version(), CUSPARSELT_VER_MAJOR, CUSPARSELT_VER_MINOR));
      }
      check(call.init(&handle), "cusparseLtInit");
    } catch (...) {
      dlclose(library);
      throw;
    }
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    static_cast<void>(call.destroy(&handle));
    dlclose(library);
  }

  void check(cusparseStatus_t status, const char* what) const {
    if (status != CUSPARSE_STATUS_SUCCESS) {
      throw DeviceError(what, call.error_text(status));
    }
  }
  int property(libraryPropertyType type) const {
    int value = 0;
    check(call.get_property(type, &value), "cusparseLtGetProperty");
    return value;
  }
  std::string version() const {
    return fmt::format("{}.{}.{}", property(MAJOR_VERSION), property(MINOR_VERSION), property(PATCH_LEVEL));
  }

  void* library;
  Functions call = {};
  cusparseLtHandle_t handle = {};
};

CusparseLt::CusparseLt() {
  try {
    context_ = std::make_unique<const Context>();
  } catch (const DeviceError& error) {
    absence_ = error.what();
  }
}
CusparseLt::~CusparseLt() = default;

std::string CusparseLt::version() const { return context_->version(); }

namespace {

using Context = CusparseLt::Context;

/// What describes the product to the library. Where B and C lie transposed, they are column-major ones to it.
class Description {
 public:
  Description(const Context& context, const ProductBench& bench) : context_(context) {
    const SparseMatrix& matrix = bench.matrix();
    const std::int64_t n = bench.columns();
    const cudaDataType_t element = library_type(bench.element());
    const cusparseOrder_t order = bench.is_transposed() ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
    const auto dense = [&](cusparseLtMatDescriptor_t& descriptor, std::int64_t rows) {
      context_.check(context_.call.describe_dense(&context_.handle, &descriptor, rows, n,
                                                  bench.is_transposed() ? rows : n, alignment, element, order),
                     "cusparseLtDenseDescriptorInit");
      made_.push_back(&descriptor);
    };
    try {
      context_.check(
          context_.call.describe_structured(&context_.handle, &a_, matrix.rows, matrix.columns, matrix.columns,
                                            alignment, element, CUSPARSE_ORDER_ROW, CUSPARSELT_SPARSITY_50_PERCENT),
          "cusparseLtStructuredDescriptorInit");
      made_.push_back(&a_);
      dense(b_, matrix.columns);
      dense(c_, matrix.rows);
      context_.check(
          context_.call.describe_product(&context_.handle, &product_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                         CUSPARSE_OPERATION_NON_TRANSPOSE, &a_, &b_, &c_, &c_, CUSPARSE_COMPUTE_32F),
          "cusparseLtMatmulDescriptorInit");
    } catch (...) {
      release();
      throw;
    }
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() { release(); }

  const cusparseLtMatmulDescriptor_t& product() const { return product_; }

 private:
  void release() {
    for (const cusparseLtMatDescriptor_t* const descriptor : made_) {
      static_cast<void>(context_.call.destroy_matrix(descriptor));
    }
  }

  const Context& context_;
  cusparseLtMatDescriptor_t a_ = {};
  cusparseLtMatDescriptor_t b_ = {};
  cusparseLtMatDescriptor_t c_ = {};
  cusparseLtMatmulDescriptor_t product_ = {};
  std::vector<const cusparseLtMatDescriptor_t*> made_;
};

/// An algorithm for the product, which plans point to.
class Selection {
 public:
  Selection(const Context& context, const Description& description) : context_(context) {
    context_.check(
        context_.call.select(&context_.handle, &selection_, &description.product(), CUSPARSELT_MATMUL_ALG_DEFAULT),
        "cusparseLtMatmulAlgSelectionInit");
  }
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  ~Selection() { static_cast<void>(context_.call.destroy_selection(&selection_)); }

  const cusparseLtMatmulAlgSelection_t& get() const { return selection_; }
  void set_number(int number) {
    context_.check(context_.call.set_attribute(&context_.handle, &selection_, CUSPARSELT_MATMUL_ALG_CONFIG_ID, &number,
                                               sizeof number),
                   "cusparseLtMatmulAlgSetAttribute");
  }
  /// How many numbers there are.
  int count() const {
    int count = 0;
    context_.check(context_.call.get_attribute(&context_.handle, &selection_, CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID,
                                               &count, sizeof count),
                   "cusparseLtMatmulAlgGetAttribute");
    return count;
  }

 private:
  const Context& context_;
  cusparseLtMatmulAlgSelection_t selection_ = {};
};

/// How the product is computed by one algorithm.
class Plan {
 public:
  Plan(const Context& context, const Description& description, const Selection& selection) : context_(context) {
    context_.check(context_.call.make_plan(&context_.handle, &plan_, &description.product(), &selection.get()),
                   "cusparseLtMatmulPlanInit");
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { static_cast<void>(context_.call.destroy_plan(&plan_)); }

  const cusparseLtMatmulPlan_t& get() const { return plan_; }
  cusparseLtMatmulPlan_t& get() { return plan_; }
  std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    context_.check(context_.call.workspace_bytes(&context_.handle, &plan_, &bytes), "cusparseLtMatmulGetWorkspace");
    return bytes;
  }

 private:
  const Context& context_;
  cusparseLtMatmulPlan_t plan_ = {};
};

/// Which algorithm: one by its number, or the one that the library's own search finds, with the parts of K as it finds
/// them.
struct Choice {
  int number = 0;
  bool search = false;
};

class StructuredProduct : public PeerProduct {
 public:
  StructuredProduct(const Context& context, const ProductBench& bench, std::shared_ptr<const Description> description,
                    const Buffer& dense, Choice choice, std::size_t copies)
      : context_(context),
        bench_(bench),
        description_(std::move(description)),
        selection_(context, *description_),
        plan_(context, *description_, chosen(selection_, choice)) {
    compress(dense, copies);
    if (choice.search) {
      context_.check(context_.call.search(&context_.handle, &plan_.get(), &one, compressed_.front().as<void>(),
                                          bench_.b(0), &zero, bench_.c(0), bench_.c(0), nullptr, nullptr, 0),
                     "cusparseLtMatmulSearch");
    }
    workspace_ = Buffer(plan_.workspace_bytes());
    gpu::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void launch(cudaStream_t stream, std::size_t copy) override {
    void* const c = bench_.c(copy);
    context_.check(context_.call.multiply(&context_.handle, &plan_.get(), &one, compressed_[copy].as<void>(),
                                          bench_.b(copy), &zero, c, c, workspace_.as<void>(), &stream, 1),
                   "cusparseLtMatmul");
  }

 private:
  static const Selection& chosen(Selection& selection, Choice choice) {
    if (!choice.search) {
      selection.set_number(choice.number);
    }
    return selection;
  }

  void compress(const Buffer& dense, std::size_t copies) {
    std::size_t bytes = 0;
    std::size_t scratch_bytes = 0;
    context_.check(context_.call.compressed_bytes(&context_.handle, &plan_.get(), &bytes, &scratch_bytes),
                   "cusparseLtSpMMACompressedSize");
    const Buffer scratch(scratch_bytes);
    for (std::size_t copy = 0; copy < copies; ++copy) {
      compressed_.emplace_back(bytes);
      context_.check(context_.call.compress(&context_.handle, &plan_.get(), dense.as<void>(),
                                            compressed_.back().as<void>(), scratch.as<void>(), nullptr),
                     "cusparseLtSpMMACompress");
    }
    // The scratch memory is released.
    gpu::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  const Context& context_;
  const ProductBench& bench_;
  std::shared_ptr<const Description> description_;
  Selection selection_;
  Plan plan_;
  std::vector<Buffer> compressed_;
  Buffer workspace_;
};

/// A as a dense matrix on the device, of which the library makes its own form.
std::shared_ptr<const Buffer> dense_on_device(const SparseMatrix& matrix) {
  const TypedElements elements = dense_elements(matrix);
  auto dense = std::make_shared<Buffer>(elements.bytes().size());
  gpu::check(cudaMemcpy(dense->as<void>(), elements.data(), dense->bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return dense;
}

/// Why the library computes no product with the matrix; empty where it may.
std::string structure_problem(const SparseMatrix& matrix) {
  const RowStructure structure = tensor_core_structure(matrix.element);
  return has_structure(matrix, structure) ? dense_problem(matrix) : "A is not " + name_of(structure);
}

}  // namespace

Peer cusparselt_peer(const CusparseLt& library, const ProductBench& bench) {
  const SparseMatrix& matrix = bench.matrix();
  const bool half = is_half(matrix.element);
  Peer peer{.name = cusparselt_name,
            .library = "cuSPARSELt " + library.version(),
            .exact = half,
            .tolerance = half ? bench.tolerance() : tf32_tolerance,
            .a_bytes = static_cast<std::size_t>(bytes_of(matrix.element) * matrix.rows * matrix.columns / 2),
            .algorithms = {},
            .problem = structure_problem(matrix)};
  if (!peer.problem.empty()) {
    return peer;
  }
  const Context& context = library.context();
  try {
    const auto description = std::make_shared<const Description>(context, bench);
    const int count = Selection(context, *description).count();
    const std::shared_ptr<const Buffer> dense = dense_on_device(matrix);
    const auto add = [&](const std::string& name, Choice choice) {
      peer.algorithms.push_back({name, [&context, &bench, description, dense, choice](std::size_t copies) {
                                   return std::make_unique<StructuredProduct>(context, bench, description, *dense,
                                                                              choice, copies);
                                 }});
    };
    for (int number = 0; number < count; ++number) {
      add(fmt::format("algorithm {}", number), {.number = number});
    }
    add("search", {.search = true});
  } catch (const DeviceError& error) {
    if (!still_works()) {
      throw;
    }
    peer.problem = error.what();
  }
  return peer;
}

}  // namespace esc::gpu
