// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cusparse_peer.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/gpu/device.h"
#include "tuner/gpu/library_type.h"

namespace esc::gpu {
namespace {

constexpr cusparseOperation_t as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

void check(cusparseStatus_t status, const char* call) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    throw DeviceError(call, cusparseGetErrorString(status));
  }
}

/// A in CSR with 32-bit indices on the device, in some copies, each with a descriptor.
class CsrMatrices {
 public:
  CsrMatrices(const SparseMatrix& matrix, std::size_t copies) {
    const std::vector<std::int32_t> offsets(matrix.offsets.begin(), matrix.offsets.end());
    offsets_ = Copies(std::span<const std::int32_t>(offsets), copies);
    columns_ = Copies(std::span<const std::int32_t>(matrix.column_of), copies);
    const TypedElements values(matrix.element, matrix.values);
    values_ = Copies(values.bytes(), copies);
    try {
      for (std::size_t copy = 0; copy < copies; ++copy) {
        cusparseSpMatDescr_t descriptor = nullptr;
        check(cusparseCreateCsr(&descriptor, matrix.rows, matrix.columns, matrix.nonzeros(), offsets_.at<void>(copy),
                                columns_.at<void>(copy), values_.at<void>(copy), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, library_type(matrix.element)),
              "cusparseCreateCsr");
        descriptors_.push_back(descriptor);
      }
    } catch (...) {
      release();
      throw;
    }
  }
  CsrMatrices(const CsrMatrices&) = delete;
  CsrMatrices& operator=(const CsrMatrices&) = delete;
  ~CsrMatrices() { release(); }

  cusparseSpMatDescr_t at(std::size_t copy) const { return descriptors_[copy]; }

 private:
  void release() {
    for (const cusparseSpMatDescr_t descriptor : descriptors_) {
      static_cast<void>(cusparseDestroySpMat(descriptor));
    }
  }

  Copies offsets_;
  Copies columns_;
  Copies values_;
  std::vector<cusparseSpMatDescr_t> descriptors_;
};

/// A matrix without gaps on the device, row-major or transposed, as the library knows it.
class DenseDescriptor {
 public:
  DenseDescriptor(std::int64_t rows, std::int64_t columns, void* elements, ScalarType element, bool transposed) {
    check(cusparseCreateDnMat(&descriptor_, rows, columns, transposed ? rows : columns, elements, library_type(element),
                              transposed ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
          "cusparseCreateDnMat");
  }
  DenseDescriptor(DenseDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  DenseDescriptor& operator=(DenseDescriptor&&) = delete;
  ~DenseDescriptor() {
    if (descriptor_ != nullptr) {
      static_cast<void>(cusparseDestroyDnMat(descriptor_));
    }
  }
  cusparseDnMatDescr_t get() const { return descriptor_; }

 private:
  cusparseDnMatDescr_t descriptor_ = nullptr;
};

class VectorDescriptor {
 public:
  VectorDescriptor(std::int64_t length, void* elements, ScalarType element) {
    check(cusparseCreateDnVec(&descriptor_, length, elements, library_type(element)), "cusparseCreateDnVec");
  }
  VectorDescriptor(VectorDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  VectorDescriptor& operator=(VectorDescriptor&&) = delete;
  ~VectorDescriptor() {
    if (descriptor_ != nullptr) {
      static_cast<void>(cusparseDestroyDnVec(descriptor_));
    }
  }
  cusparseDnVecDescr_t get() const { return descriptor_; }

 private:
  cusparseDnVecDescr_t descriptor_ = nullptr;
};

/// The library takes B as something that it may write, and does not.
void* writable(const void* b) { return const_cast<void*>(b); }

class SpmmProduct : public PeerProduct {
 public:
  SpmmProduct(const CusparseHandle& handle, const ProductBench& bench, cusparseSpMMAlg_t algorithm, std::size_t copies)
      : handle_(handle), algorithm_(algorithm), factors_(bench.element()), matrices_(bench.matrix(), copies) {
    check(cusparseSetStream(handle_.get(), nullptr), "cusparseSetStream");
    for (std::size_t copy = 0; copy < copies; ++copy) {
      b_.emplace_back(bench.matrix().columns, bench.columns(), writable(bench.b(copy)), bench.element(),
                      bench.is_transposed());
      c_.emplace_back(bench.matrix().rows, bench.columns(), bench.c(copy), bench.element(), bench.is_transposed());
      std::size_t bytes = 0;
      check(
          cusparseSpMM_bufferSize(handle_.get(), as_it_is, as_it_is, factors_.one(), matrices_.at(copy), b_[copy].get(),
                                  factors_.zero(), c_[copy].get(), factors_.type(), algorithm_, &bytes),
          "cusparseSpMM_bufferSize");
      buffers_.emplace_back(bytes);
      check(cusparseSpMM_preprocess(handle_.get(), as_it_is, as_it_is, factors_.one(), matrices_.at(copy),
                                    b_[copy].get(), factors_.zero(), c_[copy].get(), factors_.type(), algorithm_,
                                    buffers_[copy].as<void>()),
            "cusparseSpMM_preprocess");
    }
    gpu::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void launch(cudaStream_t stream, std::size_t copy) override {
    check(cusparseSetStream(handle_.get(), stream), "cusparseSetStream");
    check(cusparseSpMM(handle_.get(), as_it_is, as_it_is, factors_.one(), matrices_.at(copy), b_[copy].get(),
                       factors_.zero(), c_[copy].get(), factors_.type(), algorithm_, buffers_[copy].as<void>()),
          "cusparseSpMM");
  }

 private:
  const CusparseHandle& handle_;
  cusparseSpMMAlg_t algorithm_;
  ProductFactors factors_;
  CsrMatrices matrices_;
  std::vector<DenseDescriptor> b_;
  std::vector<DenseDescriptor> c_;
  std::vector<Buffer> buffers_;
};

class SpmvProduct : public PeerProduct {
 public:
  SpmvProduct(const CusparseHandle& handle, const ProductBench& bench, cusparseSpMVAlg_t algorithm, std::size_t copies)
      : handle_(handle), algorithm_(algorithm), factors_(bench.element()), matrices_(bench.matrix(), copies) {
    check(cusparseSetStream(handle_.get(), nullptr), "cusparseSetStream");
    for (std::size_t copy = 0; copy < copies; ++copy) {
      b_.emplace_back(bench.matrix().columns, writable(bench.b(copy)), bench.element());
      c_.emplace_back(bench.matrix().rows, bench.c(copy), bench.element());
      std::size_t bytes = 0;
      check(cusparseSpMV_bufferSize(handle_.get(), as_it_is, factors_.one(), matrices_.at(copy), b_[copy].get(),
                                    factors_.zero(), c_[copy].get(), factors_.type(), algorithm_, &bytes),
            "cusparseSpMV_bufferSize");
      buffers_.emplace_back(bytes);
      check(cusparseSpMV_preprocess(handle_.get(), as_it_is, factors_.one(), matrices_.at(copy), b_[copy].get(),
                                    factors_.zero(), c_[copy].get(), factors_.type(), algorithm_,
                                    buffers_[copy].as<void>()),
            "cusparseSpMV_preprocess");
    }
    gpu::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void launch(cudaStream_t stream, std::size_t copy) override {
    check(cusparseSetStream(handle_.get(), stream), "cusparseSetStream");
    check(cusparseSpMV(handle_.get(), as_it_is, factors_.one(), matrices_.at(copy), b_[copy].get(), factors_.zero(),
                       c_[copy].get(), factors_.type(), algorithm_, buffers_[copy].as<void>()),
          "cusparseSpMV");
  }

 private:
  const CusparseHandle& handle_;
  cusparseSpMVAlg_t algorithm_;
  ProductFactors factors_;
  CsrMatrices matrices_;
  std::vector<VectorDescriptor> b_;
  std::vector<VectorDescriptor> c_;
  std::vector<Buffer> buffers_;
};

}  // namespace

CusparseHandle::CusparseHandle() { check(cusparseCreate(&handle_), "cusparseCreate"); }
CusparseHandle::~CusparseHandle() { static_cast<void>(cusparseDestroy(handle_)); }

std::string CusparseHandle::version() const {
  int version = 0;
  check(cusparseGetVersion(handle_, &version), "cusparseGetVersion");
  return std::to_string(version);
}

Peer cusparse_peer(const CusparseHandle& handle, const ProductBench& bench) {
  const SparseMatrix& matrix = bench.matrix();
  Peer peer{.name = "cusparse",
            .library = "cuSPARSE " + handle.version(),
            .exact = true,
            .tolerance = bench.tolerance(),
            .a_bytes = 4 * (matrix.offsets.size() + matrix.column_of.size()) +
                       static_cast<std::size_t>(bytes_of(matrix.element)) * matrix.column_of.size(),
            .algorithms = {},
            .problem = {}};
  int number = 0;
  for (const cusparseSpMMAlg_t algorithm : {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3}) {
    peer.algorithms.push_back({fmt::format("SpMM ALG{}", ++number), [&handle, &bench, algorithm](std::size_t copies) {
                                 return std::make_unique<SpmmProduct>(handle, bench, algorithm, copies);
                               }});
  }
  if (bench.columns() == 1) {
    number = 0;
    for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      peer.algorithms.push_back({fmt::format("SpMV ALG{}", ++number), [&handle, &bench, algorithm](std::size_t copies) {
                                   return std::make_unique<SpmvProduct>(handle, bench, algorithm, copies);
                                 }});
    }
  }
  return peer;
}

}  // namespace esc::gpu
