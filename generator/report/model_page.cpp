// SPDX-License-Identifier: Apache-2.0
#include "generator/report/model_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "generator/emit/model_speed.h"
#include "generator/report/answer.h"
#include "generator/report/grey_png.h"
#include "generator/report/model_tables.h"
#include "generator/report/page.h"
#include "generator/support/escaped.h"

namespace esc {
namespace {

/// Sums over all layers that have kernels.
struct ModelBytes {
  double packed = 0;
  double dense = 0;
  double csr = 0;
};

ModelBytes bytes_of(const ModelBundle& model) {
  ModelBytes bytes;
  for (const ModelLayer& layer : model.layers) {
    bytes.packed += static_cast<double>(layer.packed_bytes());
    bytes.dense += static_cast<double>(dense_bytes(model, layer));
    bytes.csr += static_cast<double>(csr_bytes(model, layer));
  }
  return bytes;
}

/// How many layers run on generated kernels, and how many do not: for want of a kernel, or because dense was faster.
LeadingFigure replaced_figure(const ModelBundle& model, const MeasuredTimes& times) {
  const auto kept = static_cast<std::size_t>(std::ranges::count_if(model.layers, [&times](const ModelLayer& layer) {
    const auto found = times.layers.find(layer.name);
    return found != times.layers.end() && !found->second.kept.empty();
  }));
  const std::size_t all = model.layers.size() + model.left_out.size();
  const std::size_t replaced = model.layers.size() - kept;
  return {fmt::format("{} of {}", replaced, all), fmt::format("layers are replaced; {} stay dense", all - replaced)};
}

std::string figure_of(double ratio) { return fmt::format("{:.2f} x", ratio); }

LeadingFigure measured_figure(const MeasuredTimes& times) {
  const std::vector<TotalTime> totals = total_times(times);
  std::string others;
  for (const TotalTime& total : std::span(totals).subspan(1)) {
    others += fmt::format("{} {:.2f} x at N = {}", others.empty() ? ";" : ",", total.speed_up(), total.columns);
  }
  return {figure_of(totals.front().speed_up()), fmt::format("as fast as dense at N = {}, measured in a network on {}{}",
                                                            totals.front().columns, times.gpu, others)};
}

std::string range_of(const std::vector<double>& ratios) {
  const auto [least, greatest] = std::ranges::minmax(ratios);
  return least == greatest ? figure_of(least) : fmt::format("{:.2f} to {}", least, figure_of(greatest));
}

/// The least and the greatest ratio over dense products by prediction; nothing where there is none.
std::optional<LeadingFigure> predicted_figure(const ModelBundle& model) {
  std::vector<double> predicted;
  std::string device;
  for (const ModelLayer& layer : model.layers) {
    for (const ModelVariant& variant : layer.variants) {
      if (variant.beside_dense) {
        predicted.push_back(variant.beside_dense->over_dense());
        device = variant.beside_dense->device;
      }
    }
  }
  if (predicted.empty()) {
    return std::nullopt;
  }
  return LeadingFigure{range_of(predicted),
                       fmt::format("as fast as dense, as it is predicted for the {}; not measured", device)};
}

/// How fast the layers are beside dense ones, by the surest source that there is.
LeadingFigure speed_figure(const ModelBundle& model, const MeasuredTimes& times) {
  if (!times.columns().empty()) {
    return measured_figure(times);
  }
  ModelSpeed sums;
  for (const ModelLayer& layer : model.layers) {
    add_expected_times(sums, layer);
  }
  if (!sums.empty()) {
    const auto& [key, sum] = *sums.begin();
    return {"about " + figure_of(sum.library / sum.ours),
            fmt::format("as fast as the faster of cuBLAS and cuSPARSE at N = {}, by measurements of {} {} like these "
                        "on {}",
                        key.second, sum.layers, sum.layers == 1 ? "layer" : "layers", key.first)};
  }
  return predicted_figure(model).value_or(
      LeadingFigure{"not measured", "how fast it is beside dense: esc.replace_linear measures it in a network"});
}

/// What a reader asks first.
std::string head(const ModelBundle& model, const ModelBytes& bytes, const MeasuredTimes& times) {
  const std::string sentence = fmt::format(
      "{} {} of {} {} a kernel, and {} packed weights take {}.", model.layers.size(),
      model.layers.size() == 1 ? "layer" : "layers", model.source, model.layers.size() == 1 ? "has" : "have",
      model.layers.size() == 1 ? "its" : "their", bytes_in_place_of(bytes.packed, bytes.dense));
  return answer(sentence,
                {bytes_figure(bytes.packed, bytes.dense), speed_figure(model, times), replaced_figure(model, times)});
}

/// What the layers are, and how far their kernels are verified.
std::string summary(const ModelBundle& model, const ModelBytes& bytes) {
  double nonzeros = 0;
  double elements = 0;
  for (const ModelLayer& layer : model.layers) {
    nonzeros += static_cast<double>(layer.nonzeros);
    elements += static_cast<double>(layer.rows) * static_cast<double>(layer.columns);
  }
  const auto verified = std::ranges::count_if(model.kernels, [](const auto& kernel) {
    return kernel.second.verification && kernel.second.verification->passed;
  });
  return paragraph(
             fmt::format("{} layers of {} in {}, layout {}{}, {:.1f} % zeros. The packed bytes are {:.2f} of those "
                         "of compressed rows.",
                         model.layers.size(), model.source, model.dtype, model.layout,
                         model.epilogue_parts.empty() ? "" : fmt::format(", epilogue {}", model.epilogue_parts),
                         100 * (1 - nonzeros / elements), bytes.packed / bytes.csr)) +
         paragraph(fmt::format("{} kernels serve them; {} of these were compared with the loop nest, interpreted in "
                               "double. {} tensors have no kernel.",
                               model.kernels.size(), verified, model.left_out.size()));
}

std::string bytes_section(const ModelBundle& model, const ModelBytes& total) {
  std::vector<Bar> bars{bytes_bar("all layers together", total.packed, total.dense)};
  for (const ModelLayer& layer : model.layers) {
    bars.push_back(bytes_bar(layer.name, static_cast<double>(layer.packed_bytes()),
                             static_cast<double>(dense_bytes(model, layer))));
  }
  return heading(2, "Bytes beside dense") + paragraph("A full bar is the layer as a dense matrix.") + bar_chart(bars);
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
  const ModelBytes bytes = bytes_of(model);
  std::string text = heading(1, title) + head(model, bytes, times) + summary(model, bytes);
  text += bytes_section(model, bytes);
  text += heading(2, "Speed") + expectations(model) + totals(times);
  text += heading(2, "Layers") + html(layer_table(model, times)) + pictures(model, patterns);
  text += heading(2, "Kernels") + folded("All kernels", kernel_table(model));
  if (!model.left_out.empty()) {
    text += heading(2, "Without a kernel") + folded("All tensors without one", left_out_table(model));
  }
  return html_page(title, text);
}

}  // namespace esc
