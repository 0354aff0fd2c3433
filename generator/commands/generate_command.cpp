// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "generator/commands/commands.h"
#include "generator/commands/default_element.h"
#include "generator/commands/epilogue_nest.h"
#include "generator/commands/generate_line.h"
#include "generator/commands/generate_model.h"
#include "generator/commands/input.h"
#include "generator/commands/inspect_model.h"
#include "generator/commands/layer_request.h"
#include "generator/commands/model_request.h"
#include "generator/commands/model_spec.h"
#include "generator/commands/nest_line.h"
#include "generator/commands/option_words.h"
#include "generator/commands/own_measurements.h"
#include "generator/commands/quick_tuning.h"
#include "generator/matrix/typed_elements.h"
#include "generator/model/survey.h"
#include "generator/schedule/known_devices.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/schedule_keys.h"
#include "generator/schedule/settings.h"
#include "generator/schedule/target.h"
#include "generator/support/file.h"

namespace esc {
namespace {

/// What to build for, GPUs first.
std::vector<TargetDevice> devices_of(const GenerateLine& line) {
  std::vector<TargetDevice> devices;
  for (const std::string& gpus : line.gpus) {
    for (const std::string_view gpu : split(gpus, ',')) {
      devices.push_back(device_of_gpu(std::string(gpu), line.mode.own.catalog->devices()));
    }
  }
  for (const std::string& architecture : line.architectures) {
    devices.push_back(device_of_architecture(parse_architecture(architecture)));
  }
  return devices;
}

/// What the line says beside a spec, of what the spec says too: devices where it names none, the rest in its place.
void add_line(LayerRequest& request, const GenerateLine& line) {
  if (request.devices.empty()) {
    request.devices = devices_of(line);
  }
  if (line.min_sparsity) {
    request.min_sparsity = line.min_sparsity;
  }
  if (line.dtype) {
    request.element = parse_element(*line.dtype);
  }
  if (line.nest.layout) {
    request.nest.layout = parse_layout(*line.nest.layout);
  }
  request.read.allow_nonfinite = request.read.allow_nonfinite || line.layer.read.allow_nonfinite;
}

/// The layers of the line, or of the spec that it names, whose text this is.
std::vector<LayerRequest> requests_of(const GenerateLine& line, const std::string& spec) {
  std::vector<LayerRequest> requests;
  if (line.spec.empty()) {
    const NestSource nest = nest_source(line.nest);
    const std::vector<TokenCount> counts = parse_token_counts(line.bcols);
    refuse_weights(counts, "--bcol " + line.bcols,
                   "they say which layers of a model stay dense, and " + line.layer.matrix + " is one matrix");
    LayerRequest layer = line.layer;
    layer.nest = nest;
    if (!line.schedule_file.empty()) {
      layer.schedule = read_file(line.schedule_file);
    }
    for (const std::int64_t bcol : columns_in(counts)) {
      requests.push_back(layer);
      requests.back().bcol = bcol;
      requests.back().name =
          bundle_name(line.name ? *line.name : default_name(line.layer.matrix), bcol, counts.size() > 1);
    }
  } else {
    requests = parse_spec(spec, line.spec, line.mode.own.catalog->devices());
  }
  for (LayerRequest& request : requests) {
    add_line(request, line);
  }
  return requests;
}

/// What holds for a layer among others holds for one alone: a nearly dense one gets a kernel where it is named or the
/// line says so.
void refuse_dense(const Weight& weight, const Model& model) {
  const auto elements = static_cast<double>(weight.rows()) * static_cast<double>(weight.columns());
  if (const double sparsity = 1 - static_cast<double>(survey_weight(weight).nonzeros) / elements;
      sparsity < model_min_sparsity) {
    throw UserError(
        model.name,
        fmt::format("has one matrix, {}, with {:.1f} % zeros: layers of a model have kernels from {:.0f} % on",
                    weight.name, 100 * sparsity, 100 * model_min_sparsity),
        fmt::format("give --min-sparsity 0, or name it: {}:{}", model.name, weight.name));
  }
}

/// The model that the line names, where it has several layers; one matrix alone is as in any other file.
std::optional<Model> model_of(const GenerateLine& line) {
  std::optional<Model> model = listed_model(line.layer.matrix);
  if (!model) {
    return std::nullopt;
  }
  const auto is_matrix = [](const Weight& weight) { return !obstacle_of(weight); };
  const auto matrices = std::ranges::count_if(model->weights, is_matrix);
  if (matrices > 1 || (matrices == 1 && std::ranges::any_of(model->weights, hides_layer))) {
    return model;
  }
  if (matrices == 1 && !line.min_sparsity) {
    refuse_dense(*std::ranges::find_if(model->weights, is_matrix), *model);
  }
  return std::nullopt;
}

/// What the line says of a model, as a spec would.
ModelSpec model_spec_of(const GenerateLine& line) {
  ModelRequest request{.layer = line.layer,
                       .token_counts = parse_token_counts(line.bcols),
                       .name = line.name.value_or(""),
                       .tensors = line.tensors,
                       .packed = line.packed,
                       .all = line.all};
  std::ranges::sort(request.token_counts, {}, &TokenCount::columns);
  request.layer.nest = nest_source(line.nest);
  if (!line.schedule_file.empty()) {
    request.layer.schedule = read_file(line.schedule_file);
  }
  return {.request = std::move(request), .max_packed = {}, .database = {}};
}

void say_old_words(const std::string& schedule, const Console& console) {
  for (const std::string& note : old_words_notes(schedule)) {
    console.say(note);
  }
}

/// What measures candidates, where that is asked for.
std::shared_ptr<const QuickTuner> tuner_of(const GenerateLine& line, const Console& console) {
  if (line.tune.empty()) {
    return nullptr;
  }
  const auto tuner = std::make_shared<const QuickTuner>(line.journals, line.mode.own.catalog->devices());
  console.say(fmt::format("candidates are measured on {}, for which kernels are built where no GPU is named",
                          tuner->device_text()));
  return tuner;
}

/// The bundle of a model, as its spec and the line say.
ExitStatus generate_from(const Model& model, ModelSpec spec, const GenerateLine& line, const Console& console) {
  ModelRequest& request = spec.request;
  add_line(request.layer, line);
  if (request.name.empty()) {
    request.name = model_name(request.layer.matrix);
    check_name(request.name);
  }
  request.layer.matrix = file_of_model(request.layer.matrix);
  request.layer.name = "layer";
  request.jobs = line.jobs;
  request.all = request.all || line.all;
  const DefaultElement element = element_of(model, request);
  request.layer.element = element.element;
  request.note = element.note;
  GenerateMode mode = line.mode;
  mode.max_packed = mode.max_packed ? mode.max_packed : spec.max_packed;
  const std::string& database = line.database.empty() ? spec.database : line.database;
  refuse_where_named("--database", database, request.layer.schedule);
  refuse_where_named("--tune", line.tune, request.layer.schedule);
  say_old_words(request.layer.schedule, console);
  mode.tuner = tuner_of(line, console);
  if (mode.tuner) {
    request.layer = mode.tuner->for_this_gpu_alone(std::move(request.layer));
  }
  return generate_model(model, request, mode, console);
}

/// The model of a spec, though it may have one matrix alone.
Model model_of(const ModelSpec& spec, const std::string& file) {
  std::optional<Model> model = listed_model(spec.request.layer.matrix);
  if (!model) {
    throw UserError(file, spec.request.layer.matrix + " is one matrix and no model",
                    "write {\"layers\": [{\"matrix\": FILE, \"bcol\": N}]}");
  }
  return *std::move(model);
}

/// What the user has measured: the line's before the spec's. It says what GPUs there are.
std::string database_of(const GenerateLine& line, const std::string& spec) {
  return line.database.empty() && !line.spec.empty() ? database_in_spec(spec, line.spec) : line.database;
}

/// All layers, though some fail: the worst status is the command's.
ExitStatus run(GenerateLine line, const Console& console) {
  refuse_unusable(line);
  if (line.max_packed) {
    line.mode.max_packed = parse_packed_limit(*line.max_packed);
  }
  const std::string spec_text = line.spec.empty() ? "" : read_file(line.spec);
  if (const std::string database = database_of(line, spec_text); !database.empty()) {
    line.mode.own = read_own_measurements(database, console);
  }
  if (!line.spec.empty()) {
    if (const std::optional<ModelSpec> spec =
            parse_model_spec(spec_text, line.spec, line.mode.own.catalog->devices())) {
      refuse_for_model(line, spec->request.layer.matrix);
      return generate_from(model_of(*spec, line.spec), *spec, line, console);
    }
  } else if (const std::optional<Model> model = model_of(line)) {
    refuse_for_model(line, line.layer.matrix);
    return generate_from(*model, model_spec_of(line), line, console);
  }
  refuse_for_layers(line);
  line.mode.tuner = tuner_of(line, console);
  ExitStatus worst = ExitStatus::done;
  std::set<std::string> schedules;
  for (const LayerRequest& request : requests_of(line, spec_text)) {
    ExitStatus status = ExitStatus::done;
    try {
      if (schedules.insert(request.schedule).second) {
        say_old_words(request.schedule, console);
      }
      status = process_layer(is_tuned(request, line.mode) ? line.mode.tuner->for_this_gpu(request) : request, line.mode,
                             console);
    } catch (const UserError& problem) {
      console.error(problem.what());
      status = problem.status();
    }
    worst = std::max(worst, status);
  }
  return worst;
}

}  // namespace

void add_generate_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(
      program, "generate", "Write the kernel bundle of a pruned matrix, or one of all layers of a model, and verify it",
      "escgen generate ffn1.npy --bcol 64 --gpu h200 -o bundles\n"
      "escgen generate model.safetensors:layers.0.up_proj.weight --bcol 16 --gpu h200 -o bundles\n"
      "escgen generate model.safetensors --min-sparsity 0.5 --bcol 1,16,64 --gpu h200 -o bundles\n"
      "escgen generate ffn1.npy --bcol 16 --epilogue bias+relu --layout nk --gpu h200 -o bundles",
      {{"GPUs", fmt::format("{}", fmt::join(gpu_names(), ", "))},
       {"Element types", kernel_element_words()},
       {"Layouts", "kn (B is K x N, C is M x N), nk (B is N x K, C is N x M, as PyTorch has them)"},
       {"Epilogue parts", epilogue_names()},
       {"Schedule families",
        fmt::format("{} (escgen lower --help has their keys)", fmt::join(schedule_family_names(), ", "))}});
  const auto line = std::make_shared<GenerateLine>();
  command->add_option("matrix", line->layer.matrix,
                      "Matrix file: .smtx, .mtx, .npy or .npz; a tensor of a model, as in model.safetensors:NAME; or a "
                      "model, whose layers get one bundle");
  CLI::Option* const spec =
      command
          ->add_option("--spec", line->spec,
                       "JSON file with many layers, or with a model, in place of a matrix (escgen "
                       "spec --schema says what it may have)")
          ->type_name("FILE");
  command
      ->add_option(
          "--bcol", line->bcols,
          "N, the columns of B (tokens) that the kernel is made for; any other number works too, more slowly. "
          "32,64 makes NAME_n32 and NAME_n64. Of a model 1:10,16:1 says how often each occurs (default: 1), which "
          "counts in what decides which layers stay dense")
      ->type_name("N,...")
      ->excludes(spec);
  command->add_option("-o,--output", line->mode.output, "Folder in which the bundle's folder is made")
      ->type_name("DIR")
      ->required();
  command->add_option("--name", line->name, "Name of the bundle and prefix of its functions (default: the file's)")
      ->type_name("NAME")
      ->excludes(spec);
  command
      ->add_option(
          "--schedule", line->layer.schedule,
          "auto: what is expected to be the fastest, by a model that measurements correct; published: the paper's for "
          "the A100, of family atomic; bitmap: in 16 bits, one packed matrix for every N; 'FAMILY: key=value, ...'; or "
          "directives as in 'unroll(i, 2); enumerate(); ...'")
      ->type_name("SCHEDULE")
      ->capture_default_str()
      ->excludes(spec);
  command->add_option("--schedule-file", line->schedule_file, "Directives from a file: one a line, # begins a comment")
      ->type_name("FILE")
      ->excludes(spec)
      ->excludes("--schedule");
  add_nest_options(*command, line->nest, spec);
  command
      ->add_option("--gpu", line->gpus,
                   "GPU to build for (repeatable, or as in a100,h200). One schedule serves all, auto takes the first "
                   "one's; layers of a model have one for each compute capability. Without --gpu and --arch the "
                   "kernels are built for sm_80 and sm_90, with the schedules for an NVIDIA H200")
      ->type_name("GPU,...");
  command
      ->add_option("--arch", line->architectures,
                   "CUDA architecture to build for, as in sm_90 (sm_75 to sm_121, repeatable)")
      ->type_name("SM");
  command
      ->add_option("--database", line->database,
                   "What you have measured, which counts before what is built in: a file that esctune publish or "
                   "calibrate wrote, or their folder")
      ->type_name("PATH");
  command
      ->add_option("--tune", line->tune,
                   "quick: measure the first eight schedules that auto would take, by the esctune beside this program "
                   "and with weights from memory, and take the fastest; the manifest records them. The GPU is the "
                   "one that is here")
      ->type_name("quick")
      ->check(one_of({"quick"}))
      ->excludes("--schedule-file");
  CLI::Option* const journal =
      command
          ->add_option("--journal", line->journals.output,
                       "With --tune: append what is measured to this journal of esctune; what it has is not measured "
                       "again")
          ->type_name("FILE");
  command
      ->add_option("--replay", line->journals.replay,
                   "With --tune: take measurements from such a journal in place of a GPU")
      ->type_name("FILE")
      ->excludes(journal);
  add_element_option(*command, line->dtype, element_help);
  command
      ->add_option("--max-packed", line->max_packed,
                   "Most bytes of the packed matrix: over those as CSR (8 for a non-zero, 4 for a row), as in 1.5, or "
                   "over the dense ones, as in 62%; auto takes the best schedule within it")
      ->type_name("RATIO");
  command
      ->add_option("--min-sparsity", line->min_sparsity,
                   "Skip matrices with a smaller share of zeros, 0 to 1 (default: 0.45 for a model, else 0)")
      ->type_name("SHARE");
  command
      ->add_option("--tensor", line->tensors,
                   "Of a model only the tensors whose names are like this: *.mlp.* (repeatable)")
      ->type_name("PATTERN")
      ->excludes(spec);
  command->add_flag("--all", line->all,
                    "Of a model make kernels, too, of layers that are expected to be larger or slower than dense");
  command
      ->add_option("--jobs", line->jobs,
                   "Layers of a model that are made at once (default: as many as there are cores)")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 1024));
  command
      ->add_flag("!--no-packed", line->packed,
                 "Write the bundle of a model without its packed matrices; escgen pack makes them")
      ->excludes(spec);
  command->add_option("--seed", line->layer.read.seed, "Seed of the values of pattern-only files")
      ->check(whole_number_problem)
      ->type_name("NUMBER")
      ->capture_default_str()
      ->excludes(spec);
  command->add_flag("--allow-nonfinite", line->layer.read.allow_nonfinite, "Accept NaN and infinity in the matrix");
  command->add_flag("!--no-compaction", line->mode.compaction,
                    "Family atomic: one body for each pattern in place of one for each number of rows");
  command->add_flag("!--no-verify", line->mode.verify, "Do not run the generated texts on the emulated grid");
  command->add_flag("--resources", line->mode.resources, "Ask nvcc for registers and shared memory, for the manifest");
  CLI::Option* const force = command->add_flag("--force", line->mode.force, "Replace a bundle that differs");
  CLI::Option* const check = command->add_flag("--check", line->mode.check,
                                               "Write nothing; status 1 and a diff when the bundle on disk is stale");
  CLI::Option* const dry_run =
      command->add_flag("--dry-run", line->mode.dry_run, "Write nothing; say what would be generated");
  check->excludes(force)->excludes(dry_run);
  command->add_flag("--json", line->mode.json, "Print results as JSON, an object in a line for each layer");
  put_under(*command, "Input", {"--spec", "--tensor", "--min-sparsity", "--dtype", "--seed", "--allow-nonfinite"});
  put_under(*command, "Product", {"--bcol", "--layout", "--epilogue", "--kernel", "--size"});
  put_under(*command, "Target", {"--gpu", "--arch"});
  put_under(*command, "Schedule",
            {"--schedule", "--schedule-file", "--database", "--tune", "--journal", "--replay", "--max-packed", "--all",
             "--no-compaction"});
  put_under(*command, "Output",
            {"--output", "--name", "--no-packed", "--force", "--check", "--dry-run", "--no-verify", "--resources",
             "--json", "--jobs"});
  command->callback([line, &common, &action] { action = [=, &common] { return run(*line, common.console()); }; });
}

}  // namespace esc
