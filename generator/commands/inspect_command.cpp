// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "generator/commands/commands.h"
#include "generator/commands/default_element.h"
#include "generator/commands/estimate_model.h"
#include "generator/commands/expected_speed.h"
#include "generator/commands/input.h"
#include "generator/commands/inspect_model.h"
#include "generator/commands/layer_request.h"
#include "generator/commands/loop_nest_input.h"
#include "generator/commands/nest_line.h"
#include "generator/commands/own_measurements.h"
#include "generator/matrix/pattern_svg.h"
#include "generator/matrix/statistics.h"
#include "generator/model/layer_file.h"
#include "generator/patterns/census.h"
#include "generator/schedule/known_devices.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/page_text.h"

namespace esc {
namespace {

struct InspectRequest {
  std::string matrix;
  int ufi = 4;
  std::string bcols = "64";
  ReadOptions read;
  bool json = false;
  std::string svg;
  std::optional<std::string> layout;
  bool estimate = false;
  std::optional<std::string> gpu;
  std::string database;
  std::optional<std::string> dtype;
  std::optional<double> min_sparsity;
  std::vector<std::string> tensors;
};

nlohmann::json lengths_json(const LengthStatistics& lengths) {
  return {{"min", lengths.shortest},
          {"max", lengths.longest},
          {"mean", lengths.mean},
          {"standard_deviation", lengths.standard_deviation},
          {"coefficient_of_variation", lengths.coefficient_of_variation},
          {"p10", lengths.percentile_10},
          {"p50", lengths.percentile_50},
          {"p90", lengths.percentile_90},
          {"empty", lengths.empty},
          {"full", lengths.full}};
}

/// The layer as `generate` is asked for it, without a name of a GPU.
LayerRequest layer_request(const InspectRequest& request, std::int64_t bcol) {
  LayerRequest layer;
  layer.matrix = request.matrix;
  layer.bcol = bcol;
  layer.name = "layer";
  layer.read = request.read;
  if (request.layout) {
    layer.nest.layout = parse_layout(*request.layout);
  }
  if (request.dtype) {
    layer.element = parse_element(*request.dtype);
  }
  return layer;
}

/// As `generate` makes it by itself.
Layer automatic_layer(const LayerRequest& layer, const LoopNest& nest, const SparseMatrix& matrix,
                      const Console& console) {
  return make_layer(layer, {}, nest, matrix, std::make_shared<PackingCache>(), console).layer;
}

std::string to_json(const MatrixStatistics& statistics, const PatternCensus& census, const Layer& layer,
                    const ExpectedSpeed& speed) {
  nlohmann::json patterns = nlohmann::json::object();
  for (const auto& [pattern, columns] : census.columns) {
    patterns[print(pattern)] = columns;
  }
  nlohmann::json census_json{{"enumerated_columns", census.enumerated_columns()},
                             {"multiply_adds_per_load", census.reuse()},
                             {"empty_pairs", census.empty_pairs()}};
  set_renamed(census_json, "tile_rows", "ufi", census.height);
  set_renamed(census_json, "row_tiles", "panels", census.row_tiles);
  set_renamed(census_json, "columns_by_pattern", "patterns", patterns);
  const nlohmann::json result{
      {"rows", statistics.rows},
      {"columns", statistics.columns},
      {"nonzeros", statistics.nonzeros},
      {"sparsity", statistics.sparsity},
      {"row_lengths", lengths_json(statistics.row_lengths)},
      {"column_lengths", lengths_json(statistics.column_lengths)},
      {"dense_bytes", statistics.dense_bytes},
      {"csr_bytes", statistics.csr_bytes},
      {"packed_bytes", packed_bytes(layer)},
      {"bytes",  // as before keys had their units
       {{"dense", statistics.dense_bytes}, {"csr", statistics.csr_bytes}, {"packed", packed_bytes(layer)}}},
      {"bcol", layer.bcol},
      {"schedule", text_of(layer.choice)},
      {"schedule_source", layer.choice.source},
      {"notes", layer.choice.notes},
      {"dtype", name_of(layer.lowered.element())},
      {"speed", speed_json(speed)},
      {"census", census_json}};
  return json_result("matrix", "done", result);
}

void print_lengths(const char* what, const LengthStatistics& lengths) {
  fmt::print("{}",
             labelled(what, fmt::format("{} to {} non-zeros, mean {:.1f}, variation {:.2f}, 10/50/90 % {}/{}/{}, "
                                        "{} empty, {} full",
                                        lengths.shortest, lengths.longest, lengths.mean,
                                        lengths.coefficient_of_variation, lengths.percentile_10, lengths.percentile_50,
                                        lengths.percentile_90, lengths.empty, lengths.full)));
}

void print_census(const PatternCensus& census) {
  fmt::print("{}",
             labelled("patterns", fmt::format("of {} rows: {} of {} occur in {} row tiles with {} non-empty columns",
                                              census.height, census.columns.size(), (1 << census.height) - 1,
                                              census.row_tiles, census.enumerated_columns())));
  fmt::print("{}", labelled("", fmt::format("{:.2f} multiply-adds per loaded element of B; {:.1f} % of the (row tile, "
                                            "pattern) pairs are empty",
                                            census.reuse(), 100 * census.empty_pairs())));
  constexpr std::size_t most_rows = 16;
  if (census.columns.size() <= most_rows) {
    for (const auto& [pattern, columns] : census.columns) {
      fmt::print("           {} {:>10} columns ({:.1f} %)\n", print(pattern), columns,
                 100.0 * static_cast<double>(columns) / static_cast<double>(census.enumerated_columns()));
    }
    return;
  }
  std::map<int, std::int64_t> by_rows;
  for (const auto& [pattern, columns] : census.columns) {
    by_rows[pattern.popcount()] += columns;
  }
  for (const auto& [rows, columns] : by_rows) {
    fmt::print("           {} rows {:>10} columns ({:.1f} %)\n", rows, columns,
               100.0 * static_cast<double>(columns) / static_cast<double>(census.enumerated_columns()));
  }
}

/// What is estimated of a model's layers.
ModelRequest estimate_request(const InspectRequest& request, const std::vector<TokenCount>& counts,
                              const KnownDevices& devices) {
  ModelRequest model{.layer = layer_request(request, counts.front().columns),
                     .token_counts = counts,
                     .name = "",
                     .tensors = request.tensors};
  std::ranges::sort(model.token_counts, {}, &TokenCount::columns);
  model.layer.matrix = file_of_model(request.matrix);
  model.layer.min_sparsity = request.min_sparsity;
  if (request.gpu) {
    model.layer.devices = {device_of_gpu(*request.gpu, devices)};
  }
  return model;
}

ExitStatus run(const InspectRequest& request, const Console& console) {
  if (request.ufi < 1 || request.ufi > 8) {
    throw UserError(fmt::format("--tile-rows {}", request.ufi), "is outside 1 to 8", "a row tile has 1 to 8 rows");
  }
  const std::vector<TokenCount> counts = parse_token_counts(request.bcols);
  if (!request.estimate) {
    refuse_weights(counts, "--bcol " + request.bcols, "they are for --estimate of a model");
  }
  if (const std::optional<Model> model = listed_model(request.matrix)) {
    if (!request.svg.empty()) {
      throw UserError("--svg " + request.svg, "draws one matrix, and " + request.matrix + " is a model",
                      "name a tensor: FILE:TENSOR");
    }
    if (!request.estimate) {
      return inspect_model(*model, request.json, console);
    }
    const UserMeasurements own =
        request.database.empty() ? UserMeasurements() : read_own_measurements(request.database, console);
    return estimate_model(*model, estimate_request(request, counts, own.catalog->devices()), own, request.json,
                          console);
  }
  if (request.estimate) {
    throw UserError("--estimate", "is for models, and " + request.matrix + " is one matrix",
                    "leave it out, or name the model");
  }
  if (counts.size() > 1) {
    throw UserError("--bcol " + request.bcols, "has several numbers, which are for --estimate of a model", "give one");
  }
  LayerRequest one = layer_request(request, counts.front().columns);
  one.element = element_of(one);
  const LoopNest nest = read_loop_nest(one.nest, one.element);
  const SparseMatrix matrix = read_stored_matrix(one, nest, console, StageProgress::silent()).matrix;
  const MatrixStatistics figures = statistics(matrix);
  const PatternCensus census = take_census(matrix, request.ufi);
  const Layer layer = automatic_layer(one, nest, matrix, console);
  if (!request.svg.empty()) {
    write_file_whole(request.svg, pattern_svg(matrix, printable_file_name(request.matrix)));
    console.say("picture in " + request.svg);
  }
  const auto dense = static_cast<double>(figures.dense_bytes);
  const auto csr = static_cast<double>(figures.csr_bytes);
  const auto packed = static_cast<double>(packed_bytes(layer));
  const ExpectedSpeed speed = expected_speed({.measured = layer.choice.measured,
                                              .not_measured = layer.choice.not_measured,
                                              .beside_dense = layer.choice.beside_dense,
                                              .packed_bytes = packed,
                                              .dense_bytes = dense});
  if (request.json) {
    fmt::print("{}", to_json(figures, census, layer, speed));
    return ExitStatus::done;
  }
  print_plain("{}", labelled("matrix", request.matrix));
  print_plain("{}", labelled("shape", fmt::format("{} x {}, {} non-zeros, {:.2f} % zeros", figures.rows,
                                                  figures.columns, figures.nonzeros, 100 * figures.sparsity)));
  print_plain(
      "{}", labelled("made for", fmt::format("N = {}, elements of {}", layer.bcol, name_of(layer.lowered.element()))));
  print_plain("{}{}", speed_lines(speed), labelled("bytes", bytes_text(packed, dense, csr)));
  for (const std::string& note : layer.choice.notes) {
    print_plain("{}", labelled("note", note));
  }
  print_lengths("rows", figures.row_lengths);
  print_lengths("columns", figures.column_lengths);
  print_census(census);
  if (console.verbosity() == Verbosity::verbose) {
    print_plain("{}{}", labelled("schedule", text_of(layer.choice)), labelled("from", layer.choice.source));
  }
  return ExitStatus::done;
}

}  // namespace

void add_inspect_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(
      program, "inspect", "Show what a pruned matrix looks like to the generator, or list the tensors of a model",
      "escgen inspect layer.smtx --tile-rows 4 --svg layer.svg\n"
      "escgen inspect model.safetensors\n"
      "escgen inspect model.safetensors --estimate --bcol 1,16 --gpu h200",
      {{"GPUs", fmt::format("{}", fmt::join(gpu_names(), ", "))}});
  const auto request = std::make_shared<InspectRequest>();
  command
      ->add_option("matrix", request->matrix,
                   "Matrix file: .smtx, .mtx, .npy or .npz; a tensor of a model, as in model.safetensors:NAME; or a "
                   "model, whose tensors are listed")
      ->required();
  command->add_option("--tile-rows", request->ufi, "Rows of a row tile, whose patterns are counted, 1 to 8")
      ->type_name("NUMBER")
      ->capture_default_str();
  command
      ->add_option("--bcol", request->bcols,
                   "N, the columns of B (tokens) to show speed and bytes for; with --estimate several, as in 1,16, or "
                   "with how often each occurs, as in 1:10,16:1")
      ->type_name("N,...")
      ->capture_default_str();
  command->add_option("--layout", request->layout, layout_help)->type_name("kn|nk");
  command->add_option("--seed", request->read.seed, "Seed of the values of pattern-only files")
      ->type_name("NUMBER")
      ->check(whole_number_problem)
      ->capture_default_str();
  command->add_flag("--allow-nonfinite", request->read.allow_nonfinite, "Accept NaN and infinity");
  CLI::Option* const estimate =
      command->add_flag("--estimate", request->estimate,
                        "Of the layers of a model: how fast kernels are expected to be, and their bytes");
  command->add_option("--gpu", request->gpu, "GPU of the estimate (default: h200)")->type_name("GPU")->needs(estimate);
  command
      ->add_option("--database", request->database,
                   "What you have measured, as for generate: a file that esctune publish or calibrate wrote, or their "
                   "folder")
      ->type_name("PATH")
      ->needs(estimate);
  add_element_option(*command, request->dtype, element_help)->needs(estimate);
  command
      ->add_option("--min-sparsity", request->min_sparsity,
                   "Leave out layers with a smaller share of zeros, 0 to 1 (default: 0.45)")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(estimate);
  command->add_option("--tensor", request->tensors, "Only the tensors whose names are like this: *.mlp.* (repeatable)")
      ->type_name("PATTERN")
      ->needs(estimate);
  command->add_flag("--json", request->json, "Print JSON");
  command->add_option("--svg", request->svg, "Draw the pattern into this file")->type_name("FILE");
  put_under(*command, "Input", {"--seed", "--allow-nonfinite"});
  put_under(*command, "Product", {"--bcol", "--layout"});
  put_under(*command, "Estimate", {"--estimate", "--gpu", "--database", "--dtype", "--min-sparsity", "--tensor"});
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
