// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "generator/commands/commands.h"
#include "generator/commands/input.h"
#include "generator/commands/packed_model.h"
#include "generator/commands/written_model.h"
#include "generator/report/model_page.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/stage_progress.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

struct ReportRequest {
  std::string folder;
  std::string output;
  std::string measured;
  bool patterns = true;
  bool json = false;
};

/// Cells on a side of a pattern's picture.
constexpr std::int64_t most_cells = 96;

DensityRaster raster_of(const SparseMatrix& matrix) {
  const auto cells = [](std::int64_t lines) { return static_cast<int>(std::min(lines, most_cells)); };
  return density_raster(matrix, cells(matrix.rows), cells(matrix.columns));
}

/// The layers' patterns, from the packed matrices.
std::map<std::string, DensityRaster> rasters_of(const ModelBundle& model, const fs::path& folder,
                                                const Console& console) {
  PackedModel packed(folder, parse_element(model.dtype));
  packed.check(model);
  StageProgress progress(console.terminal());
  progress.begin("reading the layers", model.layers.size());
  std::map<std::string, DensityRaster> rasters;
  for (const ModelLayer& layer : model.layers) {
    rasters[layer.name] = raster_of(packed.matrix_of(layer, 0));
    progress.advance(1);
  }
  progress.finish();
  return rasters;
}

ExitStatus run(const ReportRequest& request, const Console& console) {
  const WrittenModel written = load_model_bundle(request.folder);
  const MeasuredTimes times =
      request.measured.empty() ? MeasuredTimes() : parse_measured_times(read_file(request.measured), request.measured);
  const std::map<std::string, DensityRaster> rasters =
      request.patterns ? rasters_of(written.model, request.folder, console) : std::map<std::string, DensityRaster>();
  write_file_whole(request.output, model_page(written.model, rasters, times));
  if (request.json) {
    fmt::print(
        "{}",
        json_result("page", "written",
                    {{"file", request.output}, {"name", written.model.name}, {"layers", written.model.layers.size()}}));
  } else if (console.verbosity() != Verbosity::quiet) {
    print_plain("report     {}, of {} layers\n", request.output, written.model.layers.size());
  }
  return ExitStatus::done;
}

}  // namespace

void add_report_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command =
      add_command(program, "report",
                  "Write a page about the bundle of a model: its layers, their kernels, bytes, patterns and times",
                  "escgen report kernels/model -o report.html");
  const auto request = std::make_shared<ReportRequest>();
  command->add_option("bundle", request->folder, "The bundle's folder, as escgen generate MODEL has written it")
      ->required();
  command->add_option("-o,--output", request->output, "The page, one file of HTML")->type_name("FILE")->required();
  command
      ->add_option("--measured", request->measured,
                   "Times of its layers: what save() of the report of esc.replace_linear has written")
      ->type_name("FILE");
  command->add_flag("!--no-patterns", request->patterns,
                    "No pictures of the layers' patterns, for which model.packed is read");
  command->add_flag("--json", request->json, "Print the result as JSON");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
