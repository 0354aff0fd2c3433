// SPDX-License-Identifier: Apache-2.0
#include "tests/device/gpu_bundles.h"

#include <tbb/parallel_for.h>

#include "generator/frontend/format_source.h"
#include "generator/verify/nvcc.h"

namespace esc::tests {

void compile_layers(const std::vector<const GeneratedLayer*>& layers, const std::filesystem::path& folder) {
  for (const GeneratedLayer* const layer : layers) {
    const auto format = [](const std::string& file, const std::string& text) { return format_source(text, file); };
    write_bundle(make_bundle(*layer, format), folder, false);
  }
  compile_predecessor(folder);
  tbb::parallel_for(std::size_t{0}, layers.size(), [&](std::size_t index) {
    const std::string& name = layers[index]->layer.name;
    compile_bundle(folder / name, name, folder);
  });
}

}  // namespace esc::tests
