// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/model_layers.h"

#include <fnmatch.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>

#include "generator/commands/layer_maker.h"
#include "generator/commands/layer_memory.h"
#include "generator/commands/loop_nest_input.h"
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

/// A tensor that is looked up row by row is multiplied with nothing.
bool is_embedding(const std::string& name) {
  static const std::set<std::string, std::less<>> names{"embed_tokens", "embed_positions", "wte",  "wpe",
                                                        "word_embeddings", "position_embeddings", "token_type_embeddings", "tok_embeddings"};
  std::size_t begin = 0;
  for (std::size_t end = 0; end != name.npos; begin = end + 1) {
    end = name.find('.', begin);
    if (names.contains(name.substr(begin, end == name.npos ? end : end - begin))) {
      return true;
    }
  }
  return false;
}

bool is_like(const std::string& name, const std::string& pattern) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

class ModelRun {
 public:
  ModelRun(const Model& model, const ModelRequest& request, const GenerateMode& mode, const ScratchFile& file,
           const std::optional<ModelBundle>& on_disk, const Console& console)
      : request_(request),
        mode_(mode),
        file_(file),
        on_disk_(on_disk),
        maker_(request, mode, on_disk, console),
        progress_(console.terminal()) {
    for (const Weight& weight : model.weights) {
      if (is_asked_for(weight.name)) {
        weights_.push_back(&weight);
      }
    }
    for (const LayerException& exception : request.exceptions) {
      if (std::ranges::none_of(weights_,
                               [&](const Weight* weight) { return is_like(weight->name, exception.tensor); })) {
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
    return std::move(result_);
  }

 private:
  bool is_asked_for(const std::string& name) const {
    return request_.tensors.empty() ||
           std::ranges::any_of(request_.tensors, [&](const std::string& pattern) { return is_like(name, pattern); });
  }

  /// What holds for this layer alone; null where nothing does.
  const LayerException* exception_for(const std::string& name) const {
    const auto found =
        std::ranges::find_if(request_.exceptions, [&](const LayerException& one) { return is_like(name, one.tensor); });
    return found == request_.exceptions.end() ? nullptr : &*found;
  }

  void work(std::size_t number) {
    LayerMemory::Layer memory(memory_, number);
    ModelRow row{.name = weights_[number]->name, .shape = shape_text(weights_[number]->shape)};
    std::optional<MadeLayer> made;
    std::exception_ptr defect;
    try {
      made = make(number, row, memory);
    } catch (const UserError& problem) {
      fail(row, problem);
    } catch (...) {
      defect = std::current_exception();
    }
    commit(number, std::move(row), made);  // in any case: others wait for it
    if (defect) {
      std::rethrow_exception(defect);
    }
    finish_kernels(made);
    progress_.advance(1);
  }

  static void fail(ModelRow& row, const UserError& problem) {
    row.outcome = ModelRow::Outcome::failed;
    row.reason = problem.rule() + (problem.remedy().empty() ? "" : "; " + problem.remedy());
    row.status = problem.status();
  }

  const LoopNest& nest_of(const Weight& weight) {
    const std::vector<std::int64_t> sizes = weight.shape.size() == 4 ? weight.shape : std::vector<std::int64_t>();
    const std::lock_guard lock(nest_mutex_);
    const auto found = nests_.find(sizes);
    if (found != nests_.end()) {
      return found->second;
    }
    NestSource source = request_.layer.nest;
    source.sizes.weights = sizes;
    return nests_.emplace(sizes, read_loop_nest(source, request_.layer.element)).first->second;
  }

  /// The layer; none where the row says why there is none.
  std::optional<MadeLayer> make(std::size_t number, ModelRow& row, LayerMemory::Layer& memory) {
    const Weight& weight = *weights_[number];
    row.reason = why_no_matrix(weight);
    if (row.reason.empty() && is_embedding(weight.name) && request_.tensors.empty()) {
      row.reason = "is an embedding, of which rows are looked up; name it with --tensor to have a kernel of it";
    }
    const LayerException* const exception = exception_for(weight.name);
    if (row.reason.empty() && exception != nullptr && exception->skip) {
      row.reason = "is left out by the spec";
    }
    if (!row.reason.empty()) {
      return std::nullopt;
    }
    const WeightSurvey survey = survey_weight(weight);
    row.sparsity = 1 - static_cast<double>(survey.nonzeros) / static_cast<double>(weight.rows()) / static_cast<double>(weight.columns());
    const double least = request_.layer.min_sparsity.value_or(model_min_sparsity);
    if (row.sparsity < least) {
      row.reason = fmt::format("has {:.1f} % zeros, less than {:.1f} %", 100 * row.sparsity, 100 * least);
    } else if (survey.nonzeros == 0) {
      row.reason = "has no non-zeros: C is zero";
    }
    if (!row.reason.empty()) {
      return std::nullopt;
    }
    memory.reserve(survey.nonzeros);
    LayerRequest layer = request_.layer;
    layer.matrix += ":" + weight.name;
    if (exception != nullptr && !exception->schedule.empty()) {
      layer.schedule = exception->schedule;
    }
    const bool has_own_columns = exception != nullptr && !exception->bcols.empty();
    MadeLayer made = maker_.make(layer, has_own_columns ? exception->bcols : request_.bcols, survey, nest_of(weight));
    row.outcome = ModelRow::Outcome::made;
    row.kernels = made.kernels.size();
    row.kept = made.kept();
    return made;
  }

  /// In the order of the layers, so that the file is the same however long each takes.
  void commit(std::size_t number, ModelRow row, std::optional<MadeLayer>& made) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return committed_ == number; });
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
    ++committed_;
    changed_.notify_all();
    lock.unlock();
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
  LayerMaker maker_;
  std::vector<const Weight*> weights_;
  StageProgress progress_;
  LayerMemory memory_;
  std::mutex nest_mutex_;
  std::map<std::vector<std::int64_t>, LoopNest> nests_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable changed_;
  std::size_t committed_ = 0;
  ModelLayers result_;
};

}  // namespace

ModelLayers make_model_layers(const Model& model, const ModelRequest& request, const GenerateMode& mode, const ScratchFile& file,
                              const std::optional<ModelBundle>& on_disk, const Console& console) {
  return ModelRun(model, request, mode, file, on_disk, console).run();
}

}  // namespace esc
