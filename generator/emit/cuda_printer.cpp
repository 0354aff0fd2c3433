#include "generator/emit/cuda_printer.h"

#include <fmt/format.h>

#include <set>

#include "generator/ir/print.h"
#include "generator/support/error.h"

namespace esc {
namespace {

std::string plural(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// offset + affine part, without a "+ 0".
std::string index_text(const Subscript& subscript) {
  if (subscript.offset.empty()) {
    return print(subscript.affine);
  }
  return subscript.affine == Affine() ? subscript.offset : subscript.offset + " + " + print(subscript.affine);
}

bool is_single_term(const Subscript& subscript) {
  return subscript.offset.empty() ? subscript.affine.constant() == 0 && subscript.affine.terms().size() == 1
                                  : subscript.affine == Affine();
}

std::string access_text(const Access& access) {
  if (access.subscripts.size() == 1) {
    return fmt::format("{}[{}]", access.array, index_text(access.subscripts[0]));
  }
  const std::string row = index_text(access.subscripts[0]);
  return fmt::format("{}[{} * {} + {}]", access.array, is_single_term(access.subscripts[0]) ? row : "(" + row + ")",
                     access.array == "B" ? "ldb" : "ldc", index_text(access.subscripts[1]));
}

std::string operand_text(const Operand& operand) {
  if (const auto* access = std::get_if<Access>(&operand)) {
    return access_text(*access);
  }
  if (const auto* scalar = std::get_if<std::string>(&operand)) {
    return *scalar;
  }
  return fmt::format("{:.1f}f", std::get<double>(operand));
}

std::string expression_text(const IndexExpression& expression) {
  if (const auto* access = std::get_if<Access>(&expression)) {
    return access_text(*access);
  }
  if (const auto* count = std::get_if<PopulationCount>(&expression)) {
    return fmt::format("__popc({})", count->mask);
  }
  if (const auto* bit = std::get_if<LowestSetBit>(&expression)) {
    return fmt::format("__ffs({}) - 1", bit->mask);
  }
  ESC_CHECK(!std::holds_alternative<ColumnAt>(expression) && !std::holds_alternative<ColumnCount>(expression),
            "no column set is left after the data transformation");
  return print(expression);
}

/// The names of index variables that an affine part or an offset reads.
void collect(const Affine& affine, std::set<std::string>& names) {
  for (const Affine::Term& term : affine.terms()) {
    names.insert(term.name);
  }
}

/// Reads and definitions of index variables in a block.
struct IndexNames {
  std::set<std::string> used;
  std::set<std::string> defined;

  void add(const Access& access) {
    for (const Subscript& subscript : access.subscripts) {
      if (!subscript.offset.empty()) {
        used.insert(subscript.offset);
      }
      collect(subscript.affine, used);
    }
  }
  void add(const Operand& operand) {
    if (const auto* access = std::get_if<Access>(&operand)) {
      add(*access);
    }
  }
  void add(const IndexExpression& expression) {
    if (const auto* affine = std::get_if<Affine>(&expression)) {
      collect(*affine, used);
    } else if (const auto* access = std::get_if<Access>(&expression)) {
      add(*access);
    } else if (const auto* round = std::get_if<RoundDown>(&expression)) {
      used.insert(round->value);
    } else if (const auto* bit = std::get_if<LowestSetBit>(&expression)) {
      used.insert(bit->mask);
    } else if (const auto* clear = std::get_if<ClearLowestSetBit>(&expression)) {
      used.insert(clear->mask);
    }
  }
  void add(const Statement& statement) {
    for (const Condition& condition : statement.guard) {
      collect(std::get<Less>(condition).left, used);
      collect(std::get<Less>(condition).right, used);
    }
    if (const auto* index = std::get_if<DefineIndex>(&statement.action)) {
      add(index->value);
      defined.insert(index->name);
    } else if (const auto* element = std::get_if<DefineElement>(&statement.action)) {
      add(element->value);
    } else {
      const auto& update = std::get<Update>(statement.action);
      add(update.target);
      for (const Operand& factor : update.factors) {
        add(factor);
      }
    }
  }
  void add(const Block& block) {
    for (const Node& node : block) {
      if (const auto* loop = std::get_if<Loop>(&node.content)) {
        collect(loop->lower, used);
        collect(loop->upper, used);
        defined.insert(loop->iterator);
        add(loop->body);
      } else {
        add(std::get<Statement>(node.content));
      }
    }
  }

  /// What the block needs from outside; N is a parameter of every function.
  std::vector<std::string> free() const {
    std::vector<std::string> names;
    for (const std::string& name : used) {
      if (!defined.contains(name) && name != "N") {
        names.push_back(name);
      }
    }
    return names;
  }
};

class CudaPrinter {
 public:
  CudaPrinter(std::string offset_type, std::string column_type)
      : offset_type_(std::move(offset_type)), column_type_(std::move(column_type)) {}

  CudaText print_nest(const LoopNest& nest) {
    print_kernel(nest.body);
    return std::move(text_);
  }

 private:
  /// The loops that are mapped to the GPU, outermost first, then what each thread does.
  void print_kernel(const Block& block) {
    for (const Node& node : block) {
      if (const auto* loop = std::get_if<Loop>(&node.content)) {
        ESC_CHECK(loop->mapping != Mapping::sequential, "only mapped loops stand around the lists");
        const char* place = loop->mapping == Mapping::grid    ? "static_cast<int>(blockIdx.x)"
                            : loop->mapping == Mapping::warps ? "static_cast<int>(threadIdx.x / 32)"
                                                              : "static_cast<int>(threadIdx.x % 32)";
        text_.kernel_body += fmt::format("const int {} = {};\n", loop->iterator, place);
        print_kernel(loop->body);
      } else if (const auto* choice = std::get_if<Switch>(&node.content)) {
        print_choice(*choice);
      } else {
        text_.kernel_body += statement_text(std::get<Statement>(node.content));
      }
    }
  }

  void print_choice(const Switch& choice) {
    text_.kernel_body += fmt::format("switch ({}) {{\n", std::get<std::string>(choice.subject));
    for (const Case& one : choice.cases) {
      print_case(one);
    }
    text_.kernel_body += "default: break;\n}\n";
  }

  void print_case(const Case& one) {
    const auto* pattern = std::get_if<Pattern>(&one.label);
    const std::int64_t rows = pattern != nullptr ? pattern->popcount() : std::get<std::int64_t>(one.label);
    const std::string label = pattern != nullptr ? print(*pattern) : fmt::format("{}", rows);
    const std::string function = pattern != nullptr ? "multiply_pattern_" + print(*pattern).substr(2)
                                                    : fmt::format("multiply_{}_row{}", rows, rows == 1 ? "" : "s");
    IndexNames names;
    names.add(one.body);
    std::string parameters;
    std::string arguments;
    for (const std::string& name : names.free()) {
      parameters += fmt::format(", {} {}", type_of(name), name);
      arguments += ", " + name;
    }
    text_.functions += fmt::format(
        "// Lists with {}{}: every loaded element of B feeds {}.\n"
        "__device__ __forceinline__ void {}(const {}* __restrict__ Cols, const float* __restrict__ ANNZ, "
        "const float* __restrict__ B, long long ldb, float* __restrict__ C, long long ldc, unsigned int N{}) {{\n{}}}\n\n",
        pattern != nullptr ? "pattern " + label + ", " : "", plural(rows, "non-zero row"), plural(rows, "multiply-add"),
        function, column_type_, parameters, body_text(one.body));
    text_.kernel_body +=
        fmt::format("case {}: {}(Cols, ANNZ, B, ldb, C, ldc, N{}); break;\n", label, function, arguments);
  }

  const std::string& type_of(const std::string& name) const {
    static const std::string plain = "int";
    return name == "first" || name == "last" || name == "values" ? offset_type_ : plain;
  }

  std::string statement_text(const Statement& statement) const {
    if (const auto* index = std::get_if<DefineIndex>(&statement.action)) {
      const std::string value = expression_text(index->value);
      const bool narrows = index->name == "count" && offset_type_ != "int";
      return fmt::format("const {} {} = {};\n", type_of(index->name), index->name,
                         narrows ? fmt::format("static_cast<int>({})", value) : value);
    }
    const std::string guard = print(statement.guard);
    if (const auto* element = std::get_if<DefineElement>(&statement.action)) {
      const std::string value = operand_text(element->value);
      return is_sum(*element) ? fmt::format("float {} = {};\n", element->name, value)
             : guard.empty()  ? fmt::format("const float {} = {};\n", element->name, value)
                              : fmt::format("const float {} = {} ? {} : 0.0f;\n", element->name, guard, value);
    }
    const auto& update = std::get<Update>(statement.action);
    std::string product;
    for (const Operand& factor : update.factors) {
      product += (product.empty() ? "" : " * ") + operand_text(factor);
    }
    const std::string target = operand_text(update.target);
    const std::string add = update.atomic ? fmt::format("atomicAdd(&{}, {});\n", target, product)
                                          : fmt::format("{} += {};\n", target, product);
    return guard.empty() ? add : fmt::format("if ({}) {{\n{}}}\n", guard, add);
  }

  /// Scalars that start at a constant are sums; the others are loads.
  static bool is_sum(const DefineElement& element) { return std::holds_alternative<double>(element.value); }

  enum class Passage { row_offsets, sums, columns, loads, products, adds, other };

  static Passage passage_of(const Statement& statement) {
    if (const auto* index = std::get_if<DefineIndex>(&statement.action)) {
      if (std::holds_alternative<LowestSetBit>(index->value) || std::holds_alternative<ClearLowestSetBit>(index->value)) {
        return Passage::row_offsets;
      }
      return std::holds_alternative<Access>(index->value) ? Passage::columns : Passage::other;
    }
    if (const auto* element = std::get_if<DefineElement>(&statement.action)) {
      return is_sum(*element) ? Passage::sums : Passage::loads;
    }
    return std::get<Update>(statement.action).atomic ? Passage::adds : Passage::products;
  }

  static const char* comment_on(Passage passage) {
    switch (passage) {
      case Passage::row_offsets:
        return "// The rows of the panel that the pattern names.\n";
      case Passage::sums:
        return "// What this thread adds up: c<r>_<w> is for row r and column j + 32 * w.\n";
      case Passage::adds:
        return "// Other lists of the panel add to the same rows of C.\n";
      case Passage::columns:
      case Passage::loads:
      case Passage::products:
      case Passage::other:
        break;
    }
    return "";
  }

  std::string body_text(const Block& block) const {
    std::string text;
    Passage last = Passage::other;
    for (const Node& node : block) {
      if (const auto* loop = std::get_if<Loop>(&node.content)) {
        text += loop_text(*loop);
        last = Passage::other;
        continue;
      }
      const auto& statement = std::get<Statement>(node.content);
      const Passage passage = passage_of(statement);
      if (passage != last) {
        text += comment_on(passage);
        last = passage;
      }
      text += statement_text(statement);
    }
    return text;
  }

  std::string loop_text(const Loop& loop) const {
    std::string unrolling;
    std::string comment;
    if (loop.role == Role::reduction) {
      unrolling = "#pragma unroll 1\n";  // the schedule says how far to unroll, not the compiler
      comment = loop.step > 1            ? fmt::format("// {} enumerated columns.\n", loop.step)
                : loop.lower == Affine() ? "// An enumerated column.\n"
                                         : "// A column that is left.\n";
    }
    // Columns are counted unsigned, because the last step may lead past 2^31.
    const char* type = loop.role == Role::column ? "unsigned int" : "int";
    return fmt::format("{0}for ({1} {2} = {3}; {2} < {4}; {2} += {5}) {{\n{6}{7}}}\n", unrolling, type, loop.iterator,
                       print(loop.lower), print(loop.upper), loop.step, comment, body_text(loop.body));
  }

  std::string offset_type_;
  std::string column_type_;
  CudaText text_;
};

}  // namespace

CudaText print_cuda(const LoopNest& nest, const std::string& offset_type, const std::string& column_type) {
  return CudaPrinter(offset_type, column_type).print_nest(nest);
}

}  // namespace esc
