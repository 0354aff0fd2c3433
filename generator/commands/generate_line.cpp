// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/generate_line.h"

#include <fmt/format.h>

#include <utility>

#include "generator/commands/input.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// What does not go with measuring.
void refuse_unusable_tuning(const GenerateLine& line) {
  if (line.tune.empty()) {
    for (const auto& [option, journal] :
         {std::pair("--replay ", line.journals.replay), std::pair("--journal ", line.journals.output)}) {
      if (!journal.empty()) {
        throw UserError(option + journal, "is of no use without --tune quick", "leave it out, or tune");
      }
    }
    return;
  }
  refuse_where_named("--tune", line.tune, line.layer.schedule);
  const std::string option = "--tune " + line.tune;
  if (!line.mode.compaction) {
    throw UserError(option, "is of no use with --no-compaction", "leave one of the two out");
  }
  if (line.mode.check && line.journals.replay.empty()) {
    throw UserError(option, "measures, and no two measurements are the same: there is nothing to check against",
                    "give the schedule of the manifest with --schedule, or the journal with --replay");
  }
}

}  // namespace

void refuse_where_named(const std::string& option, const std::string& value, const std::string& schedule) {
  if (!value.empty() && schedule != "auto") {
    throw UserError(option + " " + value, "is of no use where --schedule names one", "leave one of the two out");
  }
}

void refuse_unusable(const GenerateLine& line) {
  if (line.spec.empty() == line.layer.matrix.empty()) {
    throw UserError("generate", line.spec.empty() ? "needs a matrix" : "takes a matrix or --spec, not both",
                    "write: escgen generate MATRIX --bcol N -o DIR");
  }
  if (line.spec.empty() && line.bcols.empty()) {
    throw UserError("generate", "needs --bcol", "give the number of columns of B that the kernel is made for");
  }
  if (line.name) {
    check_name(*line.name);
  }
  if (line.dtype) {
    static_cast<void>(parse_element(*line.dtype));  // before a spec is read
  }
  refuse_where_named("--database", line.database, line.layer.schedule);
  refuse_unusable_tuning(line);
  if (!line.database.empty() && !line.mode.compaction) {
    throw UserError("--database " + line.database, "is of no use with --no-compaction", "leave one of the two out");
  }
  if (line.min_sparsity && !(*line.min_sparsity >= 0 && *line.min_sparsity <= 1)) {
    throw UserError(fmt::format("--min-sparsity {}", *line.min_sparsity), "is outside 0 to 1",
                    "give the share of zeros, such as 0.7 for 70 %");
  }
}

void refuse_for_model(const GenerateLine& line, const std::string& model) {
  const auto refuse = [&](const std::string& option, const std::string& why) {
    throw UserError(option, "is not for a model: " + why, "leave it out, or name one layer: " + model + ":TENSOR");
  };
  if (!line.nest.file.empty()) {
    refuse("--kernel", "its layers have the shipped product");
  }
  if (line.mode.resources) {
    refuse("--resources", "nvcc is asked for the kernels of one layer");
  }
}

void refuse_for_layers(const GenerateLine& line) {
  const auto refuse = [](const std::string& option) {
    throw UserError(option, "is for models of several matrices", "leave it out");
  };
  if (!line.tensors.empty()) {
    refuse("--tensor " + line.tensors.front());
  }
  if (line.jobs != 0) {
    refuse(fmt::format("--jobs {}", line.jobs));
  }
  if (!line.packed) {
    refuse("--no-packed");
  }
  if (line.all) {
    refuse("--all");
  }
}

}  // namespace esc
