// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "generator/support/error.h"
#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string refusal(const std::string& text) {
  try {
    compile(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "compiles";
}

TEST(HostText, ErrorsHaveAPosition) {
  EXPECT_THAT(refusal("__global__ void k(float* y) {\n  y[0] = missing;\n}\n"),
              AllOf(HasSubstr("kernel.cu:2:10: "), HasSubstr("error: use of undeclared identifier 'missing'")));
}

TEST(HostText, AllErrorsAreTold) {
  EXPECT_THAT(refusal("int a = b;\nint c = d;\n"), AllOf(HasSubstr("kernel.cu:1:9"), HasSubstr("kernel.cu:2:9")));
}

TEST(HostText, LaunchBracketsAreExplained) {
  EXPECT_THAT(refusal("__global__ void k(int n) {}\nvoid f() { k<<<1, 32>>>(3); }\n"),
              AllOf(HasSubstr("kernel.cu:2:15"), HasSubstr("cudaLaunchKernelEx")));
}

TEST(HostText, UnknownSymbolsAreNamed) {
  EXPECT_THAT(refusal("extern \"C\" int cuGetMagic(int);\nextern \"C\" int run(int n) { return cuGetMagic(n); }\n"),
              AllOf(HasSubstr("kernel.cu"), HasSubstr("uses 'cuGetMagic', which nothing defines")));
  EXPECT_THAT(refusal("extern \"C\" int getpid();\nextern \"C\" int run(int n) { return getpid(); }\n"),
              HasSubstr("'getpid'"));
}

TEST(HostText, InlineAssemblyIsRefused) {
  EXPECT_THAT(refusal("__global__ void k() {\n  asm volatile(\"nop\");\n}\n"),
              AllOf(HasSubstr("kernel.cu:2"), HasSubstr("inline PTX that the emulator does not know: \"nop\"")));
}

TEST(HostText, InitialisersOfSharedMemoryAreRefused) {
  EXPECT_THAT(refusal("__global__ void k() { __shared__ int n = 3; }\n"),
              HasSubstr("shared memory cannot have an initialiser"));
}

TEST(HostText, InitialisationAtStartUpIsRefused) {
  EXPECT_THAT(refusal("int f(int);\nint f(int n) { return n; }\nint g = f(3);\n"), HasSubstr("start-up"));
}

TEST(HostText, SystemHeadersAreNotForKernels) {
  EXPECT_THAT(refusal("#include <vector>\n"), HasSubstr("'vector' file not found"));
}

TEST(HostText, UnknownFunctionsAreNamed) {
  const HostProgram program = compile("extern \"C\" int run(int n) { return n; }\n");
  EXPECT_THAT([&] { program.symbol("walk"); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("defines no function 'walk'")));
}

TEST(HostText, HeadersCanBeGiven) {
  ProgramOptions options;
  options.headers.push_back({"layer.h",
                             "#include <stdint.h>\n#include <stddef.h>\n#include <cuda_runtime_api.h>\n"
                             "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
                             "cudaError_t layer(int64_t n, size_t m);\n"
                             "#ifdef __cplusplus\n}\n#endif\n"});
  options.defines = {"RESULT=n + m"};
  const HostProgram program = compile_cuda(
      "#include \"layer.h\"\nextern \"C\" cudaError_t layer(int64_t n, size_t m) { return (cudaError_t)(RESULT); }\n",
      "layer.cu", options);
  EmulatedDevice device;
  EXPECT_EQ((device.call<int(std::int64_t, std::size_t)>(program, "layer", 3, 4u)), 7);
}

TEST(HostText, ErrorValuesAreCudas) {
  EXPECT_EQ(refusal("static_assert(cudaErrorInvalidValue == 1 && cudaErrorMemoryAllocation == 2 &&\n"
                    "  cudaErrorInvalidConfiguration == 9 && cudaErrorMisalignedAddress == 716 &&\n"
                    "  cudaErrorIllegalAddress == 700 && cudaErrorNotSupported == 801, \"\");\n"
                    "static_assert(sizeof(cudaLaunchConfig_t) == 56 && sizeof(cudaLaunchAttribute) == 72 &&\n"
                    "  alignof(float4) == 16 && alignof(int2) == 8 && sizeof(dim3) == 12, \"\");\n"),
            "compiles");
}

const char* const kReader = R"(
#include <stdio.h>
extern "C" int letters(const char* path) {
  FILE* const file = fopen(path, "rb");
  if (file == nullptr) return -1;
  int sum = 0;
  char two[2];
  if (fread(two, 1, 2, file) == 2) sum = two[0] + two[1];
  while (fgetc(file) != EOF) ++sum;
  fclose(file);
  return sum;
}
extern "C" int leaves_open(const char* path) { return fopen(path, "rb") == nullptr ? -1 : 0; }
extern "C" int reads_what_is_not_open() { return fgetc((FILE*)16); }
)";

TEST(HostText, ReadsTheFilesThatTheCheckHas) {
  const HostProgram program = compile_host(kReader, "reader.cpp");
  EmulatedDevice device;
  device.set_files({{"three", std::vector<std::byte>(3, std::byte{5})},
                    {"empty", std::vector<std::byte>()},
                    {"missing", std::nullopt}});
  EXPECT_EQ(device.call<int(const char*)>(program, "letters", "three"), 11);
  EXPECT_EQ(device.call<int(const char*)>(program, "letters", "empty"), 0);
  EXPECT_EQ(device.call<int(const char*)>(program, "letters", "missing"), -1);
  EXPECT_THAT(device.faults(), IsEmpty()) << device.describe_faults();
  EXPECT_EQ(device.call<int(const char*)>(program, "letters", "/etc/passwd"), std::nullopt);
  EXPECT_THAT(device.describe_faults(), HasSubstr("calls fopen, which a text under check may not"));
  EXPECT_EQ(device.call<int()>(program, "reads_what_is_not_open"), std::nullopt);
  EXPECT_THAT(device.describe_faults(), HasSubstr("calls fgetc, which a text under check may not"));
}

TEST(HostText, ClosesWhatItHasOpened) {
  const HostProgram program = compile_host(kReader, "reader.cpp");
  EmulatedDevice device;
  device.set_files({{"three", std::vector<std::byte>(3, std::byte{5})}, {"missing", std::nullopt}});
  EXPECT_EQ(device.call<int(const char*)>(program, "leaves_open", "missing"), -1);
  EXPECT_THAT(device.faults(), IsEmpty()) << device.describe_faults();
  EXPECT_EQ(device.call<int(const char*)>(program, "leaves_open", "three"), 0);
  EXPECT_THAT(device.describe_faults(), HasSubstr("has not closed each file"));
}

/// A text as the generator's data-transformer: copies the non-zero values of a row, says in `message` what is wrong.
const char* const kTransformer = R"(
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
namespace {
const int32_t kColumns[4] = {0, 2, 3, 7};
}
extern "C" int transform(const float* a, int64_t lda, float* packed, int64_t rows, char* message, size_t length) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < lda; ++k) {
      const bool expected = k == kColumns[0] || k == kColumns[1] || k == kColumns[2] || k == kColumns[3];
      if ((a[row * lda + k] != 0.f) != expected) {
        snprintf(message, length, "row %d, column %d differs", (int)row, (int)k);
        return 1;
      }
    }
    float values[4];
    for (int c = 0; c < 4; ++c) values[c] = a[row * lda + kColumns[c]];
    memcpy(packed + row * 4, values, sizeof values);
  }
  return 0;
}
)";

struct Transformer {
  HostProgram program = compile_host(kTransformer, "layer_transformer.cpp");
  EmulatedDevice device;
  std::vector<float> a = std::vector<float>(16, 0.f);
  std::vector<float> packed = std::vector<float>(8, -1.f);
  std::vector<char> message = std::vector<char>(64, '\0');

  Transformer() {
    for (const int k : {0, 2, 3, 7, 8, 10, 11, 15}) {
      a[static_cast<std::size_t>(k)] = static_cast<float>(k + 1);
    }
    device.add_buffer("a", std::span<float>(a), BufferUse::input().on_host());
    device.add_buffer("packed", std::span<float>(packed), BufferUse::output().on_host());
    device.add_buffer("message", std::span<char>(message), BufferUse::update().on_host());
  }
  std::optional<int> transform(std::int64_t rows) {
    return device.call<int(const float*, std::int64_t, float*, std::int64_t, char*, std::size_t)>(
        program, "transform", a.data(), 8, packed.data(), rows, message.data(), message.size());
  }
};

TEST(HostText, RunsATransformer) {
  Transformer transformer;
  EXPECT_EQ(transformer.transform(1), 0);
  EXPECT_EQ(transformer.device.count_uninitialised("packed"), 16u);
  EXPECT_EQ(transformer.transform(2), 0);
  EXPECT_THAT(transformer.device.faults(), IsEmpty()) << transformer.device.describe_faults();
  EXPECT_EQ(transformer.device.count_uninitialised("packed"), 0u);
  EXPECT_EQ(transformer.packed, (std::vector<float>{1, 3, 4, 8, 9, 11, 12, 16}));
}

TEST(HostText, ATransformerMayRefuse) {
  Transformer transformer;
  transformer.a[9] = 1.f;
  EXPECT_EQ(transformer.transform(2), 1);
  EXPECT_STREQ(transformer.message.data(), "row 1, column 1 differs");
}

TEST(HostText, ATransformerThatReadsPastItsInput) {
  Transformer transformer;
  EXPECT_EQ(transformer.transform(3), std::nullopt);
  ASSERT_EQ(transformer.device.faults().size(), 1u);
  EXPECT_THAT(transformer.device.faults()[0].message,
              AllOf(HasSubstr("out of bounds: host code at layer_transformer.cpp:13"),
                    HasSubstr("read of 4 bytes 4 bytes past the end of buffer 'a' (64 bytes)")));
}

TEST(HostText, ChecksOfHostAccessesCanBeOff) {
  const HostProgram program = compile_host(
      "extern \"C\" int sum(const int* v, int n) { int s = 0; for (int i = 0; i < n; ++i) s += v[i]; return s; }\n",
      "sum.cpp");
  const std::vector<int> values = {1, 2, 3};
  EmulationOptions options;
  options.check_host_accesses = false;
  EmulatedDevice unchecked(options);
  EXPECT_EQ((unchecked.call<int(const int*, int)>(program, "sum", values.data(), 3)), 6);
  EmulatedDevice checked;
  EXPECT_EQ((checked.call<int(const int*, int)>(program, "sum", values.data(), 3)), std::nullopt);
  EXPECT_THAT(checked.describe_faults(), HasSubstr("sum.cpp:1"));
}

/// Where results alone are watched, the text runs as a compiler would have it: as fast, and unjudged.
TEST(HostText, AccessesNeedNotBeWatched) {
  const char* const sum =
      "extern \"C\" int sum(const int* v, int n) { int s = 0; for (int i = 0; i < n; ++i) s += v[i]; return s; }\n";
  const HostProgram program = compile_host(sum, "sum.cpp", {}, Watched::results);
  const std::vector<int> values = {1, 2, 3};
  EmulatedDevice device;
  EXPECT_EQ((device.call<int(const int*, int)>(program, "sum", values.data(), 3)), 6)
      << "of memory that the device does not know";
  EXPECT_THAT(device.faults(), IsEmpty()) << device.describe_faults();
  EXPECT_THAT(
      [] {
        compile_host("extern \"C\" int run() { asm volatile(\"\"); return 0; }\n", "run.cpp", {}, Watched::results);
      },
      ::testing::ThrowsMessage<UserError>(HasSubstr("inline assembly cannot be run on the host")));
}

TEST(HostText, EndlessHostLoopsEnd) {
  const HostProgram program = compile_host("extern \"C\" int spin(int n) { while (n) {} return 0; }\n", "spin.cpp");
  EmulationOptions options;
  options.host_steps = 1000;
  EmulatedDevice device(options);
  EXPECT_EQ((device.call<int(int)>(program, "spin", 1)), std::nullopt);
  EXPECT_THAT(device.describe_faults(), HasSubstr("step limit: host code at spin.cpp:1"));
}

TEST(HostText, BuffersAreRegisteredOnce) {
  EmulatedDevice device;
  std::vector<float> values(8);
  device.add_buffer("v", std::span<float>(values), BufferUse::input());
  EXPECT_THAT([&] { device.add_buffer("v", nullptr, 0, BufferUse::input()); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("buffer 'v': is registered already")));
  EXPECT_THAT([&] { device.add_buffer("w", values.data() + 7, 4, BufferUse::input()); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("overlaps buffer 'v'")));
  EXPECT_THAT([&] { device.remove_buffer("w"); }, ::testing::ThrowsMessage<UserError>(HasSubstr("not registered")));
}

}  // namespace
}  // namespace esc::testing
