// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace esc {

/// A large number at the head of a page: "0.51", what it counts, and how much of a bar it fills.
struct LeadingFigure {
  std::string value;
  std::string meaning;
  std::optional<double> share = {};
};

/// The head of a page: one sentence that answers what a reader asks first, and a few figures.
std::string answer(const std::string& sentence, const std::vector<LeadingFigure>& figures);

/// A row of a bar chart: the full bar is 1, and a share above 1 fills it in the colour of a warning.
struct Bar {
  std::string name;
  double share = 0;
  std::string value;
};

/// Bars below each other, each with its name and its value as text.
std::string bar_chart(const std::vector<Bar>& bars);

/// "795 KB in place of 1.6 MB", whose numbers stay on one line with their units.
std::string bytes_in_place_of(double bytes, double dense);

/// Bytes beside those of dense weights as a figure and as a bar: "0.51", "795 KB in place of 1.6 MB".
LeadingFigure bytes_figure(double bytes, double dense);
Bar bytes_bar(const std::string& name, double bytes, double dense);

}  // namespace esc
