// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/generate_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/commands/expected_speed.h"
#include "generator/commands/input.h"
#include "generator/commands/model_layers.h"
#include "generator/commands/model_table.h"
#include "generator/commands/quick_tuning.h"
#include "generator/commands/taken_place.h"
#include "generator/frontend/format_source.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/page_text.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// Whether something is left to be written when the layers are made.
bool has_layers(const ModelLayers& made) {
  return std::ranges::any_of(made.rows, [](const ModelRow& row) { return row.outcome == ModelRow::Outcome::made; });
}

ModelBundle bundle_of(const ModelLayers& made, const ModelRequest& request) {
  ModelBundle bundle{.name = request.name,
                     .source = printable_file_name(request.layer.matrix),
                     .version = tool_version,
                     .dtype = made.dtype,
                     .layout = made.layout,
                     .loop_nest = made.loop_nest,
                     .nest = made.nest,
                     .epilogue_parts = request.layer.nest.epilogue,
                     .architectures = architectures_for(request.layer),
                     .layers = {},
                     .kernels = made.kernels,
                     .tunings = made.tunings,
                     .left_out = {}};
  for (const ModelRow& row : made.rows) {
    if (row.outcome == ModelRow::Outcome::made) {
      bundle.layers.push_back(row.layer);
    } else {
      bundle.left_out[row.name] = row.reason;
    }
  }
  bundle.file_bytes = made.packed_bytes + index_of(bundle.layers).size() * sizeof(transformer::ModelEntry);
  return bundle;
}

/// The model whose bundle is on disk; none where there is none that can be read.
std::optional<ModelBundle> model_on_disk(const fs::path& folder) {
  const fs::path manifest = folder / "manifest.json";
  std::error_code ignored;
  if (!fs::is_regular_file(manifest, ignored)) {
    return std::nullopt;
  }
  try {
    return parse_model_manifest(read_bundle_file(manifest), manifest.string());
  } catch (const UserError&) {
    return std::nullopt;
  }
}

/// What was measured of kernels that are on disk, too: their names have digests of their texts. And what layers that
/// are on disk were made of: it is for those who generate again, and another build of this program has other digests of
/// the same.
void take_measurements(ModelBundle& bundle, const ModelBundle& on_disk) {
  for (ModelLayer& layer : bundle.layers) {
    const auto same = std::ranges::find(on_disk.layers, layer.name, &ModelLayer::name);
    for (std::size_t at = 0;
         same != on_disk.layers.end() && same->variants.size() == layer.variants.size() && at < layer.variants.size();
         ++at) {
      layer.variants[at].made_of = same->variants[at].made_of;
    }
  }
  for (auto& [name, kernel] : bundle.kernels) {
    if (const auto found = on_disk.kernels.find(name); found != on_disk.kernels.end()) {
      kernel.verification = found->second.verification;
      kernel.verified_with = found->second.verified_with;
    }
  }
}

/// What has become of the bundle, in a word for machines and a line for people.
struct Result {
  std::string status;
  std::string line;
  std::string differences = {};
};

Result write(const KernelBundle& bundle, const GenerateMode& mode) {
  const WriteOutcome outcome = write_bundle(bundle, mode.output, mode.force);
  const std::string word = outcome == WriteOutcome::written ? "written" : "unchanged";
  return {word, fmt::format("bundle     {} ({})", (fs::path(mode.output) / bundle.name).string(), word)};
}

Result compare(const KernelBundle& bundle, const GenerateMode& mode) {
  const std::string differences = compare_bundle(bundle, mode.output);
  return differences.empty() ? Result{"current", "check      the bundle is current"}
                             : Result{"stale", differences + "check      the bundle is stale", differences};
}

/// Bytes of the layers that were made.
struct ModelBytes {
  double dense = 0;
  std::map<std::int64_t, std::uint64_t> packed = {};  ///< of what the kernels for a number of columns read
};

ModelBytes bytes_of(const ModelLayers& made) {
  ModelBytes bytes;
  for (const ModelRow& row : made.rows) {
    bytes.dense += row.outcome == ModelRow::Outcome::made ? row.dense_bytes : 0;
    std::set<std::int64_t> bcols;
    for (const ModelVariant& variant : row.layer.variants) {
      bcols.insert(variant.bcol);
    }
    for (const std::int64_t bcol : bcols) {
      bytes.packed[bcol] += row.layer.packed_bytes(bcol);
    }
  }
  return bytes;
}

/// The file for all numbers of columns beside the dense layers, and what each number of columns reads of it.
std::string bytes_lines(const ModelLayers& made, std::uint64_t file_bytes) {
  const ModelBytes bytes = bytes_of(made);
  std::string text = labelled("bytes", bytes_text(static_cast<double>(file_bytes), bytes.dense) +
                                           (bytes.packed.size() > 1 ? ", for all N together" : ""));
  for (const auto& [bcol, packed] : bytes.packed) {
    if (bytes.packed.size() > 1) {
      text +=
          labelled("", fmt::format("N = {} alone reads {} ({:.2f} of dense)", bcol,
                                   size_text(static_cast<double>(packed)), static_cast<double>(packed) / bytes.dense));
    }
  }
  return text;
}

/// What a person asks first: what was made, how fast it is, how large, and whether it was verified.
std::string answer(const ModelLayers& made, const ModelBundle& bundle, const ModelRequest& request,
                   const GenerateMode& mode) {
  const auto count = [&](ModelRow::Outcome outcome) {
    return std::ranges::count(made.rows, outcome, &ModelRow::outcome);
  };
  const auto verified =
      std::ranges::count_if(bundle.kernels, [](const auto& kernel) { return kernel.second.verification.has_value(); });
  std::size_t kept = 0;
  std::size_t all = 0;
  for (const ModelRow& row : made.rows) {
    kept += row.kept;
    all += row.kernels;
  }
  std::string text = labelled(
      "layers", fmt::format("{} of {} {}, {} left out, {} failed; elements of {}", count(ModelRow::Outcome::made),
                            made.rows.size(), mode.check || mode.dry_run ? "made" : "written",
                            count(ModelRow::Outcome::left_out), count(ModelRow::Outcome::failed), bundle.dtype));
  text += model_speeds(made.rows, request.token_counts) + bytes_lines(made, bundle.file_bytes);
  if (!made.tunings.empty()) {
    text += labelled("tuned", fmt::format("{} products, one for each kind of layer and N, on one {}: each the fastest "
                                          "of {} candidates at most",
                                          made.tunings.size(), made.tunings.front().device_name, quick_candidates));
  }
  text += labelled("kernels", fmt::format("{} shared by them", bundle.kernels.size()));
  text += labelled("verified", verified == 0 ? (mode.verify ? "no: nothing was run" : "no: --no-verify")
                                             : fmt::format("{} of {} kernels by emulation, each with the first layer "
                                                           "that has it",
                                                           verified, bundle.kernels.size()));
  return text + (kept == 0 ? ""
                           : labelled("kept", fmt::format("{} of {} as an earlier run has made them, one for each "
                                                          "layer, N and GPU",
                                                          kept, all)));
}

void print_results(const ModelLayers& made, const ModelBundle& bundle, const Result& result,
                   const ModelRequest& request, const GenerateMode& mode, const Console& console) {
  const std::string& note = request.note;
  if (!mode.json) {
    print_plain("{}{}\n\n{}{}", answer(made, bundle, request, mode), result.line,
                model_table(made.rows, console.verbosity() == Verbosity::verbose),
                note.empty() ? "" : labelled("note", note));
    return;
  }
  const ModelBytes bytes = bytes_of(made);
  nlohmann::json by_bcol = nlohmann::json::object();
  for (const auto& [bcol, packed] : bytes.packed) {
    by_bcol[std::to_string(bcol)] = packed;
  }
  nlohmann::json all{{"name", bundle.name},
                     {"dtype", bundle.dtype},
                     {"notes", note.empty() ? std::vector<std::string>() : std::vector<std::string>{note}},
                     {"architectures", bundle.architectures},
                     {"dense_bytes", std::llround(bytes.dense)},
                     {"layers", model_table_json(made.rows, request.token_counts)},
                     {"packed_bytes", bundle.file_bytes},
                     {"diff", result.differences}};
  if (!made.tunings.empty()) {
    std::ranges::transform(made.tunings, std::back_inserter(all["tunings"]), tuning_json);
  }
  if (is_weighted(request.token_counts)) {
    all["weighted_totals"] = weighted_totals_json(made.rows, request.token_counts);
  }
  set_renamed(all, "packed_bytes_by_bcol", "packed_bytes_of", by_bcol);
  set_renamed(all, "kernel_count", "kernels", bundle.kernels.size());
  fmt::print("{}", json_result("generated model", result.status, all));
}

ExitStatus worst_of(const ModelLayers& made) {
  ExitStatus worst = ExitStatus::done;
  for (const ModelRow& row : made.rows) {
    worst = std::max(worst, row.status);
  }
  return worst;
}

void refuse_without_layers(const ModelLayers& made, const ModelRequest& request, const GenerateMode& mode) {
  if (!mode.json) {
    print_plain("{}", model_table(made.rows, false));
  }
  throw UserError(request.layer.matrix, "has no layer that a kernel could be made for",
                  "see the table, or choose another --min-sparsity or --tensor",
                  std::max(worst_of(made), ExitStatus::bad_input));
}

}  // namespace

std::string model_name(const std::string& model) {
  constexpr std::string_view index = ".index";
  fs::path path(model);
  fs::path stem = path.has_filename() ? path.filename().stem() : path.parent_path().filename();
  if (stem.string().ends_with(index)) {
    stem = fs::path(stem.string().substr(0, stem.string().size() - index.size())).stem();
  }
  const bool has_common_name = stem == "model" && path.has_parent_path() && !path.parent_path().filename().empty() &&
                               path.parent_path().filename() != "." && path.parent_path().filename() != "..";
  return default_name(has_common_name ? path.parent_path().filename().string() : stem.string());
}

ExitStatus generate_model(const Model& model, const ModelRequest& request, const GenerateMode& mode,
                          const Console& console) {
  const std::optional<ModelBundle> on_disk = model_on_disk(fs::path(mode.output) / request.name);
  if (!mode.check && !mode.dry_run) {
    refuse_taken_place(request, mode, on_disk);
  }
  const ScratchFile file(mode.output);
  const ModelLayers made = make_model_layers(model, request, mode, file, on_disk, console);
  if (!made.problems.empty()) {
    fmt::print("{}", mode.json ? json_result("generated model", "failed",
                                             {{"name", request.name}, {"problems", made.problems}})
                               : fmt::format("{}", fmt::join(made.problems, "")));
    console.error(request.name + ": a generated kernel is wrong; the bundle is not written");
    return ExitStatus::check_failed;
  }
  if (!has_layers(made)) {
    refuse_without_layers(made, request, mode);
  }
  ModelBundle bundle = bundle_of(made, request);
  if (mode.check && on_disk) {
    take_measurements(bundle, *on_disk);
  }
  KernelBundle files = make_model_bundle(
      bundle, [](const std::string& name, const std::string& text) { return format_source(text, name); });
  if (request.packed) {
    files.files.push_back(packed_file(bundle, file));
  }
  for (const auto& [name, kernel] : on_disk ? on_disk->kernels : std::map<std::string, ModelKernel>()) {
    files.earlier_files.push_back(name + ".cu");
  }
  files.earlier_files.emplace_back(packed_file_name);
  const Result result = mode.check     ? compare(files, mode)
                        : mode.dry_run ? Result{"dry run", "bundle     not written: --dry-run"}
                                       : write(files, mode);
  const ExitStatus status =
      std::max(worst_of(made), result.status == "stale" ? ExitStatus::check_failed : ExitStatus::done);
  if (mode.json || status != ExitStatus::done || console.verbosity() != Verbosity::quiet) {
    print_results(made, bundle, result, request, mode, console);
  }
  return status;
}

}  // namespace esc
