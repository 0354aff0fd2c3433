// SPDX-License-Identifier: Apache-2.0
// Times generated float16 products beside dense ones as a model runs them: weights are cold, since each launch reads
// another copy of them, and one CUDA graph has all launches. The journal of bitmaps was measured so.
//
// cold_products FILE...: each line of a file names a bundle: LABEL LIBRARY PACKED PREFIX M K LAYOUT N, where LIBRARY is
// the bundle as a shared library, PACKED its packed matrix, PREFIX the name of its functions and LAYOUT nk or kn. PACKED
// may be uniform:PERCENT in place of a file: a matrix with so many zeros is drawn, and packed by the bundle.
// Prints for each: microseconds of ours and of the fastest algorithm of cuBLASLt, 16 in each of two layouts of A, their
// ratio, and the largest difference of the products over the largest element.

#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace {

constexpr std::size_t cold_bytes = 400u << 20;  // of weights between two products of the same
constexpr int runs = 5;

void check(bool fine, const char* what) {
  if (!fine) {
    std::fprintf(stderr, "cold_products: %s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    std::exit(1);
  }
}
void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "cold_products: %s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

struct Buffer {
  explicit Buffer(std::size_t bytes) : size(bytes) { check(cudaMalloc(&data, bytes), "cudaMalloc"); }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data = nullptr;
  std::size_t size;
};

/// Copies of one matrix that together are cold when it is their turn again.
struct Copies {
  Copies(const void* one, std::size_t bytes) : step((bytes + 255) / 256 * 256), count(cold_bytes / step + 2) {
    check(cudaMalloc(&data, step * count), "cudaMalloc");
    for (std::size_t c = 0; c < count; ++c) {
      check(cudaMemcpy(data + c * step, one, bytes, cudaMemcpyDefault), "cudaMemcpy");
    }
  }
  ~Copies() { cudaFree(data); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  std::size_t step;
  std::size_t count;
  unsigned char* data = nullptr;
};

/// Microseconds of one launch, the best of some runs of a graph of `count` launches.
float time_of(std::size_t count, const std::function<void(std::size_t, cudaStream_t)>& launch) {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  cudaGraph_t graph;
  cudaGraphExec_t made;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (std::size_t i = 0; i < count; ++i) {
    launch(i, stream);
  }
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  float best = 1e30f;
  for (int run = 0; run < runs + 1; ++run) {
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    check(cudaGraphLaunch(made, stream), "cudaGraphLaunch");
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaStreamSynchronize(stream), "a graph");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (run > 0) {
      best = std::min(best, milliseconds * 1000 / static_cast<float>(count));
    }
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaGraphExecDestroy(made);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return best;
}

__global__ void transpose(const __half* from, __half* to, int rows, int columns) {
  const std::size_t i = blockIdx.x * 256u + threadIdx.x;
  if (i < static_cast<std::size_t>(rows) * columns) {
    to[i % columns * rows + i / columns] = from[i];
  }
}

/// The dense product C[M][N] = A x B: in layout nk B and C are stored by columns, in kn by rows. Microseconds of the
/// fastest algorithm; C is its product.
float dense_time(const __half* a, const __half* b, __half* c, int M, int K, int N, bool nk) {
  cublasLtHandle_t handle;
  check(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasLtCreate");
  const Buffer workspace(64u << 20);
  const Buffer turned(static_cast<std::size_t>(M) * K * 2);
  transpose<<<(static_cast<std::size_t>(M) * K + 255) / 256, 256>>>(a, static_cast<__half*>(turned.data), M, K);
  float best = 1e30f;
  for (const bool by_rows : {true, false}) {
    const Copies copies(by_rows ? a : turned.data, static_cast<std::size_t>(M) * K * 2);
    cublasLtMatmulDesc_t product;
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t of_a = by_rows ? CUBLAS_OP_T : CUBLAS_OP_N, of_b = nk ? CUBLAS_OP_N : CUBLAS_OP_T;
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &of_a, sizeof of_a);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &of_b, sizeof of_b);
    cublasLtMatrixLayout_t layout_a, layout_b, layout_c;
    cublasLtMatrixLayoutCreate(&layout_a, CUDA_R_16F, by_rows ? K : M, by_rows ? M : K, by_rows ? K : M);
    cublasLtMatrixLayoutCreate(&layout_b, CUDA_R_16F, nk ? K : N, nk ? N : K, nk ? K : N);
    cublasLtMatrixLayoutCreate(&layout_c, CUDA_R_16F, M, N, nk ? M : N);
    if (!nk) {
      const cublasLtOrder_t rows = CUBLASLT_ORDER_ROW;
      cublasLtMatrixLayoutSetAttribute(layout_c, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows);
    }
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace.size,
                                         sizeof workspace.size);
    std::vector<cublasLtMatmulHeuristicResult_t> found(16);
    int count = 0;
    cublasLtMatmulAlgoGetHeuristic(handle, product, layout_a, layout_b, layout_c, layout_c, preference, 16,
                                   found.data(), &count);
    const float one = 1, zero = 0;
    for (int f = 0; f < count; ++f) {
      const auto multiply = [&](std::size_t i, cudaStream_t stream) {
        return cublasLtMatmul(handle, product, &one, copies.data + i % copies.count * copies.step, layout_a, b,
                              layout_b, &zero, c, layout_c, c, layout_c, &found[f].algo, workspace.data, workspace.size,
                              stream);
      };
      if (multiply(0, nullptr) == CUBLAS_STATUS_SUCCESS && cudaDeviceSynchronize() == cudaSuccess) {
        best = std::min(best, time_of(copies.count, multiply));
      }
    }
    cublasLtMatmulPreferenceDestroy(preference);
    for (const cublasLtMatrixLayout_t layout : {layout_a, layout_b, layout_c}) {
      cublasLtMatrixLayoutDestroy(layout);
    }
    cublasLtMatmulDescDestroy(product);
  }
  cublasLtDestroy(handle);
  check(best < 1e29f, "every algorithm of cuBLASLt");
  return best;
}

/// Numbers from 0 to 1, the same at each run.
struct Draw {
  float operator()() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state >> 40) / (1 << 24);
  }
  std::uint64_t state = 1;
};

/// A packed matrix, aligned as bundles ask for it: a file's, or one that is drawn.
std::vector<std::uint64_t> packed_matrix(const std::string& source, void* library, const std::string& prefix,
                                         std::size_t elements, int64_t lda) {
  const auto bytes = reinterpret_cast<std::size_t (*)()>(dlsym(library, (prefix + "_packed_bytes").c_str()));
  check(bytes != nullptr, "finding the functions of a bundle");
  std::vector<std::uint64_t> packed((bytes() + 7) / 8);
  if (source.rfind("uniform:", 0) != 0) {
    std::ifstream file(source, std::ios::binary);
    check(static_cast<bool>(file.read(reinterpret_cast<char*>(packed.data()), static_cast<std::streamsize>(bytes()))),
          "reading a packed matrix");
    return packed;
  }
  const float zeros = static_cast<float>(std::atof(source.c_str() + 8)) / 100;
  std::vector<__half> a(elements);
  Draw draw;
  for (__half& element : a) {
    element = __float2half(draw() < zeros ? 0.0f : draw() - 0.5f);
  }
  const auto bytes_for =
      reinterpret_cast<std::size_t (*)(const void*, int64_t)>(dlsym(library, (prefix + "_bytes_for").c_str()));
  const auto transform = reinterpret_cast<int (*)(const void*, int64_t, void*, std::size_t)>(
      dlsym(library, (prefix + "_transform_into").c_str()));
  check(bytes_for != nullptr && transform != nullptr, "finding the functions of a bundle that packs any pattern");
  const std::size_t needed = bytes_for(a.data(), lda);
  packed.resize((needed + 7) / 8);
  check(needed > 0 && transform(a.data(), lda, packed.data(), needed) == 0, "packing a matrix");
  return packed;
}

struct Job {
  std::string label, library, packed, prefix;
  int M = 0, K = 0;
  std::string layout;
  int N = 0;
};

void measure(const Job& job, std::map<std::tuple<int, int, int, std::string>, float>& dense) {
  void* const library = dlopen(job.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  check(library != nullptr, "loading a library");
  const auto function = [&](const char* suffix) { return dlsym(library, (job.prefix + suffix).c_str()); };
  const auto prepare = reinterpret_cast<cudaError_t (*)()>(function("_prepare"));
  const auto multiply =
      reinterpret_cast<cudaError_t (*)(const void*, const __half*, int64_t, __half*, int64_t, int32_t, cudaStream_t)>(
          function("_spmm"));
  const auto unpack =
      reinterpret_cast<cudaError_t (*)(const void*, __half*, int64_t, cudaStream_t)>(function("_unpack"));
  check(prepare != nullptr && multiply != nullptr && unpack != nullptr, "finding the functions of a bundle");
  check(prepare(), "prepare");
  const std::vector<std::uint64_t> packed =
      packed_matrix(job.packed, library, job.prefix, static_cast<std::size_t>(job.M) * job.K, job.K);

  const bool nk = job.layout == "nk";
  const std::size_t of_b = static_cast<std::size_t>(job.K) * job.N, of_c = static_cast<std::size_t>(job.M) * job.N;
  std::vector<__half> host_b(of_b);
  Draw draw;
  for (__half& element : host_b) {
    element = __float2half(2 * draw() - 1);
  }
  const Buffer a(static_cast<std::size_t>(job.M) * job.K * 2), b(of_b * 2), c(of_c * 2), expected(of_c * 2);
  check(cudaMemcpy(b.data, host_b.data(), of_b * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(c.data, 0xff, of_c * 2), "cudaMemset");
  const auto* const of_dense = static_cast<const __half*>(b.data);
  auto* const ours = static_cast<__half*>(c.data);
  const Copies copies(packed.data(), packed.size() * 8);
  check(unpack(copies.data, static_cast<__half*>(a.data), job.K, nullptr), "unpack");
  check(cudaDeviceSynchronize(), "unpack");

  const auto key = std::make_tuple(job.M, job.K, job.N, job.layout);
  const float of_peer = dense_time(static_cast<const __half*>(a.data), of_dense, static_cast<__half*>(expected.data),
                                   job.M, job.K, job.N, nk);
  dense[key] = dense.count(key) > 0 ? std::min(dense[key], of_peer) : of_peer;
  const int64_t ldb = nk ? job.K : job.N, ldc = nk ? job.M : job.N;
  const float of_ours = time_of(copies.count, [&](std::size_t i, cudaStream_t stream) {
    check(multiply(copies.data + i % copies.count * copies.step, of_dense, ldb, ours, ldc, job.N, stream), "spmm");
  });

  std::vector<__half> got(of_c), right(of_c);
  check(cudaMemcpy(got.data(), c.data, of_c * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaMemcpy(right.data(), expected.data, of_c * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < of_c; ++i) {
    largest = std::max(largest, std::abs(__half2float(right[i])));
    const float off = std::abs(__half2float(got[i]) - __half2float(right[i]));
    difference = std::max(difference, std::isnan(off) ? INFINITY : off);
  }
  std::printf("%s %d %d %s %d ours %.2f dense %.2f ratio %.3f error %.1e\n", job.label.c_str(), job.M, job.K,
              job.layout.c_str(), job.N, of_ours, dense[key], dense[key] / of_ours, difference / largest);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  std::map<std::tuple<int, int, int, std::string>, float> dense;
  for (int argument = 1; argument < count; ++argument) {
    std::ifstream jobs(arguments[argument]);
    for (Job job;
         jobs >> job.label >> job.library >> job.packed >> job.prefix >> job.M >> job.K >> job.layout >> job.N;) {
      measure(job, dense);
    }
  }
}
