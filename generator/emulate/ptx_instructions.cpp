// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/ptx_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "generator/emulate/matrix_fragments.h"

namespace esc {
namespace {

/// "{%2, %3}".
std::string operand_list(int first, int count) {
  std::string list;
  for (int operand = first; operand < first + count; ++operand) {
    list += fmt::format("{}%{}", list.empty() ? "" : ", ", operand);
  }
  return "{" + list + "}";
}

void add_loads(PtxInstructions& table) {
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      const std::string text = fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%{}];", matrices,
                                           transposed ? ".trans" : "", operand_list(0, matrices), matrices);
      table[text] = {std::vector<std::string>(static_cast<std::size_t>(matrices), "=r"),
                     {"r"},
                     fmt::format("__esc_ldmatrix<{}>", transposed ? 1 : 0)};
    }
  }
}

void add_transposition(PtxInstructions& table) {
  table["movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"] = {{"=r"}, {"r"}, "__esc_movmatrix"};
}

/// A form of mma: D and C are the same registers.
struct ProductForm {
  MatrixProduct::Element element;
  const char* types;
  const char* shape;
  const char* sparse_shape;
};

void add_products(PtxInstructions& table) {
  using Element = MatrixProduct::Element;
  const std::vector<std::string> sums(4, "+f");
  for (const ProductForm& form : {ProductForm{Element::float16, "f16.f16", "m16n8k16", "m16n8k32"},
                                  ProductForm{Element::bfloat16, "bf16.bf16", "m16n8k16", "m16n8k32"},
                                  ProductForm{Element::tensor_float32, "tf32.tf32", "m16n8k8", "m16n8k16"}}) {
    const std::string d = operand_list(0, 4);
    const std::string a = operand_list(4, 4);
    table[fmt::format("mma.sync.aligned.{}.row.col.f32.{}.f32 {}, {}, {}, {};", form.shape, form.types, d, a,
                      operand_list(8, 2), d)] = {sums, std::vector<std::string>(6, "r"),
                                                 fmt::format("__esc_mma<{}>", MatrixProduct{form.element}.number())};
    for (const bool ordered : {false, true}) {
      for (const std::uint32_t selector : {0u, 1u}) {
        const MatrixProduct product{form.element, true, ordered, selector};
        table[fmt::format("mma.sp{}.sync.aligned.{}.row.col.f32.{}.f32 {}, {}, {}, {}, %12, 0x{};",
                          ordered ? "::ordered_metadata" : "", form.sparse_shape, form.types, d, a, operand_list(8, 4),
                          d, selector)] = {sums, std::vector<std::string>(9, "r"),
                                           fmt::format("__esc_mma<{}>", product.number())};
      }
    }
  }
}

/// A form of wgmma. After its predicate are the signs of A and B, and of 16-bit elements whether B is transposed.
struct WarpgroupForm {
  MatrixProduct::Element element;
  const char* types;
  int depth;
  const char* immediates;
  bool transposed = false;
};

void add_warpgroup_products(PtxInstructions& table) {
  using Element = MatrixProduct::Element;
  table["wgmma.fence.sync.aligned;"] = {{}, {}, "__esc_wgmma_fence", true};
  table["wgmma.commit_group.sync.aligned;"] = {{}, {}, "__esc_wgmma_commit", true};
  table["wgmma.wait_group.sync.aligned 0;"] = {{}, {}, "__esc_wgmma_wait", true};
  table["wgmma.wait_group.sync.aligned %0;"] = {{}, {"n"}, "__esc_wgmma_wait", true};
  table[""] = {{"+f"}, {}, "__esc_keep", true};  // no instruction: what is made of the register stays after it
  table["// kept"] = {std::vector<std::string>(4, "+r"), {}, "__esc_keep_operand", true};  // nor is one: registers of A
  constexpr int most_columns = 256;
  for (const WarpgroupForm& form : {WarpgroupForm{Element::tensor_float32, "tf32.tf32", 8, "1, 1"},
                                    WarpgroupForm{Element::float16, "f16.f16", 16, "1, 1, 0"},
                                    WarpgroupForm{Element::float16, "f16.f16", 16, "1, 1, 1", true},
                                    WarpgroupForm{Element::bfloat16, "bf16.bf16", 16, "1, 1, 0"},
                                    WarpgroupForm{Element::bfloat16, "bf16.bf16", 16, "1, 1, 1", true}}) {
    const MatrixProduct product{.element = form.element, .transposed = form.transposed};
    for (int columns = 8; columns <= most_columns; columns += 8) {
      const int sums = columns / 2;
      const std::string text = fmt::format(
          "{{ .reg .pred adds; setp.ne.b32 adds, %{}, 0; wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{} {}, {}, %{}, "
          "adds, {}; }}",
          sums + 5, columns, form.depth, form.types, operand_list(0, sums), operand_list(sums, 4), sums + 4,
          form.immediates);
      table[text] = {std::vector<std::string>(static_cast<std::size_t>(sums), "+f"),
                     {"r", "r", "r", "r", "l", "r"},
                     fmt::format("__esc_wgmma<{}, {}>", product.number(), sums)};
    }
  }
}

void add_async_copies(PtxInstructions& table) {
  const auto add = [&](const std::string& text, std::vector<std::string> inputs, const std::string& call) {
    table[text] = {{}, std::move(inputs), call, true};
  };
  const std::string bulk = "shared::cluster.global.mbarrier::complete_tx::bytes";
  add("mbarrier.init.shared::cta.b64 [%0], %1;", {"r", "r"}, "__esc_mbarrier_init");
  add("fence.mbarrier_init.release.cluster;", {}, "__esc_async_fence");
  add("fence.proxy.async.shared::cta;", {}, "__esc_proxy_fence");
  add("mbarrier.arrive.shared::cta.b64 _, [%0];", {"r"}, "__esc_mbarrier_arrive");
  add("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", {"r", "r"}, "__esc_mbarrier_expect");
  add("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }",
      {"r", "r"}, "__esc_mbarrier_wait");
  add("cp.async.bulk." + bulk + " [%0], [%1], %2, [%3];", {"r", "l", "r", "r"}, "__esc_bulk_copy");
  add("cp.async.bulk." + bulk + ".L2::cache_hint [%0], [%1], %2, [%3], %4;", {"r", "l", "r", "r", "l"},
      "__esc_bulk_copy");
  add("cp.async.bulk.tensor.2d." + bulk + " [%0], [%1, {%2, %3}], [%4];", {"r", "l", "r", "r", "r"},
      "__esc_tensor_copy");
}

void add_byte_permutations(PtxInstructions& table) {
  table["prmt.b32 %0, %1, 0, %2;"] = {{"=r"}, {"r", "r"}, "__esc_permute_bytes"};
  table["prmt.b32 %0, %1, %2, %3;"] = {{"=r"}, {"r", "r", "r"}, "__esc_permute_bytes"};
}

void add_conversion(PtxInstructions& table) {
  table["cvt.rn.f16x2.f32 %0, %1, %2;"] = {{"=r"}, {"f", "f"}, "__esc_convert_to_halves"};
}

void add_shared_memory(PtxInstructions& table) {
  table["ld.shared.b32 %0, [%1];"] = {{"=r"}, {"r"}, "__esc_load_word"};
  table["cp.async.cg.shared.global [%0], [%1], 16, %2;"] = {{}, {"r", "l", "r"}, "__esc_copy_piece", true};
}

void add_cache_policies(PtxInstructions& table) {
  table["createpolicy.fractional.L2::evict_first.b64 %0, 1.0;"] = {{"=l"}, {}, "__esc_policy<0>"};
  table["createpolicy.fractional.L2::evict_last.b64 %0, 1.0;"] = {{"=l"}, {}, "__esc_policy<1>"};
  table["ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;"] = {{"=r"}, {"l", "l"}, "__esc_load_with_policy"};
}

void add_clusters(PtxInstructions& table) {
  table["barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"] = {
      {}, {}, "__esc_meet_cluster", true};
  table["mapa.shared::cluster.u32 %0, %1, %2;"] = {{"=r"}, {"r", "r"}, "__esc_map_to_block"};
  table["st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};"] = {
      {}, std::vector<std::string>(5, "r"), "__esc_store_in_cluster", true};
}

void add_named_barriers(PtxInstructions& table) {
  table["bar.sync %0, %1;"] = {{}, {"r", "r"}, "__esc_bar_sync", true};
  table["bar.arrive %0, %1;"] = {{}, {"r", "r"}, "__esc_bar_arrive", true};
}

void add_register_exchange(PtxInstructions& table) {
  table["setmaxnreg.inc.sync.aligned.u32 %0;"] = {{}, {"n"}, "__esc_take_registers", true};
  table["setmaxnreg.dec.sync.aligned.u32 %0;"] = {{}, {"n"}, "__esc_leave_registers", true};
}

}  // namespace

bool is_pure_ptx(std::string_view instruction) {
  return std::ranges::any_of(std::array{"mma", "prmt", "cvt", "createpolicy"},
                             [&](const char* name) { return instruction.starts_with(name); });
}

const PtxInstructions& ptx_instructions() {
  static const PtxInstructions kTable = [] {
    PtxInstructions table;
    add_loads(table);
    add_transposition(table);
    add_products(table);
    add_warpgroup_products(table);
    add_async_copies(table);
    add_cache_policies(table);
    add_clusters(table);
    add_named_barriers(table);
    add_register_exchange(table);
    add_byte_permutations(table);
    add_shared_memory(table);
    add_conversion(table);
    return table;
  }();
  return kTable;
}

}  // namespace esc
