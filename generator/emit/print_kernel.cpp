// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/print_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "generator/emit/cuda_expressions.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/operand_text.h"
#include "generator/emit/print_cases.h"
#include "generator/emit/print_statement.h"
#include "generator/emit/region_text.h"
#include "generator/emit/role_code.h"
#include "generator/emit/shared_arrays.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/roles.h"
#include "generator/ir/unused_definitions.h"
#include "generator/support/error.h"

namespace esc {
namespace {

bool has_matrix(const LoopNest& nest, ArrayRole role) {
  return std::ranges::find(nest.arrays, role, &ArrayDeclaration::role) != nest.arrays.end();
}

class KernelPrinter {
 public:
  KernelPrinter(const LoopNest& nest, const std::string& name, const PackedAccess& packed, int shared_alignment)
      : nest_(nest), name_(name), packed_(packed), shared_alignment_(shared_alignment), statements_(nest) {}

  KernelText print() {
    std::vector<const Loop*> mapped;
    collect_mapped(nest_.body, mapped);
    body_ += threads_text(mapped);
    print_body(nest_.body);
    return {tables() + functions_, head() + body_ + "}\n"};
  }

 private:
  /// The tables of constants that the kernel reads, in constant memory.
  std::string tables() const {
    const CudaExpressions expressions(nest_);
    std::string text;
    for (const ArrayDeclaration& array : nest_.arrays) {
      if (array.role != ArrayRole::table || !uses(array.name)) {
        continue;
      }
      std::string values;
      for (const double value : array.values) {
        values += (values.empty() ? "" : ", ") + expressions.print(Expression(value));
      }
      text += fmt::format("__constant__ {} {}[{}] = {{{}}};\n", c_name(array.type), array.name, array.values.size(),
                          values);
    }
    return text;
  }

  std::string head() const {
    const char* const element = c_name(nest_.element());
    std::string parameters =
        nest_.packed.is_shape_generic ? "const PackedMatrix packed, " : "const unsigned char* packed, ";
    if (reads_b(nest_)) {
      parameters += fmt::format(
          "const {0}* __restrict__ B, long long given_ldb, {0}* __restrict__ C, long long given_ldc"
          "{1}, unsigned int given_columns",
          element, operand_kernel_parameters(nest_));
    } else {
      const bool repacks = has_matrix(nest_, ArrayRole::sparse);
      const ArrayDeclaration& given = nest_.array(repacks ? ArrayRole::sparse : ArrayRole::output);
      parameters += fmt::format("{}{}* __restrict__ {}, long long {}{}", repacks ? "const " : "", element, given.name,
                                leading_dimension_of_given(given),
                                given.extents.back() == Affine::of("N") ? ", unsigned int N" : "");
    }
    for (const std::string& size : kernel_sizes(nest_)) {
      parameters += ", unsigned int " + size;
    }
    parameters += copies_boxes(nest_) ? ", const __grid_constant__ CUtensorMap boxes_of_B" : "";
    std::string text;
    if (reads_b(nest_)) {
      text += nest_.vectors ? "template <bool tuned, bool vectors>\n" : "template <bool tuned>\n";
    }
    text += fmt::format("__global__ void {}__launch_bounds__({}{}) {}({}) {{\n",
                        has_clusters(nest_) ? "__cluster_dims__(cluster_blocks, 1, 1) " : "", threads(),
                        blocks_at_once(), name_, parameters);
    if (reads_b(nest_)) {
      text +=
          "const unsigned int N = tuned ? tuned_columns : given_columns;\n" +
          fmt::format("const long long ldb = tuned ? {} : given_ldb;\nconst long long ldc = tuned ? {} : given_ldc;\n",
                      tuned_leading_dimension(nest_.array(ArrayRole::dense)),
                      tuned_leading_dimension(nest_.array(ArrayRole::output)));
    }
    for (const PackedAccess::Section& section : packed_.sections) {
      if (uses(section.array)) {
        text += fmt::format("const {0}* __restrict__ {1} = {2};\n", section.type, section.array, section.place);
      }
    }
    return text + shared_memory() + "\n";
  }

  const char* blocks_at_once() const {
    if (!reads_b(nest_)) {
      return "";
    }
    // Whoever moves columns one by one needs a register more for each.
    return nest_.packed.kind != PackedForm::Kind::regions ? ", 1"
           : nest_.vectors                                ? ", vectors ? blocks_at_once : 1"
                                                          : ", blocks_at_once";
  }

  /// What a kernel is made for: its own constant, or that of the block.
  const char* threads() const {
    return std::ranges::any_of(nest_.constants, [](const auto& one) { return one.name == "zeroing_threads"; })
               ? "zeroing_threads"
               : "threads_per_block";
  }

  bool uses(const std::string& array) const {
    bool used = false;
    rewrite(nest_.body, {.access = [&](const Access& access) {
              used = used || access.array == array;
              return access;
            }});
    return used;
  }

  /// What the kernel declares is after staged regions, or takes the places of operands.
  std::string shared_memory() const {
    const bool stands_behind = stages_packets(nest_) || sums_stand_behind_k_tiles(nest_);
    std::string text;
    const ArrayDeclaration* in_front = nullptr;
    for (const ArrayDeclaration& array : nest_.arrays) {
      if (!is_in_shared_memory(array.role)) {
        continue;
      }
      if (text.empty()) {
        text = fmt::format("extern __shared__ __align__({}) unsigned char shared_memory[];\n", shared_alignment_);
      }
      if (array.record.empty()) {
        text +=
            fmt::format("{0}* const {1} = {2};\n", c_name(array.type), array.name,
                        in_front != nullptr ? behind(*in_front)
                                            : fmt::format("reinterpret_cast<{}*>(shared_memory{})", c_name(array.type),
                                                          stands_behind ? " + staged_bytes" : ""));
        in_front = &array;
      }
    }
    return text;
  }

  /// Where the array ends, of sums as the next one is.
  static std::string behind(const ArrayDeclaration& array) {
    std::string elements;
    for (const Affine& extent : extents_in_block(array)) {
      elements += (elements.empty() ? "" : " * ") + esc::print(extent);
    }
    return fmt::format("{} + {}", array.name, elements);
  }

  /// The loops that are mapped to the GPU, outermost first.
  static void collect_mapped(const Block& block, std::vector<const Loop*>& mapped) {
    for (const Node& node : block) {
      const auto* loop = std::get_if<Loop>(&node.content);
      if (loop != nullptr && is_mapped(loop->mapping)) {
        mapped.push_back(loop);
        collect_mapped(loop->body, mapped);
      }
    }
  }

  std::string threads_text(const std::vector<const Loop*>& mapped) const {
    std::string text;
    const bool digits = std::ranges::any_of(mapped, [](const Loop* loop) {
      return loop->mapping == Mapping::lane_digit || loop->mapping == Mapping::threads;
    });
    if (digits) {
      text += "const unsigned int thread = threadIdx.x;\n";
    }
    if (mentions(nest_.body, "warp") && digits) {
      text += "const int warp = thread / 32;\n";
    }
    if (has_shuffled_warps()) {
      text +=
          "const unsigned int shuffled_warp = __shfl_sync(0xffffffffu, thread / 32, 0);  // by which the compiler "
          "knows that all lanes have the same\n";
    }
    for (std::size_t at = 0; at < mapped.size(); ++at) {
      if (mentions(nest_.body, mapped[at]->iterator)) {
        text += thread_text(mapped, at);
      }
    }
    return text;
  }

  std::string thread_text(const std::vector<const Loop*>& mapped, std::size_t at) const {
    const std::string& iterator = mapped[at]->iterator;
    switch (mapped[at]->mapping) {
      case Mapping::grid:
        return fmt::format("const unsigned int {} = blockIdx.x{};\n", iterator,
                           nest_.packed.kind == PackedForm::Kind::regions ? " * block_stride % blocks"
                           : has_clusters(nest_)                          ? " / cluster_blocks"
                                                                          : "");
      case Mapping::cluster:
        return fmt::format("const unsigned int {} = blockIdx.x % cluster_blocks;\n", iterator);
      case Mapping::grid_y:
        return fmt::format("const unsigned int {} = blockIdx.y;\n", iterator);
      case Mapping::warps:
        return fmt::format("const int {} = static_cast<int>(threadIdx.x / 32);\n", iterator);
      case Mapping::lanes:
        return fmt::format("const int {} = static_cast<int>(threadIdx.x % 32);\n", iterator);
      case Mapping::warp_digit:
      case Mapping::lane_digit:
        return fmt::format("const int {} = {};\n", iterator, digit_text(mapped, at));
      case Mapping::threads:
      case Mapping::sequential:
      case Mapping::unrolled:
        break;
    }
    return "";
  }

  /// Whether digits of a warp's number are computed by the registers that all lanes share: where four warps multiply at
  /// once, their addresses are such.
  bool has_shuffled_warps() const { return places_values(nest_) || performs(nest_, "wgmma"); }

  /// A digit of the number of the warp or of the lane: what the loops inside of it leave. Of a shuffled number the
  /// compiler does not know how large it is.
  std::string digit_text(const std::vector<const Loop*>& mapped, std::size_t at) const {
    const bool warps = mapped[at]->mapping == Mapping::warp_digit;
    std::string inner;
    int inside = 0;
    for (std::size_t other = at + 1; other < mapped.size(); ++other) {
      if (mapped[other]->mapping == mapped[at]->mapping) {
        inner += (inner.empty() ? "" : " * ") + esc::print(mapped[other]->upper);
        ++inside;
      }
    }
    const bool outermost = at == 0 || mapped[at - 1]->mapping != mapped[at]->mapping;
    const bool shuffled = warps && has_shuffled_warps();
    std::string text = shuffled ? "shuffled_warp" : warps ? "thread / 32" : outermost ? "thread % 32" : "thread";
    if (inside > 0) {
      text += inside == 1 ? " / " + inner : fmt::format(" / ({})", inner);
    }
    return outermost && !shuffled ? text : fmt::format("{} % {}", text, esc::print(mapped[at]->upper));
  }

  /// How consumer groups, or producers, meet within iterations.
  const char* meeting_text(bool consumers) const {
    if (meets_at_copies(nest_)) {
      return has_producer_warps(nest_) ? "sync_consumer_group({});\n" : "";
    }
    return consumers ? "meet_those_who_place({}, iteration);\n" : "meet_those_who_multiply({}, iteration);\n";
  }

  /// What each thread does; loops that are mapped have become names.
  void print_body(const Block& block) {
    for (auto at = block.begin(); at != block.end(); ++at) {
      const Node& node = *at;
      if (has_roles(nest_) && parts_roles(node)) {
        const Block rest(at, block.end());
        statements_.meet_blocks_by("meet_multiplying();\n");
        const auto print_role = [&](bool first) {
          statements_.meet_consumer_groups_by(meeting_text(first));
          return statements_.print(code_of_role(nest_, rest, first));
        };
        body_ += fmt::format("if (role < 1) {{\n{}}} else {{\n{}}}\n", print_role(true), print_role(false));
        return;
      }
      if (const auto* loop = std::get_if<Loop>(&node.content); loop != nullptr && is_mapped(loop->mapping)) {
        print_body(without_unused_definitions(loop->body));
      } else if (const auto* choice = std::get_if<Switch>(&node.content)) {
        const CasesText cases = print_cases(nest_, *choice, packed_);
        functions_ += cases.functions;
        body_ += cases.choice;
      } else {
        body_ += statements_.print(node);
      }
    }
  }

  const LoopNest& nest_;
  const std::string& name_;
  const PackedAccess& packed_;
  int shared_alignment_;
  StatementPrinter statements_;
  std::string functions_;
  std::string body_;
};

}  // namespace

std::string tuned_leading_dimension(const ArrayDeclaration& array) {
  return !array.layout ? "tuned_columns" : array.role == ArrayRole::dense ? "tuned_ldb" : "tuned_ldc";
}

bool has_clusters(const LoopNest& nest) { return nest.has_constant("cluster_blocks"); }

bool reads_b(const LoopNest& nest) { return has_matrix(nest, ArrayRole::dense); }

std::vector<std::string> kernel_sizes(const LoopNest& nest) {
  switch (nest.packed.kind) {
    case PackedForm::Kind::tasks:
      return reads_b(nest) ? std::vector<std::string>{"heavy", "tasks"} : std::vector<std::string>{"split_rows"};
    case PackedForm::Kind::bitmap:
      return {"packed_tile_room"};
    case PackedForm::Kind::lists:
    case PackedForm::Kind::regions:
    case PackedForm::Kind::fragments:
    case PackedForm::Kind::gathered:
    case PackedForm::Kind::sparse24:
    case PackedForm::Kind::none:
      break;
  }
  return {};
}

int shared_alignment(const LoopNest& nest) { return copies_boxes(nest) || performs(nest, "wgmma") ? 1024 : 128; }

KernelText print_kernel(const LoopNest& nest, const std::string& name, const PackedAccess& packed,
                        int shared_alignment) {
  return KernelPrinter(nest, name, packed, shared_alignment).print();
}

}  // namespace esc
