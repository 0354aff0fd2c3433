// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/peer_plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "tests/bench/plugin_operands.h"

namespace esc::bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StrEq;
using testing::ThrowsMessage;

/// (1 0 2)
/// (0 3 0)
SparseMatrix matrix() {
  return {.rows = 2, .columns = 3, .offsets = {0, 2, 3}, .column_of = {0, 2, 1}, .values = {1, 2, 3}};
}

/// What loading the file says; empty where it says nothing.
std::string refusal(const std::string& file) {
  try {
    const PeerPlugin plugin(file);
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    EXPECT_EQ(error.place(), file);
    EXPECT_FALSE(error.remedy().empty());
    return error.rule();
  }
  return {};
}

TEST(PeerPlugin, ComputesByTheInterface) {
  const PeerPlugin plugin(ESC_PEER_HOST_PRODUCT);
  EXPECT_EQ(plugin.name(), "host-product");
  const esc_peer& kernels = plugin.kernels();
  EXPECT_THAT(plugin_problem(kernels, matrix()), IsEmpty());
  const PluginOperands operands(kernels, matrix(), 2);
  const esc_peer_product product = operands.product();
  for (std::int32_t algorithm = 0; algorithm < kernels.algorithms; ++algorithm) {
    void* made = nullptr;
    ASSERT_EQ(kernels.make(&product, algorithm, &made), nullptr);
    const std::array<float, 6> b{1, 2, 3, 4, 5, 6};
    std::array<float, 4> c{-1, -1, -1, -1};
    EXPECT_EQ(kernels.launch(made, b.data(), c.data(), nullptr), nullptr);
    EXPECT_THAT(c, ElementsAre(11, 14, 9, 12)) << kernels.algorithm_name(algorithm);
    kernels.release(made);
  }
}

TEST(PeerPlugin, RefusesAProductInItsOwnWords) {
  const PeerPlugin plugin(ESC_PEER_HOST_PRODUCT);
  const PluginOperands operands(plugin.kernels(), matrix(), 3);
  const esc_peer_product product = operands.product();
  void* made = nullptr;
  EXPECT_THAT(plugin.kernels().make(&product, 0, &made), StrEq("N must be a multiple of 2"));
}

TEST(PeerPlugin, IsRefusedWhereItIsNoLibrary) {
  EXPECT_THAT(refusal("/nowhere/peer.so"), AllOf(HasSubstr("cannot be loaded"), HasSubstr("/nowhere/peer.so")));
  const TemporaryFolder folder;
  const std::string text = (folder.path() / "text.so").string();
  write_file_whole(text, "no library");
  EXPECT_THAT(refusal(text), HasSubstr("cannot be loaded"));
}

TEST(PeerPlugin, IsRefusedOfAnotherVersionBeforeItIsAskedMore) {
  EXPECT_THAT(refusal(ESC_PEER_NEWER_INTERFACE), StrEq("has version 2 of the interface of peers, not 1"));
}

TEST(PeerPlugin, IsRefusedWithoutAFunction) {
  EXPECT_THAT(refusal(ESC_PEER_MISSING_DESCRIPTION), StrEq("has no function esc_peer_describe"));
}

TEST(PeerPlugin, IsRefusedForEachRuleThatItsDescriptionBreaks) {
  void* const library = dlopen(ESC_PEER_WRONG_DESCRIPTION, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* const described = static_cast<const esc_peer**>(dlsym(library, "described"));
  ASSERT_NE(described, nullptr);
  const PeerPlugin host(ESC_PEER_HOST_PRODUCT);
  const auto with = [&](auto change) {
    esc_peer kernels = host.kernels();
    change(kernels);
    *described = &kernels;
    return refusal(ESC_PEER_WRONG_DESCRIPTION);
  };
  EXPECT_THAT(refusal(ESC_PEER_WRONG_DESCRIPTION), HasSubstr("there is no description"));
  EXPECT_THAT(with([](esc_peer&) {}), IsEmpty());
  EXPECT_THAT(with([](esc_peer& peer) { peer.name = nullptr; }), HasSubstr("the name is to have"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.name = "a|b"; }), HasSubstr("lower-case letters, digits, - and _, 40"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.name = "cusparse"; }), HasSubstr("those of NVIDIA's libraries"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.elements = 0; }), HasSubstr("types of elements"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.elements = 8; }), HasSubstr("types of elements"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.exact = ESC_PEER_F16; }), HasSubstr("among those that it takes"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.layout = 2; }), HasSubstr("the layout"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.algorithms = 0; }), HasSubstr("1 to 1000 algorithms"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.launch = nullptr; }), HasSubstr("one of its functions is missing"));
  EXPECT_THAT(with([](esc_peer& peer) { peer.algorithm_name = [](std::int32_t) -> const char* { return nullptr; }; }),
              HasSubstr("algorithm 0 has no name"));
  dlclose(library);
}

TEST(PeerPlugins, HaveNamesOfTheirOwn) {
  EXPECT_THAT(load_peer_plugins({}), IsEmpty());
  EXPECT_THAT(load_peer_plugins({ESC_PEER_HOST_PRODUCT}), SizeIs(1));
  EXPECT_THAT([] { load_peer_plugins({ESC_PEER_HOST_PRODUCT, ESC_PEER_HOST_PRODUCT}); },
              ThrowsMessage<UserError>(HasSubstr("has the name of another --peer, host-product")));
}

TEST(PluginOperands, AreTheMatrixInTheTypeOfItsElements) {
  SparseMatrix half = matrix();
  half.element = ScalarType::f16;
  esc_peer kernels{};
  kernels.elements = ESC_PEER_F16;
  EXPECT_THAT(plugin_problem(kernels, half), IsEmpty());
  EXPECT_THAT(plugin_problem(kernels, matrix()), StrEq("it does not take elements of f32"));
  const PluginOperands operands(kernels, half, 8);
  const esc_peer_product product = operands.product();
  EXPECT_EQ(product.m, 2);
  EXPECT_EQ(product.k, 3);
  EXPECT_EQ(product.n, 8);
  EXPECT_EQ(product.nonzeros, 3);
  EXPECT_EQ(product.element, ESC_PEER_F16);
  EXPECT_EQ(operands.value_bytes(), 6U);
  EXPECT_EQ(product.dense, nullptr) << "it was not asked for";
  EXPECT_EQ(static_cast<float>(static_cast<const transformer::Float16*>(product.values)[2]), 3.0F);
  EXPECT_THAT(std::vector(product.offsets, product.offsets + 3), ElementsAre(0, 2, 3));
  EXPECT_THAT(std::vector(product.columns, product.columns + 3), ElementsAre(0, 2, 1));
}

TEST(PluginOperands, AreOfFloat32WhereFactorsMayBeRounded) {
  SparseMatrix rounded = matrix();
  rounded.element = ScalarType::tf32;
  EXPECT_THAT(plugin_problem(PeerPlugin(ESC_PEER_HOST_PRODUCT).kernels(), rounded), IsEmpty());
  EXPECT_EQ(plugin_element(ScalarType::tf32), ESC_PEER_F32);
  EXPECT_EQ(plugin_element(ScalarType::f64), 0U);
}

TEST(PluginOperands, HaveNoDenseMatrixThatIsTooLarge) {
  SparseMatrix large = matrix();
  large.columns = 1 << 30;
  EXPECT_THAT(plugin_problem(PeerPlugin(ESC_PEER_HOST_PRODUCT).kernels(), large),
              HasSubstr("A as a dense matrix would take 8.6 GB"));
}

TEST(PeerPluginInterface, IsPlainC) {
  const std::string header = ESC_SOURCE_DIR "/tests/bench/peer_plugin_interface.h";
  const ProcessResult compiled = run_process(
      {ESC_HOST_COMPILER, "-x", "c", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", header});
  EXPECT_EQ(compiled.status, 0) << compiled.output;
}

#ifdef ESC_BENCH
TEST(EscBench, RefusesAPeerBeforeItMeasures) {
  const std::string layer = ESC_SOURCE_DIR "/tests/data/digits/hidden.mtx";
  const ProcessResult missing = run_process({ESC_BENCH, layer, "--peer", "/nowhere/peer.so"});
  EXPECT_EQ(missing.status, 2) << missing.output;
  EXPECT_THAT(missing.output, AllOf(HasSubstr("esc-bench: /nowhere/peer.so: cannot be loaded"),
                                    HasSubstr("give the path of a shared library")));
  const ProcessResult newer =
      run_process({ESC_BENCH, layer, "--peer", ESC_PEER_HOST_PRODUCT, "--peer", ESC_PEER_NEWER_INTERFACE});
  EXPECT_EQ(newer.status, 2) << newer.output;
  EXPECT_THAT(newer.output, HasSubstr("has version 2 of the interface of peers, not 1"));
}
#endif

}  // namespace
}  // namespace esc::bench
