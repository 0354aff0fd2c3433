// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/generate_model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/commands/input.h"
#include "generator/commands/model_layers.h"
#include "generator/frontend/format_source.h"
#include "generator/support/file.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// Whether something is left to be written when the layers are made.
bool has_layers(const ModelLayers& made) {
  return std::ranges::any_of(made.rows, [](const ModelRow& row) { return row.outcome == ModelRow::Outcome::made; });
}

std::vector<int> architectures_for(const LayerRequest& layer) {
  return layer.devices.empty() ? default_architectures() : architectures_of(layer.devices);
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
    return parse_model_manifest(read_file(manifest), manifest.string());
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

/// Schedules by letters: "A", .., "Z", "AA", .. in the order in which they are asked for.
class ScheduleLetters {
 public:
  const std::string& letter_of(const std::string& schedule) {
    const auto found = std::ranges::find(schedules_, schedule, &std::pair<std::string, std::string>::first);
    return found != schedules_.end() ? found->second : schedules_.emplace_back(schedule, next()).second;
  }
  const std::vector<std::pair<std::string, std::string>>& all() const { return schedules_; }

 private:
  std::string next() const {
    std::string letter;
    for (std::size_t rest = schedules_.size() + 1; rest > 0; rest = (rest - 1) / 26) {
      letter.insert(letter.begin(), static_cast<char>('A' + (rest - 1) % 26));
    }
    return letter;
  }

  std::vector<std::pair<std::string, std::string>> schedules_;
};

/// "1:A 16:A 64:B", with the capability in front where there are several.
std::string kernels_text(const ModelLayer& layer, ScheduleLetters& letters) {
  const bool several = layer.variants.front().capability != layer.variants.back().capability;
  std::string text;
  int capability = 0;
  for (const ModelVariant& variant : layer.variants) {
    text += text.empty() ? "" : " ";
    if (several && variant.capability != capability) {
      text += fmt::format("sm_{} ", variant.capability);
      capability = variant.capability;
    }
    text += fmt::format("{}:{}", variant.bcol, letters.letter_of(variant.schedule));
  }
  return text;
}

std::string outcome_text(const ModelRow& row, ScheduleLetters& letters) {
  switch (row.outcome) {
    case ModelRow::Outcome::made:
      return fmt::format("{:>12}  {}", row.layer.packed_bytes(), kernels_text(row.layer, letters));
    case ModelRow::Outcome::left_out:
      return fmt::format("{:>12}  {}", "-", row.reason);
    case ModelRow::Outcome::failed:
      break;
  }
  return fmt::format("{:>12}  failed: {}", "-", row.reason);
}

void print_table(const std::vector<ModelRow>& rows) {
  std::size_t name_width = 5;
  std::size_t shape_width = 5;
  for (const ModelRow& row : rows) {
    name_width = std::max(name_width, plain_text(row.name).size());
    shape_width = std::max(shape_width, row.shape.size());
  }
  ScheduleLetters letters;
  fmt::print("{:<{}}  {:<{}}  {:>7}  {:>12}  {}\n", "layer", name_width, "shape", shape_width, "% zeros", "packed bytes", "bCol:schedule");
  for (const ModelRow& row : rows) {
    fmt::print("{:<{}}  {:<{}}  {:>7}  {}\n", plain_text(row.name), name_width, row.shape, shape_width,
               row.sparsity < 0 ? "-" : fmt::format("{:.2f}", 100 * row.sparsity), outcome_text(row, letters));
  }
  for (const auto& [schedule, letter] : letters.all()) {
    fmt::print("schedule {}  {}\n", letter, schedule);
  }
}

nlohmann::json to_json(const ModelRow& row) {
  nlohmann::json entry{{"name", row.name}, {"shape", row.shape}};
  if (row.sparsity >= 0) {
    entry["sparsity"] = row.sparsity;
  }
  if (row.outcome != ModelRow::Outcome::made) {
    entry[row.outcome == ModelRow::Outcome::failed ? "failed" : "left_out"] = row.reason;
    return entry;
  }
  entry["packed_bytes"] = row.layer.packed_bytes();
  entry["kept"] = row.kept;
  for (const ModelVariant& variant : row.layer.variants) {
    entry["kernels"].push_back(
        {{"bcol", variant.bcol}, {"capability", variant.capability}, {"kernel", variant.kernel}, {"schedule", variant.schedule}});
  }
  return entry;
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

std::string sums_text(const ModelLayers& made, const ModelBundle& bundle, const GenerateMode& mode) {
  const auto count = [&](ModelRow::Outcome outcome) { return std::ranges::count(made.rows, outcome, &ModelRow::outcome); };
  const auto verified = std::ranges::count_if(bundle.kernels, [](const auto& kernel) { return kernel.second.verification.has_value(); });
  std::size_t kept = 0;
  std::size_t all = 0;
  for (const ModelRow& row : made.rows) {
    kept += row.kept;
    all += row.kernels;
  }
  return fmt::format(
      "layers     {} of {} {}, {} left out, {} failed\n"
      "{}"
      "kernels    {} shared by them, {}\n"
      "packed     {} bytes\n",
      count(ModelRow::Outcome::made), made.rows.size(), mode.check || mode.dry_run ? "made" : "written",
      count(ModelRow::Outcome::left_out), count(ModelRow::Outcome::failed),
      kept == 0 ? ""
                : fmt::format("kept       {} of {} as an earlier run has made them, one for each layer, bCol and GPU\n",
                              kept, all),
      bundle.kernels.size(),
      verified == 0 ? "not verified"
                    : fmt::format("{} verified by emulation, each with the first layer that has it", verified),
      bundle.file_bytes);
}

void print_results(const ModelLayers& made, const ModelBundle& bundle, const Result& result, const GenerateMode& mode) {
  if (!mode.json) {
    print_table(made.rows);
    fmt::print("{}{}\n", sums_text(made, bundle, mode), result.line);
    return;
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const ModelRow& row : made.rows) {
    rows.push_back(to_json(row));
  }
  const nlohmann::json all{{"name", bundle.name},     {"layers", rows},          {"kernels", bundle.kernels.size()}, {"packed_bytes", bundle.file_bytes},
                           {"status", result.status}, {"diff", result.differences}};
  fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
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
    print_table(made.rows);
  }
  throw UserError(request.layer.matrix, "has no layer that a kernel could be made for", "see the table, or choose another --min-sparsity or --tensor",
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
  const bool has_common_name = stem == "model" && path.has_parent_path() && !path.parent_path().filename().empty() && path.parent_path().filename() != "." &&
                               path.parent_path().filename() != "..";
  return default_name(has_common_name ? path.parent_path().filename().string() : stem.string());
}

ExitStatus generate_model(const Model& model, const ModelRequest& request, const GenerateMode& mode, const Console& console) {
  const ScratchFile file(mode.output);
  const std::optional<ModelBundle> on_disk = model_on_disk(fs::path(mode.output) / request.name);
  const ModelLayers made = make_model_layers(model, request, mode, file, on_disk, console);
  if (!made.problems.empty()) {
    fmt::print("{}", fmt::join(made.problems, ""));
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
  KernelBundle files = make_model_bundle(bundle, [](const std::string& name, const std::string& text) { return format_source(text, name); });
  if (request.packed) {
    files.files.push_back(packed_file(bundle, file));
  }
  for (const auto& [name, kernel] : on_disk ? on_disk->kernels : std::map<std::string, ModelKernel>()) {
    files.earlier_files.push_back(name + ".cu");
  }
  files.earlier_files.emplace_back(packed_file_name);
  const Result result = mode.check ? compare(files, mode) : mode.dry_run ? Result{"dry run", "bundle     not written: --dry-run"} : write(files, mode);
  const ExitStatus status = std::max(worst_of(made), result.status == "stale" ? ExitStatus::check_failed : ExitStatus::done);
  if (mode.json || status != ExitStatus::done || console.verbosity() != Verbosity::quiet) {
    print_results(made, bundle, result, mode);
  }
  return status;
}

}  // namespace esc
