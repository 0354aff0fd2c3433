// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/freedom.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "generator/support/error.h"

namespace esc {
namespace {

/// Words that give a variable another lifetime than its block's, or a function another caller.
constexpr std::array<std::string_view, 10> words_of_storage = {"static",   "thread_local", "mutable",    "extern",
                                                               "register", "__constant__", "__device__", "__global__",
                                                               "__host__", "__managed__"};

/// Whether nvcc compiles a function for devices alone, and no constant can come from it.
bool is_device_function(const PolicyText& text, const Declaration& it) {
  return it.kind == DeclarationKind::function && text.is_marked(it, "__device__") && !text.is_marked(it, "constexpr");
}

/// The declarations of a part of the generated text, from `first` to before `last`.
using Part = Piece;

/// What host code says, by itself or by way of the constants, types and functions that it names.
Words words_of_the_host(const PolicyText& text, const Part& open) {
  Words words;
  const auto add = [&](std::size_t first, std::size_t last) {
    for (std::size_t at = first; at < last; ++at) {
      words.insert(text.token(at).text);
    }
  };
  std::vector<const Declaration*> left;
  for (std::size_t i = 0; i < text.declarations().size(); ++i) {
    const Declaration& it = text.declarations()[i];
    const bool is_inside = i >= open.first && i < open.last;
    if (is_inside && is_kernel(text, it)) {
      add(it.first, it.body);
    } else if (!is_inside || text.is_conditional(i) || !has_simple_form(it)) {
      add(it.first, it.last);
    } else if (is_device_function(text, it)) {
      continue;
    } else if (it.name.starts_with("operator")) {  // which is used without its name
      words.insert(it.name);
      add(it.first, it.last);
    } else {
      left.push_back(&it);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Declaration*& it : left) {
      if (it != nullptr && words.contains(it->name)) {
        add(it->first, it->last);
        it = nullptr;
        changed = true;
      }
    }
  }
  return words;
}

/// What a part of the generated text has that the open declarations of another text may have as well.
void collect(const PolicyText& text, const Declaration& it, Freedom& freedom) {
  const Inside inside = inside_of(text, it);
  for (const std::vector<Piece>& pieces : {inside.conditionals, inside.directives}) {
    for (const Piece& piece : pieces) {
      freedom.parts.insert(text.print(piece));
    }
  }
  for (const std::size_t at : inside.plain) {
    freedom.words.insert(text.token(at).text);
    if (text.is(at, "asm")) {
      freedom.assembly.insert(assembly_at(text, at));
    }
    if (is_word_of_storage(text.token(at).text)) {
      freedom.statements.insert(statement_at(text, it, at));
    }
  }
}

Freedom freedom_of(const PolicyText& text, const Part& open, const std::function<bool(const Declaration&)>& is_open) {
  Freedom freedom;
  for (std::size_t i = 0; i < text.declarations().size(); ++i) {
    const Declaration& it = text.declarations()[i];
    const bool is_inside = i >= open.first && i < open.last;
    if (i == open.first && is_inside) {
      freedom.first_gap = freedom.fixed.size();
    }
    if (is_inside && it.kind != DeclarationKind::directive) {
      collect(text, it, freedom);
    }
    if (is_inside && !text.is_conditional(i) && has_simple_form(it) && is_open(it)) {
      freedom.open_texts.insert(text.print(it));
      (is_kernel(text, it) ? freedom.kernel_heads : freedom.open_names)
          .insert(is_kernel(text, it) ? text.head_of(it) : it.name);
    } else {
      freedom.fixed.push_back(i);
      if (!it.name.empty()) {
        freedom.fixed_names.insert(it.name);
      }
    }
    if (is_inside) {
      freedom.last_gap = freedom.fixed.size();
    }
  }
  return freedom;
}

}  // namespace

bool is_kernel(const PolicyText& text, const Declaration& it) {
  return it.kind == DeclarationKind::function && text.is_marked(it, "__global__");
}

bool has_simple_form(const Declaration& it) {
  return it.kind != DeclarationKind::directive && it.kind != DeclarationKind::scope &&
         it.kind != DeclarationKind::other;
}

bool is_word_of_storage(std::string_view word) {
  return std::ranges::find(words_of_storage, word) != words_of_storage.end();
}

std::string assembly_at(const PolicyText& text, std::size_t at) {
  std::size_t end = at + 1;
  end += text.is(end, "volatile") ? 1 : 0;
  end += text.is(end, "(") ? 1 : 0;
  while (end < text.tokens().size() && text.token(end).kind == SourceToken::Kind::literal) {
    ++end;
  }
  return text.print(Piece{at, end});
}

std::string statement_at(const PolicyText& text, const Declaration& declaration, std::size_t at) {
  const auto separates = [&](std::size_t token) {
    return text.is(token, ";") || text.is(token, "{") || text.is(token, "}");
  };
  Piece statement{at, at};
  while (statement.first > declaration.first && !separates(statement.first - 1)) {
    --statement.first;
  }
  while (statement.last < declaration.last && !separates(statement.last)) {
    ++statement.last;
  }
  return text.print(statement);
}

Freedom freedom_of_kernel(const PolicyText& text) {
  const std::vector<Declaration>& all = text.declarations();
  std::size_t last = all.size();
  std::size_t boundaries = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    boundaries += text.is_boundary(i) ? 1 : 0;
    last = text.is_boundary(i) ? i : last;
  }
  std::size_t first = 0;
  while (first < all.size() && all[first].kind == DeclarationKind::directive) {
    ++first;
  }
  const Part open = boundaries > 1 ? Part{first, last} : Part{0, 0};  // a layer without non-zeros has no kernel
  const Words host = words_of_the_host(text, open);
  return freedom_of(text, open, [&](const Declaration& it) {
    return is_kernel(text, it) || is_device_function(text, it) || !host.contains(it.name);
  });
}

Freedom freedom_of_transformer(const PolicyText& text) {
  const std::vector<Declaration>& all = text.declarations();
  const auto first =
      std::ranges::find_if(all, [](const Declaration& it) { return it.kind != DeclarationKind::directive; });
  const auto status = std::find_if(first, all.end(), [&](const Declaration& it) {
    return text.is(it.first, "enum") && text.is(it.first + 1, "Status");
  });
  ESC_CHECK(status != all.end(), "a generated transformer has its statuses before its C functions");
  return freedom_of(text,
                    {static_cast<std::size_t>(first - all.begin()), static_cast<std::size_t>(status - all.begin())},
                    [](const Declaration&) { return true; });
}

}  // namespace esc
