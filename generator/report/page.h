// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/report/table.h"

namespace esc {

/// A self-contained HTML page: no script, nothing loaded from elsewhere. `body` is HTML, `title` a text.
std::string html_page(const std::string& title, const std::string& body);

/// A text as a paragraph, and as a heading of a level from 1 on.
std::string paragraph(const std::string& text);
std::string heading(int level, const std::string& text);

/// HTML, and a long table, that is folded away until it is asked for.
std::string folded(const std::string& what, const std::string& content);
std::string folded(const std::string& what, const Table& table);

}  // namespace esc
