// SPDX-License-Identifier: Apache-2.0
// Times generated products of 16 bits beside dense ones as a model runs them: weights are cold, since each launch reads
// another copy of them, and one CUDA graph has all launches. The journal of bitmaps was measured so.
//
//   nvcc -O2 -std=c++17 -arch=sm_90 -cudart shared -Xlinker --export-dynamic -o cold_products cold_products.cu -lcublasLt
//   nvcc -O3 -std=c++17 -arch=sm_90a -cudart shared -shared -Xcompiler -fPIC -o a.so a.cu a_transformer.cpp
//   cold_products [--alone] JOBS...
//
// Each line of a file of jobs names a bundle: LABEL LIBRARY PACKED PREFIX M K TYPE LAYOUT N. LIBRARY is the bundle as a
// shared library, PACKED its packed matrix, PREFIX the name of its functions, TYPE f16 or bf16, LAYOUT nk or kn. PACKED
// may be uniform:PERCENT in place of a file, where a matrix with so many zeros is drawn, or mask:FILE, a bit for each
// element, row by row, the lowest of a byte first: values are drawn, and the bundle packs them.
//
// Prints for each microseconds of ours where launches overlap (pdl=on) and where they do not, then those of the fastest
// algorithm of cuBLASLt, 16 in each of two layouts of A, and the largest difference of the products over the largest
// element; with --alone nothing dense is run.

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
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

bool plain = false;  ///< whether launches that may overlap with those in front do not

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
float dense_time(const __half* a, const __half* b, __half* c, cudaDataType_t type, int M, int K, int N, bool nk) {
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
    cublasLtMatrixLayoutCreate(&layout_a, type, by_rows ? K : M, by_rows ? M : K, by_rows ? K : M);
    cublasLtMatrixLayoutCreate(&layout_b, type, nk ? K : N, nk ? N : K, nk ? K : N);
    cublasLtMatrixLayoutCreate(&layout_c, type, M, N, nk ? M : N);
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

struct Job {
  std::string label, library, packed, prefix;
  int M = 0, K = 0;
  std::string type, layout;
  int N = 0;

  bool is_half() const { return type == "f16"; }
  bool is_nk() const { return layout == "nk"; }
};

std::uint16_t bits_of(float value, const Job& job) {
  std::uint16_t bits;
  const __half half = __float2half(value);
  const __nv_bfloat16 wide = __float2bfloat16(value);
  std::memcpy(&bits, job.is_half() ? static_cast<const void*>(&half) : &wide, sizeof bits);
  return bits;
}

float value_of(std::uint16_t bits, const Job& job) {
  __half half;
  __nv_bfloat16 wide;
  std::memcpy(&half, &bits, sizeof bits);
  std::memcpy(&wide, &bits, sizeof bits);
  return job.is_half() ? __half2float(half) : __bfloat162float(wide);
}

/// A with values that are drawn, and zeros where the job says.
std::vector<std::uint16_t> drawn_matrix(const Job& job) {
  const std::size_t elements = static_cast<std::size_t>(job.M) * job.K;
  std::vector<std::uint16_t> a(elements);
  Draw draw;
  if (job.packed.rfind("mask:", 0) == 0) {
    std::vector<char> mask((elements + 7) / 8);
    check(static_cast<bool>(std::ifstream(job.packed.substr(5), std::ios::binary).read(mask.data(), mask.size())),
          "reading a mask");
    for (std::size_t i = 0; i < elements; ++i) {
      a[i] = (mask[i / 8] >> i % 8 & 1) != 0 ? bits_of(draw() + 0.1f, job) : std::uint16_t{0};
    }
    return a;
  }
  const float zeros = static_cast<float>(std::atof(job.packed.c_str() + 8)) / 100;
  for (std::uint16_t& element : a) {
    element = draw() < zeros ? std::uint16_t{0} : bits_of(draw() - 0.5f, job);
  }
  return a;
}

/// A packed matrix, aligned as bundles ask for it: a file's, or one that is drawn.
std::vector<std::uint64_t> packed_matrix(const Job& job, void* library) {
  const auto function = [&](const char* suffix) { return dlsym(library, (job.prefix + suffix).c_str()); };
  if (job.packed.rfind("uniform:", 0) != 0 && job.packed.rfind("mask:", 0) != 0) {
    std::ifstream file(job.packed, std::ios::binary | std::ios::ate);
    check(file.is_open(), "opening a packed matrix");
    const auto file_bytes = static_cast<std::size_t>(file.tellg());
    std::vector<std::uint64_t> packed((file_bytes + 7) / 8);
    file.seekg(0);
    check(static_cast<bool>(file.read(reinterpret_cast<char*>(packed.data()), static_cast<std::streamsize>(file_bytes))),
          "reading a packed matrix");
    return packed;
  }
  const auto bytes_for = reinterpret_cast<std::size_t (*)(const void*, int64_t)>(function("_bytes_for"));
  const auto transform =
      reinterpret_cast<int (*)(const void*, int64_t, void*, std::size_t)>(function("_transform_into"));
  check(bytes_for != nullptr && transform != nullptr, "finding the functions of a bundle that packs any pattern");
  // Jobs of one matrix follow each other.
  static std::string drawn;
  static std::vector<std::uint16_t> a;
  const std::string wanted = job.packed + ' ' + job.type + ' ' + std::to_string(job.M) + ' ' + std::to_string(job.K);
  if (std::exchange(drawn, wanted) != wanted) {
    a = drawn_matrix(job);
  }
  const std::size_t needed = bytes_for(a.data(), job.K);
  std::vector<std::uint64_t> packed((needed + 7) / 8);
  check(needed > 0 && transform(a.data(), job.K, packed.data(), needed) == 0, "packing a matrix");
  return packed;
}

void measure(const Job& job, bool alone) {
  void* const library = dlopen(job.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  check(library != nullptr, dlerror());
  const auto function = [&](const char* suffix) { return dlsym(library, (job.prefix + suffix).c_str()); };
  const auto prepare = reinterpret_cast<cudaError_t (*)()>(function("_prepare"));
  const auto multiply =
      reinterpret_cast<cudaError_t (*)(const void*, const __half*, int64_t, __half*, int64_t, int32_t, cudaStream_t)>(
          function("_spmm"));
  const auto unpack =
      reinterpret_cast<cudaError_t (*)(const void*, __half*, int64_t, cudaStream_t)>(function("_unpack"));
  check(multiply != nullptr && (alone || unpack != nullptr), "finding the functions of a bundle");
  if (prepare != nullptr) {
    check(prepare(), "prepare");
  }
  const std::vector<std::uint64_t> packed = packed_matrix(job, library);
  const Copies copies(packed.data(), packed.size() * sizeof packed[0]);

  const std::size_t of_b = static_cast<std::size_t>(job.K) * job.N, of_c = static_cast<std::size_t>(job.M) * job.N;
  std::vector<std::uint16_t> host_b(of_b);
  Draw draw;
  for (std::uint16_t& element : host_b) {
    element = bits_of(2 * draw() - 1, job);
  }
  const Buffer b(of_b * 2), c(of_c * 2);
  check(cudaMemcpy(b.data, host_b.data(), of_b * 2, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(c.data, 0xff, of_c * 2), "cudaMemset");
  const auto* const dense_b = static_cast<const __half*>(b.data);
  auto* const ours = static_cast<__half*>(c.data);
  const int64_t ldb = job.is_nk() ? job.K : job.N, ldc = job.is_nk() ? job.M : job.N;
  const auto time_of_ours = [&](bool without_overlap) {
    plain = without_overlap;
    return time_of(copies.count, [&](std::size_t i, cudaStream_t stream) {
      check(multiply(copies.data + i % copies.count * copies.step, dense_b, ldb, ours, ldc, job.N, stream), "spmm");
    });
  };
  const float overlapping = time_of_ours(false), apart = time_of_ours(true);
  std::printf("%s %d %d %s %s %d ours %.2f plain %.2f", job.label.c_str(), job.M, job.K, job.type.c_str(),
              job.layout.c_str(), job.N, overlapping, apart);
  if (!alone) {
    const Buffer a(static_cast<std::size_t>(job.M) * job.K * 2), expected(of_c * 2);
    check(unpack(copies.data, static_cast<__half*>(a.data), job.K, nullptr), "unpack");
    check(cudaDeviceSynchronize(), "unpack");
    const float dense = dense_time(static_cast<const __half*>(a.data), dense_b, static_cast<__half*>(expected.data),
                                   job.is_half() ? CUDA_R_16F : CUDA_R_16BF, job.M, job.K, job.N, job.is_nk());
    std::vector<std::uint16_t> got(of_c), right(of_c);
    check(cudaMemcpy(got.data(), c.data, of_c * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaMemcpy(right.data(), expected.data, of_c * 2, cudaMemcpyDeviceToHost), "cudaMemcpy");
    float largest = 0, difference = 0;
    for (std::size_t i = 0; i < of_c; ++i) {
      largest = std::max(largest, std::abs(value_of(right[i], job)));
      const float off = std::abs(value_of(got[i], job) - value_of(right[i], job));
      difference = std::max(difference, std::isnan(off) ? INFINITY : off);
    }
    std::printf(" dense %.2f error %.1e", dense, difference / largest);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

/// Bundles launch by this function, so that launches can be kept from overlapping.
extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  using Launch = cudaError_t (*)(const cudaLaunchConfig_t*, const void*, void**);
  static const auto launch = reinterpret_cast<Launch>(dlsym(RTLD_NEXT, "cudaLaunchKernelExC"));
  cudaLaunchConfig_t changed = *config;
  for (unsigned int i = 0; plain && i < changed.numAttrs; ++i) {
    if (changed.attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      changed.numAttrs = 0;  // the only one that bundles have
    }
  }
  return launch(&changed, kernel, arguments);
}

int main(int count, char** arguments) {
  const bool alone = count > 1 && std::string(arguments[1]) == "--alone";
  for (int argument = alone ? 2 : 1; argument < count; ++argument) {
    std::ifstream jobs(arguments[argument]);
    check(jobs.is_open(), "opening a file of jobs");
    for (Job job; jobs >> job.label >> job.library >> job.packed >> job.prefix >> job.M >> job.K >> job.type >>
                  job.layout >> job.N;) {
      measure(job, alone);
    }
  }
}
