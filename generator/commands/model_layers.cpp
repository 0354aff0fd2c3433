// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/model_layers.h"

#include <algorithm>
#include <mutex>

#include "generator/commands/layer_maker.h"
#include "generator/commands/layer_memory.h"
#include "generator/commands/layer_worth.h"
#include "generator/commands/model_nests.h"
#include "generator/commands/turns.h"
#include "generator/commands/worker_threads.h"
#include "generator/ir/print_function.h"
#include "generator/ir/product_digits.h"
#include "generator/lower/canonicalize.h"
#include "generator/matrix/block_diagonal.h"
#include "generator/model/layer_file.h"
#include "generator/model/survey.h"
#include "generator/verify/verify.h"

namespace esc {
namespace {

class ModelRun {
 public:
  ModelRun(const Model& model, const ModelRequest& request, const GenerateMode& mode, const ScratchFile& file,
           const std::optional<ModelBundle>& on_disk, const Console& console)
      : request_(request),
        mode_(mode),
        file_(file),
        on_disk_(on_disk),
        kinds_(mode, console),
        maker_(request, mode, on_disk, kinds_, console),
        weights_(asked_for(model, request)),
        progress_(console.terminal()),
        nests_(request.layer),
        memory_(weights_.size()),
        tuning_turns_(weights_.size()),
        turns_(weights_.size()) {
    for (const LayerException& exception : request.exceptions) {
      if (std::ranges::none_of(weights_, [&](const Weight* weight) { return is_meant(weight->name, exception); })) {
        throw UserError(request.layer.matrix,
                        fmt::format("has no tensor like {}, for which there is an exception", exception.tensor),
                        "see escgen inspect MODEL, or leave the exception out");
      }
    }
    result_.rows.resize(weights_.size());
    result_.packed_bytes = transformer::header_bytes;
  }

  ModelLayers run() {
    progress_.begin("generating the layers", weights_.size());
    in_worker_threads(weights_.size(), request_.jobs, [this](std::size_t number) { work(number); });
    progress_.finish();
    result_.tunings = kinds_.records();
    return std::move(result_);
  }

 private:
  static std::vector<const Weight*> asked_for(const Model& model, const ModelRequest& request) {
    std::vector<const Weight*> weights;
    for (const Weight& weight : model.weights) {
      if (is_asked_for(weight.name, request)) {
        weights.push_back(&weight);
      }
    }
    return weights;
  }

  void work(std::size_t number) {
    Turns::Turn tuning_turn(tuning_turns_, number);
    Turns::Turn turn(turns_, number);
    LayerMemory::Layer memory(memory_, number);
    ModelRow row{.name = weights_[number]->name, .shape = shape_text(weights_[number]->shape)};
    std::optional<MadeLayer> made;
    try {
      made = make(number, row, memory, tuning_turn);
      require_same(row, made);
    } catch (const DifferentBundle&) {
      throw;  // which ends the run
    } catch (const UserError& problem) {
      fail(row, problem);
    }
    tuning_turn.end();
    turn.wait();
    commit(number, std::move(row), made);
    turn.end();
    write_packings(made);
    finish_kernels(made);
    progress_.advance(1);
  }

  /// Where the bundle on disk is not replaced, a tensor of which it says something else ends the run.
  void require_same(const ModelRow& row, const std::optional<MadeLayer>& made) const {
    if (!on_disk_ || !mode_.keeps_bundles()) {
      return;
    }
    const auto layer = std::ranges::find(on_disk_->layers, row.name, &ModelLayer::name);
    const auto left_out = on_disk_->left_out.find(row.name);
    const bool is_same = made ? layer != on_disk_->layers.end() && layer->variants.size() == made->layer.variants.size()
                              : left_out != on_disk_->left_out.end() && left_out->second == row.reason;
    if (!is_same) {
      throw DifferentBundle(std::filesystem::path(mode_.output) / request_.name);
    }
  }

  static void fail(ModelRow& row, const UserError& problem) {
    row.outcome = ModelRow::Outcome::failed;
    row.reason = problem.rule() + (problem.remedy().empty() ? "" : "; " + problem.remedy());
    row.status = problem.status();
  }

  /// The layer; none where the row says why there is none.
  std::optional<MadeLayer> make(std::size_t number, ModelRow& row, LayerMemory::Layer& memory, Turns::Turn& turn) {
    const Weight& weight = *weights_[number];
    row.reason = why_no_layer(weight, request_);
    if (!row.reason.empty()) {
      return std::nullopt;
    }
    const WeightSurvey survey = survey_weight(weight);
    const LoopNest& nest = nests_.of(weight);
    row.sparsity = sparsity_of(weight, survey);
    row.dense_bytes = dense_bytes(weight, nest);
    row.reason = why_not_sparse(survey, row.sparsity, request_);
    if (!row.reason.empty()) {
      return std::nullopt;
    }
    memory.reserve(survey.nonzeros);
    LayerRequest layer = request_.layer;
    layer.matrix += ":" + weight.name;
    const LayerException* const exception = exception_for(weight.name, request_);
    if (exception != nullptr && !exception->schedule.empty()) {
      layer.schedule = exception->schedule;
    }
    const bool has_own_columns = exception != nullptr && !exception->bcols.empty();
    MadeLayer made = maker_.make(layer, has_own_columns ? exception->bcols : columns_in(request_.token_counts), weight,
                                 survey, nest, turn);
    if (!made.why_dense.empty()) {
      row.reason = made.why_dense;
      return std::nullopt;
    }
    row.outcome = ModelRow::Outcome::made;
    row.kernels = made.kernels.size();
    row.kept = made.kept();
    return made;
  }

  /// In the order of the layers, so that the file is the same however long each takes.
  void commit(std::size_t number, ModelRow row, std::optional<MadeLayer>& made) {
    const std::lock_guard lock(mutex_);
    std::uint64_t offset = result_.packed_bytes;
    if (made) {
      for (const PackedMatrix& packing : made->packings) {
        made->layer.packings.push_back(entry_of(made->layer, packing.span(), offset));
        offset = transformer::round_up(offset + packing.size, transformer::section_alignment);
      }
      for (std::size_t at = 0; at < made->kernels.size(); ++at) {
        if (result_.kernels.emplace(made->kernels[at].name, ModelKernel{}).second) {
          made->own.push_back(at);
        }
      }
      if (result_.loop_nest.empty()) {
        result_.loop_nest = print_function(*made->nest);
        result_.nest = *made->nest;
        result_.layout = layout_of(canonicalize(*made->nest));
        result_.dtype = name_of(made->nest->element());
      }
      row.layer = made->layer;
    }
    result_.rows[number] = std::move(row);
    result_.packed_bytes = offset;
  }

  /// Where they were given their places.
  void write_packings(const std::optional<MadeLayer>& made) const {
    if (made) {
      for (std::size_t at = 0; at < made->packings.size(); ++at) {
        file_.write(made->packings[at].span(), made->layer.packings[at].offset);
      }
    }
  }

  /// Lays out the kernels that the layer is the first to have, and verifies them with it.
  void finish_kernels(std::optional<MadeLayer>& made) {
    if (!made) {
      return;
    }
    for (const std::size_t at : made->own) {
      MadeLayer::Kernel& kernel = made->kernels[at];
      const std::string text = maker_.kernel_text(kernel);
      std::optional<VerificationRecord> record =
          on_disk_ && mode_.verify ? on_disk_->verification_of(kernel.name, text, made->layer) : std::nullopt;
      std::string problem;
      if (!record && mode_.verify && !mode_.check && !mode_.dry_run) {
        if (on_disk_ && mode_.keeps_bundles()) {
          throw DifferentBundle(std::filesystem::path(mode_.output) / request_.name);
        }
        const VerificationReport report = maker_.verify(*made, kernel, text);
        if (report.passed()) {
          record = report.record(made->matrix->rows);
        } else {
          problem = fmt::format("{}, with {}:\n{}", kernel.name, made->layer.name, print(report));
        }
      }
      const std::lock_guard lock(mutex_);
      ModelKernel& result = result_.kernels.at(kernel.name);
      result = {.text = text,
                .schedule = schedule_of(made->layer, kernel.name),
                .verified_with = record ? made->layer.name : "",
                .verification = record};
      if (!problem.empty()) {
        result_.problems.push_back(problem);
      }
    }
  }

  static const std::string& schedule_of(const ModelLayer& layer, const std::string& kernel) {
    return std::ranges::find(layer.variants, kernel, &ModelVariant::kernel)->schedule;
  }

  const ModelRequest& request_;
  const GenerateMode& mode_;
  const ScratchFile& file_;
  const std::optional<ModelBundle>& on_disk_;
  TunedKinds kinds_;
  LayerMaker maker_;
  std::vector<const Weight*> weights_;
  StageProgress progress_;
  ModelNests nests_;
  LayerMemory memory_;
  Turns tuning_turns_;
  Turns turns_;
  std::mutex mutex_;  ///< guards what follows
  ModelLayers result_;
};

}  // namespace

ModelLayers make_model_layers(const Model& model, const ModelRequest& request, const GenerateMode& mode,
                              const ScratchFile& file, const std::optional<ModelBundle>& on_disk,
                              const Console& console) {
  return ModelRun(model, request, mode, file, on_disk, console).run();
}

}  // namespace esc
