// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cublas_peer.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "generator/verify/transformer_check.h"
#include "tuner/gpu/dense_limit.h"
#include "tuner/gpu/library_type.h"

namespace esc::gpu {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw DeviceError(call, cublasLtGetStatusString(status));
  }
}

namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
constexpr int most_algorithms = 16;
constexpr const char* fp64_name = "cublas-fp64";
constexpr const char* fp32_name = "cublas-fp32";
constexpr const char* tf32_name = "cublas-tf32";

/// What describes the product to the library. It knows column-major matrices only, which are transposed row-major ones:
/// C^T (n x M) = B^T (n x K) x A^T (K x M). Where B and C lie transposed, it is C (M x n) = A (M x K) x B (K x n), and
/// A is the transposed one.
class Description {
 public:
  Description(const ProductBench& bench, cublasComputeType_t compute) {
    const std::uint64_t n = bench.columns();
    const auto m = static_cast<std::uint64_t>(bench.matrix().rows);
    const auto k = static_cast<std::uint64_t>(bench.matrix().columns);
    element_ = library_type(bench.element());
    try {
      check(cublasLtMatmulDescCreate(&product, compute, ProductFactors(bench.element()).type()),
            "cublasLtMatmulDescCreate");
      create(a, k, m);
      if (bench.is_transposed()) {
        constexpr cublasOperation_t transposed = CUBLAS_OP_T;
        check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
              "cublasLtMatmulDescSetAttribute");
        create(b, k, n);
        create(c, m, n);
        left = a;
        right = b;
      } else {
        create(b, n, k);
        create(c, n, m);
        left = b;
        right = a;
      }
      check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
      check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                                 sizeof workspace_bytes),
            "cublasLtMatmulPreferenceSetAttribute");
    } catch (...) {
      release();
      throw;
    }
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() { release(); }

  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr;
  cublasLtMatrixLayout_t b = nullptr;
  cublasLtMatrixLayout_t c = nullptr;
  cublasLtMatrixLayout_t left = nullptr;  ///< a or b, which one is in front
  cublasLtMatrixLayout_t right = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;

 private:
  /// Column-major, without gaps between the columns.
  void create(cublasLtMatrixLayout_t& layout, std::uint64_t rows, std::uint64_t columns) const {
    check(cublasLtMatrixLayoutCreate(&layout, element_, rows, columns, static_cast<std::int64_t>(rows)),
          "cublasLtMatrixLayoutCreate");
  }

  cudaDataType_t element_ = CUDA_R_32F;

  void release() {
    if (preference != nullptr) {
      static_cast<void>(cublasLtMatmulPreferenceDestroy(preference));
    }
    for (const cublasLtMatrixLayout_t layout : {a, b, c}) {
      if (layout != nullptr) {
        static_cast<void>(cublasLtMatrixLayoutDestroy(layout));
      }
    }
    if (product != nullptr) {
      static_cast<void>(cublasLtMatmulDescDestroy(product));
    }
  }
};

/// A as a dense matrix on the device, for all algorithms; made anew when another number of copies is asked for.
class DenseMatrix {
 public:
  explicit DenseMatrix(const SparseMatrix& matrix) : elements_(dense_elements(matrix)) {}

  std::shared_ptr<const Copies> copies(std::size_t count) {
    if (copies_ == nullptr || copies_->count() != count) {
      copies_ = std::make_shared<const Copies>(std::as_const(elements_).bytes(), count);
    }
    return copies_;
  }
  std::size_t bytes() const { return elements_.bytes().size(); }

 private:
  TypedElements elements_;
  std::shared_ptr<const Copies> copies_;
};

class CublasProduct : public PeerProduct {
 public:
  CublasProduct(const CublasHandle& handle, const ProductBench& bench, std::shared_ptr<const Description> description,
                const cublasLtMatmulAlgo_t& algorithm, std::shared_ptr<const Copies> a)
      : handle_(handle), bench_(bench), description_(std::move(description)), algorithm_(algorithm), a_(std::move(a)) {}

  void launch(cudaStream_t stream, std::size_t copy) override {
    const ProductFactors factors(bench_.element());
    void* const c = bench_.c(copy);
    const void* left = bench_.b(copy);
    const void* right = a_->at<const void>(copy);
    if (bench_.is_transposed()) {
      std::swap(left, right);
    }
    check(cublasLtMatmul(handle_.get(), description_->product, factors.one(), left, description_->left, right,
                         description_->right, factors.zero(), c, description_->c, c, description_->c, &algorithm_,
                         handle_.workspace().as<void>(), handle_.workspace().bytes(), stream),
          "cublasLtMatmul");
  }

 private:
  const CublasHandle& handle_;
  const ProductBench& bench_;
  std::shared_ptr<const Description> description_;
  cublasLtMatmulAlgo_t algorithm_;
  std::shared_ptr<const Copies> a_;
};

std::string library_of(const CublasHandle& handle) { return "cuBLASLt " + handle.version(); }

Peer peer_of(const std::string& name, cublasComputeType_t compute, double tolerance, const CublasHandle& handle,
             const ProductBench& bench, const std::shared_ptr<DenseMatrix>& dense) {
  Peer peer{.name = name,
            .library = library_of(handle),
            .exact = compute != CUBLAS_COMPUTE_32F_FAST_TF32,
            .tolerance = tolerance,
            .a_bytes = dense->bytes(),
            .algorithms = {},
            .problem = {}};
  try {
    const auto description = std::make_shared<const Description>(bench, compute);
    std::array<cublasLtMatmulHeuristicResult_t, most_algorithms> found = {};
    int count = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle.get(), description->product, description->left, description->right,
                                         description->c, description->c, description->preference, most_algorithms,
                                         found.data(), &count),
          "cublasLtMatmulAlgoGetHeuristic");
    for (int number = 0; number < count; ++number) {
      const cublasLtMatmulHeuristicResult_t& heuristic = found[static_cast<std::size_t>(number)];
      peer.algorithms.push_back(
          {fmt::format("heuristic {}", number),
           [&handle, &bench, description, heuristic, dense](std::size_t copies) -> std::unique_ptr<PeerProduct> {
             check(heuristic.state, "cublasLtMatmulAlgoGetHeuristic");
             return std::make_unique<CublasProduct>(handle, bench, description, heuristic.algo, dense->copies(copies));
           }});
    }
    if (peer.algorithms.empty()) {
      peer.problem = "cublasLtMatmulAlgoGetHeuristic: it knows no algorithm for this product";
    }
  } catch (const DeviceError& error) {
    if (!still_works()) {
      throw;
    }
    peer.problem = error.what();
  }
  return peer;
}

}  // namespace

CublasHandle::CublasHandle() : workspace_(workspace_bytes) { check(cublasLtCreate(&handle_), "cublasLtCreate"); }
CublasHandle::~CublasHandle() { static_cast<void>(cublasLtDestroy(handle_)); }

std::string CublasHandle::version() const { return std::to_string(cublasLtGetVersion()); }

std::vector<std::string> cublas_names(ScalarType element) {
  return is_half(element)             ? std::vector{fmt::format("cublas-{}", name_of(element))}
         : element == ScalarType::f64 ? std::vector<std::string>{fp64_name}
                                      : std::vector<std::string>{fp32_name, tf32_name};
}

std::vector<Peer> cublas_peers(const CublasHandle& handle, const ProductBench& bench) {
  const std::vector<std::string> names = cublas_names(bench.element());
  if (const std::string problem = dense_problem(bench.matrix()); !problem.empty()) {
    std::vector<Peer> peers;
    for (const std::string& name : names) {
      peers.push_back({.name = name, .library = library_of(handle), .algorithms = {}, .problem = problem});
    }
    return peers;
  }
  const auto dense = std::make_shared<DenseMatrix>(bench.matrix());
  const cublasComputeType_t exact = bench.element() == ScalarType::f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  std::vector<Peer> peers{peer_of(names.front(), exact, bench.tolerance(), handle, bench, dense)};
  if (names.back() == tf32_name) {
    peers.push_back(peer_of(tf32_name, CUBLAS_COMPUTE_32F_FAST_TF32, tf32_tolerance, handle, bench, dense));
  }
  return peers;
}

}  // namespace esc::gpu
