// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "generator/commands/commands.h"
#include "generator/commands/input.h"
#include "generator/commands/loop_nest_input.h"
#include "generator/commands/nest_line.h"
#include "generator/ir/nest_json.h"
#include "generator/model/layer_file.h"

namespace esc {
namespace {

struct NestRequest {
  NestLine nest;
  std::string weights;
  std::optional<std::string> dtype;
};

ExitStatus run(const NestRequest& request) {
  NestSource source = nest_source(request.nest);
  if (!request.weights.empty()) {
    source.sizes.weights = read_layer_shape(request.weights);
  }
  const std::optional<ScalarType> element = request.dtype ? std::optional(parse_element(*request.dtype)) : std::nullopt;
  fmt::print("{}\n", nest_json(read_loop_nest(source, element)));
  return ExitStatus::done;
}

}  // namespace

void add_nest_command(CLI::App& program, const CommonOptions&, Action& action) {
  CLI::App* command = add_command(program, "nest", "Print the input loop nest as JSON, for programs that do not read C",
                                  "escgen nest --layout nk --epilogue bias+relu > layer.nest.json");
  const auto request = std::make_shared<NestRequest>();
  add_nest_options(*command, request->nest);
  command
      ->add_option("--weights", request->weights,
                   "Matrix file whose four dimensions, where it has them, are sizes of the nest")
      ->type_name("FILE");
  add_element_option(*command, request->dtype);
  command->callback([request, &action] { action = [=] { return run(*request); }; });
}

}  // namespace esc
