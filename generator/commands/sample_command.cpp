// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/commands.h"
#include "generator/matrix/matrix_writer.h"
#include "generator/matrix/sample.h"
#include "generator/support/json_result.h"

namespace esc {
namespace {

struct SampleRequest {
  std::string output;
  std::string structure = "uniform";
  SampleOptions options;
  bool json = false;
};

ExitStatus run(const SampleRequest& request, const Console& console) {
  SampleOptions options = request.options;
  options.structure = parse_sample_structure(request.structure);
  const SparseMatrix matrix = sample_matrix(options);
  write_matrix(matrix, request.output);
  if (request.json) {
    fmt::print("{}", json_result("sample", "written",
                                 {{"file", request.output},
                                  {"rows", matrix.rows},
                                  {"columns", matrix.columns},
                                  {"nonzeros", matrix.nonzeros()},
                                  {"sparsity", matrix.sparsity()}}));
  }
  console.say(fmt::format("{}: {} x {}, {} non-zeros ({:.2f} % zeros)", request.output, matrix.rows, matrix.columns,
                          matrix.nonzeros(), 100 * matrix.sparsity()));
  return ExitStatus::done;
}

}  // namespace

void add_sample_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "sample", "Write a synthetic pruned matrix",
                                  "escgen sample -o layer.mtx --rows 512 --cols 512 --sparsity 0.7 --seed 1");
  const auto request = std::make_shared<SampleRequest>();
  request->options.rows = 512;
  request->options.columns = 512;
  request->options.sparsity = 0.7;
  command
      ->add_option("-o,--output", request->output,
                   "File to write: .smtx, .mtx or .npy; its folder is made where there is none")
      ->type_name("FILE")
      ->required();
  command->add_option("--rows", request->options.rows, "Rows M")->type_name("NUMBER")->capture_default_str();
  command->add_option("--cols", request->options.columns, "Columns K")->type_name("NUMBER")->capture_default_str();
  command->add_option("--sparsity", request->options.sparsity, "Share of zeros, 0 to 1")
      ->type_name("SHARE")
      ->capture_default_str();
  command->add_option("--structure", request->structure, "Where the non-zeros are")
      ->type_name("uniform|rows|columns|blocks|powerlaw|wanda|sparsegpt|magnitude")
      ->capture_default_str();
  command->add_option("--seed", request->options.seed, "Seed of all random choices")
      ->type_name("NUMBER")
      ->check(whole_number_problem)
      ->capture_default_str();
  command->add_flag("--json", request->json, "Print the result as JSON");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
