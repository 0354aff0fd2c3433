#include "generator/lower/place_epilogue.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"

namespace esc {
namespace {

/// The epilogue at one element of C, whose sum stands in a register.
Block finish(const Epilogue& epilogue, ScalarType type, const Access& element, const Access& sum) {
  const Rewrite placed{.affine = [&](const Affine& affine) {
    return affine.substitute(epilogue.row, element.subscripts.at(0).affine)
        .substitute(epilogue.column, element.subscripts.at(1).affine);
  }};
  Block result{define(epilogue.sum, sum, type)};
  for (const Define& step : epilogue.steps) {
    result.push_back(define(step.name, rewrite(step.value, placed), step.type));
  }
  result.push_back(statement(Store{sum, rewrite(epilogue.value, placed)}));
  return result;
}

/// The access `further` elements behind.
Access behind(Access access, const Affine& further) {
  access.subscripts.back().affine = access.subscripts.back().affine + further;
  return access;
}

/// The consecutive sums that a store takes, each finished as far as there are columns.
Node finish_all(const LoopNest& nest, const Guard& guard, const Perform& store) {
  const Access element = behind(*store.arguments.at(0).access(), Affine::of("w"));
  const Access sum = behind(*store.arguments.at(1).access(), Affine::of("w"));
  Guard inside = guard;
  inside.push_back(less(element.subscripts.back().affine, index("N")));
  Branch branch{all_of(std::move(inside)), finish(*nest.epilogue, nest.element(), element, sum), {}};
  return Node{mapped_loop(Mapping::unrolled, "w", *store.arguments.at(2).affine(), Role::column, {Node{std::move(branch)}})};
}

bool is_of_output(const LoopNest& nest, const Access* access) {
  return access != nullptr && access->array == nest.array(ArrayRole::output).name;
}

/// Stores of sums, with the epilogue in front.
class Placing {
 public:
  Placing(const LoopNest& nest, const PlaceEpilogue& directive) : nest_(nest), directive_(directive) {}

  Block operator()(Statement statement) {
    if (const auto* update = std::get_if<Update>(&statement.action)) {
      refuse_if(is_of_output(nest_, update->target.access()), directive_, added_up, own_rows);
    }
    auto* perform = std::get_if<Perform>(&statement.action);
    if (perform == nullptr || perform->arguments.empty() || !is_of_output(nest_, perform->arguments.front().access())) {
      return {Node{std::move(statement)}};
    }
    refuse_if(perform->instruction == "add_columns", directive_, added_up, own_rows);
    if (perform->instruction == "deliver") {
      // What others have a part of is added to; now nobody has.
      *perform = {"store_columns", {perform->arguments.begin(), perform->arguments.end() - 1}};
      takes_whole_rows_ = true;
    }
    ESC_CHECK(perform->instruction == "store_columns", "sums are stored by one instruction");
    ++placed_;
    Block block{finish_all(nest_, statement.guard, *perform)};
    block.push_back(Node{std::move(statement)});
    return block;
  }

  int placed() const { return placed_; }
  bool takes_whole_rows() const { return takes_whole_rows_; }

 private:
  static constexpr const char* added_up = "parts of a sum are added up in C: nobody has the whole of it";
  static constexpr const char* own_rows =
      "choose a schedule whose threads own their rows, of family panel or rows: accumulate() and shuffle() the sums";

  const LoopNest& nest_;
  const PlaceEpilogue& directive_;
  int placed_ = 0;
  bool takes_whole_rows_ = false;
};

}  // namespace

LoopNest place_epilogue(const LoopNest& nest, const PlaceEpilogue& directive) {
  refuse_if(!nest.epilogue, directive, "the nest does nothing with its sums but store them, or it is placed already",
            "leave epilogue() out");
  Placing placing(nest, directive);
  LoopNest result = nest;
  result.body = rewrite(nest.body, {.statement = [&](const Statement& statement) { return placing(statement); }});
  refuse_if(placing.placed() == 0, directive, "the sums are not stored in vectors yet",
            "vectorize the columns of C first: vectorize(j)");
  result.epilogue.reset();
  if (placing.takes_whole_rows()) {
    result.whole_rows = true;
    result.before.clear();
  }
  result.story.emplace_back("What becomes of a sum, the epilogue, is computed in registers where the sum is complete, right before it is stored.");
  return result;
}

}  // namespace esc
