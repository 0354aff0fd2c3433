// SPDX-License-Identifier: Apache-2.0
// Texts that would harm who checks them, or have him say "passed". Whatever a text does is one verdict of the bundle,
// in a short time: a problem in the report, or a refusal.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ostream>
#include <string>

#include "generator/emit/sources.h"
#include "generator/frontend/format_source.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/atomic_schedule.h"
#include "generator/support/error.h"
#include "generator/verify/verify.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/unwrapped.h"

namespace esc::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What is put into a text: declarations before its first function, and a statement at the beginning of that.
struct Attack {
  const char* name;
  std::string declarations;
  std::string statement;
  std::string verdict;
};

void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int time = 0; time < times; ++time) {
    result += text;
  }
  return result;
}

template <class Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

const SparseMatrix& matrix() {
  static const SparseMatrix made = sample_matrix({.rows = 13, .columns = 17, .sparsity = 0.6, .seed = 3});
  return made;
}

const GeneratedLayer& layer() {
  static const GeneratedLayer made = layer_of(matrix(), 8, AtomicSchedule());
  return made;
}

/// The text with the attack before `function`, and in it.
std::string with_attack(const std::string& text, const std::string& function, const Attack& attack) {
  const std::size_t at = text.find(function);
  EXPECT_NE(at, text.npos) << function;
  return text.substr(0, at) + attack.declarations + "\n" + function + "\n" + attack.statement + "\n" +
         text.substr(at + function.size());
}

std::string transformer_text() { return format_source(transformer_source(layer().layer), "layer_transformer.cpp"); }

/// All that the verification says; "passed" in it where that is the verdict.
std::string verdict_on(const std::string& kernel, const std::string& transformer, EmulationEffort effort) {
  const BundleUnderTest bundle{"layer", layer().layer.input, dispatch_of(layer().layer),
                               kernel,  transformer,         layer().bytes()};
  try {
    return print(verify_by_emulation(bundle, matrix(), effort));
  } catch (const UserError& error) {
    EXPECT_TRUE(error.status() == ExitStatus::check_failed || error.status() == ExitStatus::bad_input);
    return error.what();
  }
}

EmulationEffort short_effort() {
  EmulationEffort effort = sample_effort;
  effort.patience = std::chrono::milliseconds(30'000);
  effort.memory = std::uint64_t{1} << 30;
  return effort;
}

std::string verdict_on_kernel(const Attack& attack, EmulationEffort effort = short_effort()) {
  effort.most_packed_nonzeros = 0;
  return verdict_on(with_attack(kernel_text(layer()), "extern \"C\" cudaError_t layer_prepare(void) {", attack), "",
                    effort);
}

std::string verdict_on_transformer(const Attack& attack, const EmulationEffort& effort = short_effort()) {
  return verdict_on(kernel_text(layer()),
                    with_attack(transformer_text(), "extern \"C\" size_t layer_packed_bytes(void) {", attack), effort);
}

/// One that takes every transformer for too long to watch what it touches.
EmulationEffort unwatched_effort() {
  EmulationEffort effort = short_effort();
  effort.most_packed_nonzeros = 0;
  return effort;
}

void expect_verdict(const std::string& verdict, const std::string& words) {
  EXPECT_THAT(verdict, HasSubstr(words));
  EXPECT_EQ(verdict.find("passed by"), verdict.npos) << verdict;
}

TEST(HonestText, Passes) {
  EXPECT_THAT(verdict_on(kernel_text(layer()), transformer_text(), sample_effort), HasSubstr("passed by emulation"));
  EXPECT_THAT(verdict_on_kernel({"", "static int calls = 0;", "++calls;", ""}), HasSubstr("passed by emulation"));
  EXPECT_THAT(verdict_on_transformer({"", "", "volatile int calls = 0; calls = calls + 1;", ""}),
              HasSubstr("passed by emulation"));
}

TEST(HonestText, MayCallThroughItsOwnPointers) {
  EXPECT_THAT(
      verdict_on_kernel({"", "static int twice(int n) { return 2 * n; }\nstatic int (*volatile way)(int) = &twice;",
                         "if (way(2) != 4) return cudaErrorUnknown;", ""}),
      HasSubstr("passed by emulation"));
}

/// A transformer that searches for slots takes the emulator long, so that there are limits, which are said: first its
/// accesses are not watched, then it is not run.
TEST(HonestText, OfATransformerIsRunForAsManyElementsAsTheEffortAllows) {
  const SparseMatrix sparse = sample_matrix({.rows = 40, .columns = 300, .sparsity = 0.5, .seed = 3});
  const GeneratedLayer streamed = layer_of(sparse, 8, StreamSchedule{.row_tiles = 1, .warps = 1, .stages = 2});
  const std::string transformer = format_source(transformer_source(streamed.layer), "layer_transformer.cpp");
  const BundleUnderTest bundle{"layer",     streamed.layer.input, dispatch_of(streamed.layer), kernel_text(streamed),
                               transformer, streamed.bytes()};
  EmulationEffort effort = sample_effort;
  effort.most_searched_elements = 40 * 300;
  EXPECT_THAT(unwrapped(print(verify_by_emulation(bundle, sparse, effort))),
              AllOf(HasSubstr("passed by emulation"), Not(HasSubstr("skipped"))));
  effort.most_searched_elements = 40 * 300 / 8 - 1;
  effort.most_unwatched_elements = 40 * 300;
  EXPECT_THAT(
      unwrapped(print(verify_by_emulation(bundle, sparse, effort))),
      AllOf(HasSubstr("passed by emulation"),
            HasSubstr("what the transformer packs was checked, its memory accesses were not: its search for slots goes "
                      "through more than 1499 elements")));
  effort.most_unwatched_elements = 40 * 300 / 8 - 1;
  EXPECT_THAT(unwrapped(print(verify_by_emulation(bundle, sparse, effort))),
              HasSubstr("the transformer was not run: its search for slots goes through more than 1499 elements"));
}

/// Where nobody watches what it touches, a transformer is judged by what it packs, and by how it ends.
TEST(UnwatchedTransformer, IsFoundWrongWhereItDoesNotPackThisMatrix) {
  EXPECT_THAT(unwrapped(verdict_on(kernel_text(layer()), transformer_text(), unwatched_effort())),
              AllOf(HasSubstr("passed by emulation"),
                    HasSubstr("its memory accesses were not: the matrix has more than 0 non-zeros")));
  const GeneratedLayer other =
      layer_of(sample_matrix({.rows = 13, .columns = 17, .sparsity = 0.6, .seed = 4}), 8, AtomicSchedule());
  const std::string of_another = format_source(transformer_source(other.layer), "layer_transformer.cpp");
  expect_verdict(verdict_on(kernel_text(layer()), of_another, unwatched_effort()), "the transformer ");
}

TEST(UnwatchedTransformer, IsFoundWrongWhereItDoesNotReturn) {
  expect_verdict(verdict_on_transformer({"", "", "*reinterpret_cast<volatile int*>(16) = 1;", ""}, unwatched_effort()),
                 "layer_transformer.cpp touches memory that is not there");
  EmulationEffort hasty = unwatched_effort();
  hasty.patience = std::chrono::milliseconds(500);
  expect_verdict(verdict_on_transformer({"", "", "for (volatile int i = 0; i == 0;) {}", ""}, hasty),
                 "layer_transformer.cpp runs longer than 0.");
}

class HostileKernel : public testing::TestWithParam<Attack> {};
class HostileTransformer : public testing::TestWithParam<Attack> {};

TEST_P(HostileKernel, IsJudged) { expect_verdict(verdict_on_kernel(GetParam()), GetParam().verdict); }
TEST_P(HostileTransformer, IsJudged) { expect_verdict(verdict_on_transformer(GetParam()), GetParam().verdict); }

const auto name_of_attack = [](const auto& test) { return std::string(test.param.name); };

/// A function of this process, which the process that runs the text is a copy of, called by an address in the text.
std::string call_by_address(std::uint64_t address, const std::string& argument) {
  return fmt::format("reinterpret_cast<int (*)(const char*)>({}ull)({});", address, argument);
}

/// Has the emulator itself call that function, past all checks of the text: what then stops it is the process's lack of
/// rights.
Attack past_the_emulator(const char* name, std::uint64_t address, const char* verdict) {
  return {name, "__global__ void bait() {}",
          fmt::format("cudaLaunchConfig_t config = {{}};\nconfig.gridDim = dim3(1);\nconfig.blockDim = dim3(1);\n"
                      "void* none[] = {{nullptr}};\n"
                      "__esc_launch(&config, (const void*)&bait, (void (*)(const void*, void**)){}ull, none);",
                      address),
          verdict};
}

INSTANTIATE_TEST_SUITE_P(
    Rights, HostileKernel,
    testing::Values(
        Attack{"CallsSystemByAddress", "", call_by_address(address_of(&system), "\"true\""),
               "calls through a pointer what is no function of the text"},
        Attack{"CallsAnyAddress", "", call_by_address(4096, "nullptr"),
               "calls through a pointer what is no function of the text"},
        Attack{"CallsSystemByName", "extern \"C\" int system(const char*);", "system(\"true\");",
               "uses 'system', which nothing defines"},
        Attack{"OpensByName", "extern \"C\" int open(const char*, int, ...);", "open(\"/etc/hostname\", 0);",
               "uses 'open', which nothing defines"},
        Attack{"OpensASocket", "extern \"C\" int socket(int, int, int);", "socket(2, 1, 0);", "uses 'socket'"},
        Attack{"Forks", "extern \"C\" int fork();", "fork();", "uses 'fork'"},
        Attack{"Kills", "extern \"C\" int kill(int, int);", "kill(1, 9);", "uses 'kill'"},
        Attack{"CallsTheSystem", "extern \"C\" long syscall(long, ...);", "syscall(57);", "uses 'syscall'"},
        Attack{"Exits", "extern \"C\" void exit(int);", "exit(0);", "uses 'exit'"},
        Attack{"ExitsAtOnce", "extern \"C\" void _exit(int);", "_exit(0);", "uses '_exit'"},
        Attack{"Aborts", "extern \"C\" void abort();", "abort();", "uses 'abort'"},
        Attack{"OpensAFile", "extern \"C\" void* fopen(const char*, const char*);", "fopen(\"/etc/hostname\", \"r\");",
               "calls fopen, which a text under check may not"},
        Attack{"OpensAFileOnTheDevice",
               "extern \"C\" void* fopen(const char*, const char*);\n"
               "__global__ void opens() { fopen(\"/etc/hostname\", \"r\"); }",
               "cudaLaunchConfig_t config = {};\nconfig.gridDim = dim3(1);\nconfig.blockDim = dim3(1);\n"
               "cudaLaunchKernelEx(&config, opens);",
               "calls fopen, which a text under check may not"},
        past_the_emulator("OpensPastTheEmulator", address_of(&open),
                          "layer.cu asks the system for openat, which it has no right to"),
        past_the_emulator("ForksPastTheEmulator", address_of(&fork), "layer.cu asks the system for clone"),
        past_the_emulator("RunsAShellPastTheEmulator", address_of(&system), "layer.cu asks the system for"),
        past_the_emulator("ExitsPastTheEmulator", address_of(&_exit), "layer.cu ends the process that checks it"),
        past_the_emulator("AbortsPastTheEmulator", address_of(&abort),
                          "layer.cu ends the process that checks it (abort)"),
        past_the_emulator("SleepsPastTheEmulator", address_of(&pause), "layer.cu asks the system for pause"),
        past_the_emulator("CallsNowhere", 4096, "layer.cu touches memory that is not there")),
    name_of_attack);

INSTANTIATE_TEST_SUITE_P(
    Running, HostileKernel,
    testing::Values(
        Attack{"LoopsForEver", "", "for (volatile int i = 0; i == 0;) {}", "step limit: host code at layer.cu"},
        Attack{"LoopsForEverOnTheDevice", "__global__ void spin(int n) { while (n) {} }",
               "cudaLaunchConfig_t config = {};\nconfig.gridDim = dim3(1);\nconfig.blockDim = dim3(1);\n"
               "cudaLaunchKernelEx(&config, spin, 1);",
               "step limit: kernel 'spin'"},
        Attack{"WritesAnywhere", "", "*reinterpret_cast<volatile int*>(16) = 1;",
               "out of bounds: host code at layer.cu"},
        Attack{"ReadsThisProcess", "",
               fmt::format("volatile long secret = *reinterpret_cast<volatile long*>({}ull);", address_of(&environ)),
               "out of bounds: host code at layer.cu"},
        Attack{"RecursesForEver",
               "static int down(int n) { volatile char c[1000]; c[0] = 1; return down(n + 1) + c[0]; }",
               "if (down(0) == 3) return cudaErrorUnknown;", "stack overflow"},
        Attack{"HasALargeFrame", "",
               "volatile char frame[1 << 24]; frame[5] = 1; if (frame[5] == 2) return cudaErrorUnknown;",
               "a local array of 16777216 bytes cannot be run on the host"},
        Attack{"HasAHugeFrame", "",
               "volatile char frame[1 << 30]; frame[5] = 1; if (frame[5] == 2) return cudaErrorUnknown;", "layer.cu "},
        Attack{"AllocatesMuch", "", "volatile char* p = (volatile char*)__builtin_alloca(1u << 30); p[7] = 1;",
               "a local array of 1073741824 bytes cannot be run on the host"},
        Attack{"AllocatesWithoutBound", "static volatile unsigned much = 1u << 30;",
               "volatile char* p = (volatile char*)__builtin_alloca(much); p[7] = 1;",
               "a local array whose size is not a constant cannot be run on the host"},
        Attack{"Traps", "", "__builtin_trap();", "reaches a trap"},
        Attack{"JumpsFar", "static void* frame[5];", "__builtin_longjmp(frame, 1);", "cannot be run on the host"},
        Attack{"JumpsToAComputedPlace", "static void* volatile place;", "goto *place; here: place = &&here;",
               "a jump to a computed place cannot be run on the host"},
        Attack{"ReadsItsReturnAddress", "", "if (__builtin_return_address(0) == nullptr) return cudaErrorUnknown;",
               "'llvm.returnaddress' cannot be run on the host"},
        Attack{"Throws", "", "throw 1;", "cannot use 'throw' with exceptions disabled"},
        Attack{"IsAssembly", "", "asm volatile(\"syscall\");",
               "inline PTX that the emulator does not know: \"syscall\""},
        Attack{"IsAssemblyThatNeverRuns", "", "if (false) asm volatile(\"syscall\");",
               "inline PTX that the emulator does not know"},
        Attack{"IsAssemblyOfAnotherSpelling", "", "__asm__ volatile(\"syscall\");",
               "inline assembly cannot be run on the host"},
        Attack{"IsAssemblyByPasting", "#define JOIN(a, b) a##b", "JOIN(as, m) volatile(\"syscall\");",
               "inline assembly cannot be run on the host"},
        Attack{"IsAssemblyInAMacro", "#define CALL asm volatile(\"syscall\")", "CALL;",
               "inline PTX that the emulator does not know: \"asm\" in a directive"},
        Attack{"HasAssemblyBehindAKnownInstruction", "",
               "unsigned d = 0; asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" \"syscall\" : "
               "\"=r\"(d) : \"r\"(d));",
               "inline PTX that the emulator does not know"},
        Attack{"HasAssemblyInAnOperand", "",
               "unsigned d = 0; asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(d) : "
               "\"r\"(({ asm volatile(\"syscall\"); 1; })));",
               "inline PTX that the emulator does not know"},
        Attack{"UsesAnInstructionOfKernels", "",
               "unsigned d = 0; asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(d) : "
               "\"r\"(d));",
               "host code uses ldmatrix, which only kernels may"},
        Attack{"HasAssemblyBeside", "asm(\".globl evil\\nevil: ret\");", "",
               "inline PTX that the emulator does not know"}),
    name_of_attack);

INSTANTIATE_TEST_SUITE_P(
    Compiling, HostileKernel,
    testing::Values(
        Attack{"IncludesAFile", "#include \"/etc/shadow\"", "", "'/etc/shadow' file not found"},
        Attack{"IncludesAFileAbove", "#include \"../../../../../etc/passwd\"", "", "file not found"},
        Attack{"IncludesADevice", "#include \"/dev/stdin\"", "", "'/dev/stdin' file not found"},
        Attack{"EmbedsAFile", "static const unsigned char table[] = {\n#embed \"/etc/passwd\"\n};", "",
               "file not found"},
        Attack{"LooksForAFile", "#if __has_include(\"/etc/passwd\")\n#else\n#error no such file here\n#endif", "",
               "no such file here"},
        Attack{"IncludesItself", "#include \"/virtual/source/text.cpp\"", "", "#include nested too deeply"},
        Attack{"HasTooManyBrackets",
               "static int deep = " + std::string(100000, '(') + "1" + std::string(100000, ')') + ";", "",
               "layer.cu touches memory that is not there, or needs more stack than there is"},
        Attack{"IsDeepWithoutBrackets", "", "volatile int deep = " + repeated("- ", 400000) + "1;", "layer.cu "},
        Attack{"IsAMacroBomb",
               [] {
                 std::string text = "#define A0 1 +\n";
                 for (int level = 1; level < 12; ++level) {
                   text += fmt::format("#define A{} {}\n", level, repeated(fmt::format("A{} ", level - 1), 10));
                 }
                 return text + "static long bomb = A11 1;";
               }(),
               "", "layer.cu "},
        Attack{"RecursesInTemplates",
               "template <int n> struct Deep { static constexpr int value = Deep<n + 1>::value; };\n"
               "static int deep = Deep<0>::value;",
               "", "recursive template instantiation exceeded maximum depth"},
        Attack{"ComputesForEverAtCompileTime",
               "constexpr int forever() { int n = 0; for (;;) { n ^= 1; } return n; }\nstatic_assert(forever() == 0, "
               "\"\");",
               "", "constexpr evaluation hit maximum step limit"},
        Attack{"HasAHugeVariable", "static volatile char table[1u << 30];", "table[5] = 1;",
               "the variable 'table' has 1073741824 bytes, more than"},
        Attack{"HasAHugeTable", "static const volatile char table[1u << 31] = {1};",
               "if (table[5] == 1) return cudaErrorUnknown;", "layer.cu"},
        Attack{"HasHugeSharedMemory",
               "__global__ void wide() { __shared__ char table[1u << 30]; table[threadIdx.x] = 1; }", "wide();",
               "the variable 'table' has 1073741824 bytes"},
        Attack{"TakesItselfFromTheChecker", "__attribute__((disable_sanitizer_instrumentation)) static void free() {}",
               "free();", "the attribute 'disable_sanitizer_instrumentation' is no part of a text that can be checked"},
        Attack{"TakesItselfFromTheCheckerByItsBracket",
               "[[clang::disable_sanitizer_instrumentation]] static void free() {}", "free();",
               "is no part of a text that can be checked"},
        Attack{"RunsBeforeAllOthers", "__attribute__((constructor)) static void early() {}", "",
               "the attribute 'constructor' is no part of a text"},
        Attack{"HasTheNameOfAnother", "extern \"C\" int harmless(const char*) __asm__(\"system\");",
               "harmless(\"true\");", "is no part of a text that can be checked"}),
    name_of_attack);

INSTANTIATE_TEST_SUITE_P(
    Any, HostileTransformer,
    testing::Values(
        Attack{"OpensAFile", "", "fopen(\"/etc/hostname\", \"r\");", "calls fopen, which a text under check may not"},
        Attack{"CallsSystemByAddress", "", call_by_address(address_of(&system), "\"true\""),
               "calls through a pointer what is no function of the text"},
        Attack{"LoopsForEver", "", "for (volatile int i = 0; i == 0;) {}", "step limit"},
        Attack{"SaysThatItWritesMore", "", "return ~size_t{0};", "the transformer writes 18446744073709551615 bytes"},
        Attack{"SaysThatItWritesNothing", "", "return 0;", "the transformer writes 0 bytes"},
        Attack{"WritesThroughAFormat", "", "char to[8]; long n = 0; snprintf(to, 8, \"%ln\", &n);",
               "calls snprintf with %n, which a text under check may not"},
        Attack{"PrintsFromAnywhere", "", "char to[8]; snprintf(to, 8, \"%s\", (const char*)16);",
               "layer_transformer.cpp touches memory that is not there"},
        Attack{"IncludesAFile", "#include \"/etc/shadow\"", "", "'/etc/shadow' file not found"},
        Attack{"IncludesTheSystem", "#include <unistd.h>", "", "'unistd.h' file not found"},
        Attack{"Prints", "", "fputs(\"passed\", stdout);", "use of undeclared identifier"},
        Attack{"Throws", "", "throw 1;", "cannot use 'throw' with exceptions disabled"},
        Attack{"Exits", "extern \"C\" void exit(int);", "exit(0);", "uses 'exit'"}),
    name_of_attack);

/// It has no rights either, and what cannot be compiled for this machine is refused as ever.
TEST(UnwatchedTransformer, ReachesNothing) {
  const Attack by_address{"", "", call_by_address(address_of(&system), "\"true\""), ""};
  expect_verdict(verdict_on_transformer(by_address, unwatched_effort()), "layer_transformer.cpp ");
  expect_verdict(verdict_on_transformer({"", "", "fopen(\"/etc/hostname\", \"r\");", ""}, unwatched_effort()),
                 "calls fopen, which a text under check may not");
  expect_verdict(verdict_on_transformer({"", "asm(\".globl evil\\nevil: ret\");", "", ""}, unwatched_effort()),
                 "layer_transformer.cpp");
}

TEST(HostileText, HasASecondsPatience) {
  EmulationEffort effort = short_effort();
  effort.patience = std::chrono::milliseconds(500);
  const Attack attack = past_the_emulator("", address_of(+[](int, int, int) {
                                            for (volatile int i = 0; i == 0;) {
                                            }
                                          }),
                                          "");
  expect_verdict(verdict_on_kernel(attack, effort), "layer.cu runs longer than ");
}

}  // namespace
}  // namespace esc::tests
