// SPDX-License-Identifier: Apache-2.0
#include "generator/report/model_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/report/grey_png.h"
#include "generator/report/model_tables.h"
#include "generator/report/page.h"
#include "generator/support/escaped.h"

namespace esc {
namespace {

/// What a reader wants to know first.
std::string summary(const ModelBundle& model) {
  std::uint64_t packed = 0;
  std::uint64_t dense = 0;
  std::uint64_t csr = 0;
  double nonzeros = 0;
  double elements = 0;
  for (const ModelLayer& layer : model.layers) {
    packed += layer.packed_bytes();
    dense += dense_bytes(model, layer);
    csr += csr_bytes(model, layer);
    nonzeros += static_cast<double>(layer.nonzeros);
    elements += static_cast<double>(layer.rows) * static_cast<double>(layer.columns);
  }
  const auto verified = std::ranges::count_if(model.kernels, [](const auto& kernel) {
    return kernel.second.verification && kernel.second.verification->passed;
  });
  return paragraph(fmt::format("{} layers of {} in {}, layout {}{}, {:.1f} % zeros. Their packed matrices take {} "
                               "bytes: {:.2f} of the dense ones, {:.2f} of compressed rows.",
                               model.layers.size(), model.source, model.dtype, model.layout,
                               model.epilogue_parts.empty() ? "" : fmt::format(", epilogue {}", model.epilogue_parts),
                               100 * (1 - nonzeros / elements), packed,
                               static_cast<double>(packed) / static_cast<double>(dense),
                               static_cast<double>(packed) / static_cast<double>(csr))) +
         paragraph(fmt::format("{} kernels serve them; {} of these were compared with the loop nest, interpreted in "
                               "double. {} tensors have no kernel.",
                               model.kernels.size(), verified, model.left_out.size()));
}

/// What the layers are expected to take, where measurements of layers like them say it.
std::string expectations(const ModelBundle& model) {
  const Table table = expected_table(model);
  return table.rows.empty() ? "" : paragraph("Expected, by measurements of layers like these:") + html(table);
}

std::string totals(const MeasuredTimes& times) {
  if (times.layers.empty()) {
    return paragraph(
        "No times of this network were given. replace_linear of the Python package measures them, and save() of its "
        "report writes them "
        "for --measured.");
  }
  return paragraph(fmt::format("Times were measured in a network on one {}, beside the dense product of PyTorch.",
                               times.gpu)) +
         html(total_table(times));
}

std::string picture(const ModelLayer& layer, const DensityRaster& raster) {
  const double densest = raster.densest();
  return fmt::format(
      "<figure><img alt=\"Pattern of {0}\" src=\"data:image/png;base64,{1}\"/><figcaption>{0}<br/>{2} x {3}, {4} "
      "non-zeros; black: {5:.0f} %</figcaption></figure>\n",
      escaped(layer.name), base64(grey_png(raster)), layer.rows, layer.columns, layer.nonzeros, 100 * densest);
}

std::string pictures(const ModelBundle& model, const std::map<std::string, DensityRaster>& patterns) {
  if (patterns.empty()) {
    return {};
  }
  std::string text = heading(2, "Patterns") +
                     paragraph(
                         "Where the non-zeros of a layer are: white where there is none, black where they are densest. "
                         "An even grey is a pattern without structure.") +
                     "<div class=\"patterns\">\n";
  for (const ModelLayer& layer : model.layers) {
    if (const auto found = patterns.find(layer.name); found != patterns.end()) {
      text += picture(layer, found->second);
    }
  }
  return text + "</div>\n";
}

}  // namespace

std::string model_page(const ModelBundle& model, const std::map<std::string, DensityRaster>& patterns,
                       const MeasuredTimes& times) {
  const std::string title = fmt::format("{}: kernels of its layers", model.name);
  std::string text = heading(1, title) + summary(model) + expectations(model) + totals(times);
  text += heading(2, "Layers") + html(layer_table(model, times)) + pictures(model, patterns);
  text += heading(2, "Kernels") + folded("All kernels", kernel_table(model));
  if (!model.left_out.empty()) {
    text += heading(2, "Without a kernel") + folded("All tensors without one", left_out_table(model));
  }
  return html_page(title, text);
}

}  // namespace esc
