// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/emit/dispatch.h"
#include "generator/frontend/format_source.h"
#include "generator/ir/print_function.h"
#include "generator/ir/product_digits.h"
#include "generator/matrix/block_diagonal.h"

namespace esc {
namespace {

/// Which of the packed matrices it is; a new one is kept.
std::size_t packing_of(MadeLayer& made, PackedMatrix packed) {
  const auto same = std::ranges::find_if(made.packings, [&](const PackedMatrix& kept) {
    return kept.bytes == packed.bytes || std::ranges::equal(kept.span(), packed.span());
  });
  if (same == made.packings.end()) {
    made.packings.push_back(std::move(packed));
    return made.packings.size() - 1;
  }
  return static_cast<std::size_t>(same - made.packings.begin());
}

void describe(ModelLayer& layer, std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
              const Fingerprint& fingerprint) {
  layer.rows = rows;
  layer.columns = columns;
  layer.nonzeros = nonzeros;
  layer.fingerprint = fingerprint;
}

/// A kernel of the layer that an earlier run has made of the same.
ModelVariant add_kept(MadeLayer& made, KeptLayers::Kept kept, const LayerRequest& request) {
  describe(made.layer, kept.layer.rows, kept.layer.columns, kept.layer.nonzeros, kept.layer.fingerprint);
  kept.variant.packing = packing_of(made, std::move(kept.packed));
  made.kernels.push_back({kept.variant.kernel, request, kept.variant.packing, std::nullopt});
  return kept.variant;
}

/// Whether GPUs of the next capability get what those of the last one have, which then are made of that, too.
bool is_like_last(std::vector<ModelVariant>& all, const std::vector<ModelVariant>& next) {
  const auto is_same = [](const ModelVariant& a, const ModelVariant& b) {
    return a.bcol == b.bcol && a.kernel == b.kernel && a.numbers == b.numbers && a.packing == b.packing;
  };
  if (all.size() < next.size() ||
      !std::equal(next.begin(), next.end(), all.end() - static_cast<std::ptrdiff_t>(next.size()), is_same)) {
    return false;
  }
  for (std::size_t at = 0; at < next.size(); ++at) {
    ModelVariant& same = all[all.size() - next.size() + at];
    same.made_of.insert(same.made_of.end(), next[at].made_of.begin(), next[at].made_of.end());
  }
  return true;
}

}  // namespace

LayerMaker::LayerMaker(const ModelRequest& request, const GenerateMode& mode, const std::optional<ModelBundle>& on_disk,
                       TunedKinds& kinds, const Console& console)
    : request_(request),
      mode_(mode),
      console_(console),
      kinds_(kinds),
      place_(std::filesystem::path(mode.output) / request.name),
      kept_(on_disk && !mode.check && !mode.tuner ? &*on_disk : nullptr, place_),
      must_be_kept_(on_disk && mode.keeps_bundles() && !mode.tuner),
      groups_(groups_of(request.layer.devices, console)) {}

/// One for each compute capability that is named; of several GPUs of one the first.
std::vector<LayerMaker::TargetGroup> LayerMaker::groups_of(const std::vector<TargetDevice>& devices,
                                                           const Console& console) {
  if (devices.empty()) {
    return {{std::ranges::min(default_architectures()), {}}};
  }
  std::vector<TargetGroup> groups;
  for (const TargetDevice& device : devices) {
    const int capability = std::ranges::min(architectures_of({device}));
    if (std::ranges::find(groups, capability, &TargetGroup::capability) == groups.end()) {
      groups.push_back({capability, {device}});
    } else {
      console.say(
          fmt::format("{} has the compute capability of one named before it, whose schedules it gets", device.name));
    }
  }
  std::ranges::sort(groups, {}, &TargetGroup::capability);
  return groups;
}

MadeLayer LayerMaker::make(const LayerRequest& layer, const std::vector<std::int64_t>& bcols, const Weight& weight,
                           const WeightSurvey& survey, const LoopNest& nest, Turns::Turn& turn) const {
  MadeLayer made{.layer = {}, .nest = &nest};
  made.layer.name = layer.matrix.substr(request_.layer.matrix.size() + 1);
  std::vector<Wanted> all = wanted(made, layer, bcols, weight, survey);
  std::vector<PlannedKernel> plans;
  std::ranges::transform(all, std::back_inserter(plans), &Wanted::plan);
  made.why_dense = why_dense(made.layer.name, dense_bytes(weight, nest), plans, request_);
  if (!made.why_dense.empty()) {
    return made;
  }
  if (must_be_kept_ && !kept_.has(made.layer.name)) {
    throw DifferentBundle(place_);  // which leaves it dense
  }
  if (is_tuned(layer, mode_)) {
    tune(made, all, turn);
  }
  std::vector<ModelVariant> variants;
  for (Wanted& one : all) {
    variants.push_back(one.kept ? add_kept(made, *std::move(one.kept), one.request) : add_generated(made, one.request));
    ModelVariant& variant = variants.back();
    variant.capability = one.capability;
    variant.planned_bytes = static_cast<std::uint64_t>(std::llround(one.plan.bytes));
    variant.beside_dense = one.plan.beside_dense;
    variant.made_of = {
        seal_of(one.inputs, made.layer, variant, entry_of(made.layer, made.packings[variant.packing].span(), 0))};
    if (variants.size() == bcols.size()) {  // all of a capability
      if (!is_like_last(made.layer.variants, variants)) {
        std::ranges::move(variants, std::back_inserter(made.layer.variants));
      }
      variants.clear();
    }
  }
  return made;
}

std::vector<LayerMaker::Wanted> LayerMaker::wanted(MadeLayer& made, const LayerRequest& layer,
                                                   const std::vector<std::int64_t>& bcols, const Weight& weight,
                                                   const WeightSurvey& survey) const {
  const std::string nest_text =
      fmt::format("{}{}\n", print_function(*made.nest), name_of(made.nest->element()));  // of which C does not say all
  const auto rows = std::make_shared<PackingCache>();
  std::vector<Wanted> all;
  std::vector<TokenCount> counts;
  std::ranges::transform(bcols, std::back_inserter(counts), [&](std::int64_t bcol) {
    return TokenCount{bcol, weight_of(bcol, request_.token_counts).value_or(1)};
  });
  for (const TargetGroup& group : groups_) {
    LayerRequest of_group = layer;
    of_group.devices = group.devices;
    of_group = with_one_form(of_group, counts, mode_,
                             {weight.rows(), weight.columns(), survey.nonzeros,
                              survey.sparse24 && weight.columns() % 4 == 0},  // of groups, too
                             *made.nest);
    for (const auto& [bcol, times] : counts) {
      Wanted one{.request = of_group, .capability = group.capability, .inputs = {}, .kept = {}};
      one.request.bcol = bcol;
      one.inputs = inputs_of(one.request, request_, mode_, survey, nest_text);
      one.kept = kept_.find(made.layer.name, bcol, one.inputs);
      if (!one.kept && must_be_kept_ && kept_.has(made.layer.name) &&
          (request_.packed || !kept_.is_made_of(made.layer.name, bcol, one.inputs))) {
        throw DifferentBundle(place_);
      }
      one.plan = plan(made, one, rows);
      one.plan.weight = times;
      all.push_back(std::move(one));
    }
  }
  return all;
}

/// What an earlier run has planned, or what is planned now with some rows, whose fragments are kept on the shelf.
PlannedKernel LayerMaker::plan(MadeLayer& made, const Wanted& wanted, const std::shared_ptr<PackingCache>& rows) const {
  if (wanted.kept && wanted.kept->variant.planned_bytes > 0) {
    const ModelVariant& variant = wanted.kept->variant;
    return {variant.bcol, static_cast<double>(variant.planned_bytes), variant.measured, variant.beside_dense};
  }
  const PlannedLayer planned = plan_layer(wanted.request, mode_, *made.nest, matrix_of(made, wanted.request), rows);
  return {wanted.request.bcol, std::round(planned.bytes), planned.choice.measured, planned.choice.beside_dense};
}

/// One layer after the other, in the order of the model, so that each kind is measured with its first one.
void LayerMaker::tune(MadeLayer& made, std::vector<Wanted>& all, Turns::Turn& turn) const {
  turn.wait();
  std::vector<LayerRequest> requests;
  std::ranges::transform(all, std::back_inserter(requests), &Wanted::request);
  requests = kinds_.tuned(std::move(requests), *made.nest, matrix_of(made, requests.front()), made.fragments);
  for (std::size_t at = 0; at < all.size(); ++at) {
    all[at].request = std::move(requests[at]);
  }
  turn.end();
}

ModelVariant LayerMaker::add_generated(MadeLayer& made, const LayerRequest& request) const {
  GeneratedLayer generated = generate(made, request);
  const std::size_t packing = packing_of(made, {generated.packed, generated.bytes().size()});
  const Layer& layer = generated.layer;
  describe(made.layer, layer.statistics.rows, layer.statistics.columns, layer.statistics.nonzeros, layer.fingerprint);
  SharedKernel shared = shared_kernel(layer, request_.name);
  ModelVariant variant{.bcol = layer.bcol,
                       .capability = 0,
                       .kernel = shared.name,
                       .numbers = shared.numbers,
                       .packing = packing,
                       .schedule = text_of(layer.choice),
                       .schedule_source = layer.choice.source,
                       .measured = layer.choice.measured,
                       .not_measured = layer.choice.not_measured,
                       .notes = layer.choice.notes};
  made.kernels.push_back({shared.name, request, packing, MadeLayer::Generated{std::move(shared), layer}});
  return variant;
}

/// The layer by one kernel.
GeneratedLayer LayerMaker::generate(MadeLayer& made, const LayerRequest& request) const {
  const SparseMatrix& matrix = matrix_of(made, request);
  return make_layer(request, mode_, *made.nest, matrix, made.fragments, console_);
}

/// The layer's matrix, which is read where nobody has read it.
const SparseMatrix& LayerMaker::matrix_of(MadeLayer& made, const LayerRequest& request) const {
  if (!made.matrix) {
    StoredMatrix stored = read_stored_matrix(request, *made.nest, console_, StageProgress::silent());
    made.matrix = block_diagonal(std::move(stored.matrix), digits_of(*made.nest));
  }
  return *made.matrix;
}

std::string LayerMaker::kernel_text(const MadeLayer::Kernel& kernel) const {
  return kernel.generated ? format_source(kernel.generated->shared.text, kernel.name + ".cu")
                          : kept_.text_of(kernel.name);
}

VerificationReport LayerMaker::verify(MadeLayer& made, MadeLayer::Kernel& kernel, const std::string& text) const {
  if (!kernel.generated) {
    GeneratedLayer again = generate(made, kernel.request);
    SharedKernel shared = shared_kernel(again.layer, request_.name);
    kernel.generated = MadeLayer::Generated{std::move(shared), std::move(again.layer)};
  }
  const auto& [shared, layer] = *kernel.generated;
  const BundleUnderTest under_test{layer.name,
                                   layer.input,
                                   dispatch_of(layer),
                                   as_layer_text(text, layer, shared),
                                   {},
                                   made.packings[kernel.packing].span()};
  return verify_by_emulation(under_test, *made.matrix, sample_effort);
}

}  // namespace esc
