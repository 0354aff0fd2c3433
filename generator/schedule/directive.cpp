// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/directive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "generator/support/identifier.h"
#include "generator/support/trimmed.h"

namespace esc {
namespace {

/// A word of a directive, and what it was called in the release before: that is read, and not printed.
struct Word {
  // NOLINTNEXTLINE(google-explicit-constructor): most words have no other name
  Word(const char* now, const char* old = "") : now(now), old(old) {}

  bool is_said_by(std::string_view text) const { return text == now || is_old(text); }
  bool is_old(std::string_view text) const { return !old.empty() && text == old; }

  std::string now;
  std::string old;
};

/// What is in the parentheses of a directive, said once for the printer, the parser and the errors: `form` goes
/// through the parts in order. A part is a name (of a loop or an array), a number, a fixed word, or a number after a
/// key, which may be left out where it is the usual one.
template <typename Form>
void form(Unroll& directive, Form& parts) {
  parts.directive("unroll");
  parts.name("LOOP", directive.loop);
  parts.number(directive.factor);
}
template <typename Form>
void form(Enumerate&, Form& parts) {
  parts.directive("enumerate");
}
template <typename Form>
void form(MapGrid& directive, Form& parts) {
  parts.directive("map");
  parts.name("LOOP", directive.loop);
  parts.word("grid");
}
template <typename Form>
void form(MapLanes& directive, Form& parts) {
  parts.directive("map");
  parts.name("LOOP", directive.loop);
  parts.word("lanes");
  parts.keyed("columns", directive.columns);
  parts.keyed("threads", directive.threads);
}
template <typename Form>
void form(Coarsen& directive, Form& parts) {
  parts.directive("coarsen");
  parts.name("LOOP", directive.loop);
  parts.number(directive.factor);
}
template <typename Form>
void form(Transform& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word("lists");
}
template <typename Form>
void form(Compact&, Form& parts) {
  parts.directive("compact");
}
template <typename Form>
void form(MergePatterns&, Form& parts) {
  parts.directive("merge");
}
template <typename Form>
void form(AssignRowTiles& directive, Form& parts) {
  parts.directive({"row_tiles", "own"});
  parts.name("LOOP", directive.loop);
  parts.keyed({"block", "panels"}, directive.row_tiles);
  parts.keyed("warp", directive.warp_row_tiles);
}
template <typename Form>
void form(TileColumns& directive, Form& parts) {
  parts.directive("tile");
  parts.name("LOOP", directive.loop);
  parts.keyed("columns", directive.columns);
  parts.keyed("vector", directive.vector);
}
template <typename Form>
void form(SplitColumns& directive, Form& parts) {
  parts.directive({"split_k", "split"});
  parts.name("LOOP", directive.loop);
  parts.keyed("warps", directive.warps);
  parts.keyed({"lane_groups", "groups"}, directive.groups);
}
template <typename Form>
void form(AccumulateSums&, Form& parts) {
  parts.directive("accumulate");
}
template <typename Form>
void form(ShuffleSums&, Form& parts) {
  parts.directive("shuffle");
}
template <typename Form>
void form(ShareSums&, Form& parts) {
  parts.directive({"reduce_warps", "share"});
}
template <typename Form>
void form(PackRegions& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word("regions");
}
template <typename Form>
void form(Vectorize& directive, Form& parts) {
  parts.directive("vectorize");
  parts.name("LOOP", directive.loop);
}
template <typename Form>
void form(BatchColumns& directive, Form& parts) {
  parts.directive({"unroll_k", "batch"});
  parts.name("LOOP", directive.loop);
  parts.number(directive.factor);
}
template <typename Form>
void form(Prefetch& directive, Form& parts) {
  parts.directive("prefetch");
  parts.name("ARRAY", directive.array);
}
template <typename Form>
void form(StageRegions& directive, Form& parts) {
  parts.directive("stage");
  parts.name("ARRAY", directive.array);
}
template <typename Form>
void form(Overlap&, Form& parts) {
  parts.directive({"pdl", "overlap"});
}
template <typename Form>
void form(CutRows& directive, Form& parts) {
  parts.directive({"split_rows", "cut"});
  parts.name("LOOP", directive.loop);
  parts.number(directive.task);
}
template <typename Form>
void form(PackTasks& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word("tasks");
  parts.number(directive.light);
}
template <typename Form>
void form(AssignTasks& directive, Form& parts) {
  parts.directive("assign");
  parts.name("LOOP", directive.loop);
  parts.keyed("warps", directive.warps);
  parts.keyed({"lane_groups", "groups"}, directive.groups);
}
template <typename Form>
void form(PlaceEpilogue&, Form& parts) {
  parts.directive("epilogue");
}

template <typename Form>
void form(Mainloop& directive, Form& parts) {
  parts.directive({"mainloop", "stream"});
  parts.name("LOOP", directive.loop);
  parts.keyed({"row_tiles", "panels"}, directive.row_tiles);
  parts.keyed("warps", directive.warps);
  parts.keyed_unless_usual({"warp_m", "rows"}, directive.rows, Mainloop::usual_rows);
  parts.keyed_unless_usual({"split_k", "share"}, directive.share, 1);
  parts.keyed_unless_usual({"tile_k", "window"}, directive.k_tile, 0);
}
template <typename Form>
void form(FragmentColumns& directive, Form& parts) {
  parts.directive("fragment");
  parts.name("LOOP", directive.loop);
  parts.number(directive.columns);
  parts.keyed_unless_usual({"warp_n", "warp"}, directive.warp, 0);
}
template <typename Form>
void form(PackFragments& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word({"sparse24", "fragments"});
}
template <typename Form>
void form(PackDense& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word("dense");
}
template <typename Form>
void form(PackListed& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word({"compressed", "listed"});
}
template <typename Form>
void form(PackPlaced& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word({"decompress", "placed"});
}
template <typename Form>
void form(PackGathered& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word("gathered");
}
template <typename Form>
void form(PackBitmap& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word("bitmap");
  parts.keyed_unless_usual("warps", directive.warps, 1);
}
template <typename Form>
void form(PackSparse24& directive, Form& parts) {
  parts.directive("transform");
  parts.name("ARRAY", directive.array);
  parts.word("sparse24_tiles");
}
template <typename Form>
void form(PipelineKTiles& directive, Form& parts) {
  parts.directive("pipeline");
  parts.name("LOOP", directive.loop);
  parts.number(directive.stages);
}
template <typename Form>
void form(PipelineTiles& directive, Form& parts) {
  parts.directive("pipeline");
  parts.name("LOOP", directive.loop);
  parts.keyed({"stages", "tiles"}, directive.tiles);
  parts.keyed({"stages_a", "units"}, directive.packed_tiles);
  parts.keyed_unless_usual("step", directive.step, PipelineTiles{}.step);
}
template <typename Form>
void form(StoreTiles& directive, Form& parts) {
  parts.directive("store");
  parts.name("ARRAY", directive.array);
}
template <typename Form>
void form(CopyInBulk&, Form& parts) {
  parts.directive("copy");
  parts.word({"tma", "bulk"});
}
template <typename Form>
void form(CopyPackedTiles&, Form& parts) {
  parts.directive("copy");
  parts.word({"bulk_a", "units"});
}
template <typename Form>
void form(ClusterIterations& directive, Form& parts) {
  parts.directive("cluster");
  parts.name("LOOP", directive.loop);
  parts.number(directive.blocks);
}
template <typename Form>
void form(WarpSpecialize& directive, Form& parts) {
  parts.directive({"warp_specialize", "ahead"});
  parts.name("ARRAY", directive.array);
}

/// Writes a directive.
class Printed {
 public:
  void directive(const Word& word) { directive_ = word.now; }
  void name(const char*, const std::string& value) { parts_.push_back(value); }
  void number(int value) { parts_.push_back(fmt::format("{}", value)); }
  void word(const Word& word) { parts_.push_back(word.now); }
  void keyed(const Word& key, int value) { parts_.push_back(fmt::format("{}={}", key.now, value)); }
  void keyed_unless_usual(const Word& key, int value, int usual) {
    if (value != usual) {
      keyed(key, value);
    }
  }

  std::string text() const { return fmt::format("{}({})", directive_, fmt::join(parts_, ", ")); }

 private:
  std::string directive_;
  std::vector<std::string> parts_;
};

/// Writes what a directive of this kind looks like.
class Described {
 public:
  void directive(const Word& word) { directive_ = word; }
  void name(const char* kind, const std::string&) { parts_.emplace_back(kind); }
  void number(int) { parts_.emplace_back("NUMBER"); }
  void word(const Word& word) { parts_.push_back(word.now); }
  void keyed(const Word& key, int) { parts_.push_back(fmt::format("{}=NUMBER", key.now)); }
  void keyed_unless_usual(const Word& key, int, int) { parts_.push_back(fmt::format("[{}=NUMBER]", key.now)); }

  const Word& directive() const { return directive_; }
  std::string text() const { return fmt::format("{}({})", directive_.now, fmt::join(parts_, ", ")); }

 private:
  Word directive_ = "";
  std::vector<std::string> parts_;
};

std::vector<std::string_view> split_at(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find_first_of(separators);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

/// Reads a directive; whether its parts were all of the right kind shows in the end.
class Read {
 public:
  Read(std::string_view name, std::vector<std::string_view> parts) : name_(name), parts_(std::move(parts)) {}

  void directive(const Word& word) { expect(word, name_); }
  void name(const char*, std::string& value) {
    const std::string_view part = take();
    matches_ = matches_ && is_identifier(part);
    value = part;
  }
  void number(int& value) { read_number(take(), value); }
  void word(const Word& word) { expect(word, take()); }
  void keyed(const Word& key, int& value) {
    const std::string_view part = take();
    const auto equals = part.find('=');
    matches_ = matches_ && equals != std::string_view::npos;
    expect(key, trimmed(part.substr(0, equals)));
    if (matches_) {
      read_number(trimmed(part.substr(equals + 1)), value);
    }
  }
  void keyed_unless_usual(const Word& key, int& value, int usual) {
    value = usual;
    if (next_ != parts_.size() && key.is_said_by(trimmed(parts_[next_].substr(0, parts_[next_].find('='))))) {
      keyed(key, value);
    }
  }

  bool matches() const { return matches_ && next_ == parts_.size(); }
  const std::vector<OldWord>& old_words() const { return old_words_; }

 private:
  void expect(const Word& word, std::string_view said) {
    matches_ = matches_ && word.is_said_by(said);
    if (word.is_old(said)) {
      old_words_.push_back({word.old, word.now});
    }
  }
  std::string_view take() {
    if (next_ == parts_.size()) {
      matches_ = false;
      return "";
    }
    return parts_[next_++];
  }
  void read_number(std::string_view text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    matches_ = matches_ && !text.empty() && error == std::errc() && end == text.data() + text.size();
  }

  std::string_view name_;
  std::vector<std::string_view> parts_;
  std::vector<OldWord> old_words_;
  std::size_t next_ = 0;
  bool matches_ = true;
};

template <std::size_t... indices>
std::vector<Directive> one_of_each(std::index_sequence<indices...>) {
  return {Directive(std::variant_alternative_t<indices, Directive>{})...};
}

const std::vector<Directive>& kinds() {
  static const std::vector<Directive> all = one_of_each(std::make_index_sequence<std::variant_size_v<Directive>>{});
  return all;
}

Described description(Directive kind) {
  Described described;
  std::visit([&](auto& one) { form(one, described); }, kind);
  return described;
}

[[noreturn]] void refuse(std::string_view text, const std::string& word) {
  std::vector<std::string> forms;
  std::vector<std::string> names;
  for (const Directive& kind : kinds()) {
    const Described described = description(kind);
    if (described.directive().is_said_by(word)) {
      forms.push_back(described.text());
    } else if (std::find(names.begin(), names.end(), described.directive().now) == names.end()) {
      names.push_back(described.directive().now);
    }
  }
  if (forms.empty()) {
    throw ScheduleError(std::string(text), fmt::format("there is no directive '{}'", word),
                        fmt::format("the directives are {}", fmt::join(names, ", ")));
  }
  throw ScheduleError(std::string(text), fmt::format("is not of the form of {}", word),
                      fmt::format("write {}", fmt::join(forms, " or ")));
}

/// A directive as it was read, with the old words that say it.
struct ReadDirective {
  Directive directive;
  std::vector<OldWord> old_words;
};

ReadDirective read_directive(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const auto opening = whole.find('(');
  const std::string word(trimmed(whole.substr(0, opening)));
  if (opening == std::string_view::npos || whole.back() != ')') {
    refuse(whole, word);
  }
  const std::string_view inside = trimmed(whole.substr(opening + 1, whole.size() - opening - 2));
  const std::vector<std::string_view> parts = inside.empty() ? std::vector<std::string_view>{} : split_at(inside, ",");
  for (Directive kind : kinds()) {
    Read read(word, parts);
    std::visit([&](auto& one) { form(one, read); }, kind);
    if (read.matches()) {
      return {kind, read.old_words()};
    }
  }
  refuse(whole, word);
}

std::vector<ReadDirective> read_script(std::string_view text) {
  std::vector<ReadDirective> directives;
  for (const std::string_view line : split_at(text, "\n")) {
    for (const std::string_view one : split_at(line.substr(0, line.find('#')), ";")) {
      if (!one.empty()) {
        directives.push_back(read_directive(one));
      }
    }
  }
  if (directives.empty()) {
    throw ScheduleError("script", "has no directive", "write directives separated by ';' or on lines of their own");
  }
  return directives;
}

}  // namespace

std::string print(const Directive& directive) {
  Printed printed;
  Directive copy = directive;
  std::visit([&](auto& one) { form(one, printed); }, copy);
  return printed.text();
}

std::string print(const std::vector<Directive>& directives) {
  std::string joined;
  for (const Directive& directive : directives) {
    joined += (joined.empty() ? "" : "; ") + print(directive);
  }
  return joined;
}

Directive parse_directive(std::string_view text) { return read_directive(text).directive; }

std::vector<Directive> parse_script(std::string_view text) {
  std::vector<Directive> directives;
  for (const ReadDirective& read : read_script(text)) {
    directives.push_back(read.directive);
  }
  return directives;
}

std::vector<OldWord> old_words_in(std::string_view script) {
  std::vector<OldWord> words;
  for (const ReadDirective& read : read_script(script)) {
    for (const OldWord& word : read.old_words) {
      if (std::ranges::find(words, word) == words.end()) {
        words.push_back(word);
      }
    }
  }
  return words;
}

std::optional<int> row_tile_rows(const std::vector<Directive>& directives) {
  // The last one counts: unroll(i, 1) leaves the loop as it is, and may be before another.
  std::optional<int> rows;
  for (const Directive& directive : directives) {
    if (const auto* unrolled = std::get_if<Unroll>(&directive)) {
      rows = unrolled->factor;
    }
  }
  return rows;
}

}  // namespace esc
