#include "generator/emit/dispatch.h"

#include "generator/ir/evaluate.h"

namespace esc {

Dispatch dispatch_of(const LoopNest& lowered, std::int64_t bcol) {
  Dispatch dispatch{.tuned_columns = bcol, .programmatic = lowered.overlaps};
  if (lowered.vectors) {
    dispatch.has_vectors = true;
    const Environment constants = constants_of(lowered);
    dispatch.vector_width = constants.at("vector_width");
    dispatch.tile_columns = constants.at("tile_columns");
  }
  return dispatch;
}

}  // namespace esc
