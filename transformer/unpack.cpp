#include "transformer/unpack.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "transformer/panel_sources.h"
#include "transformer/unverified_bytes.h"

namespace esc::transformer {
namespace {

PackedHeader checked_header(std::span<const std::byte> packed) {
  const auto header = load_header<PackedHeader>(packed, magic_text, format_version);
  constexpr std::uint64_t largest_size = std::numeric_limits<std::int32_t>::max();
  check_range("rows", header.rows, 1, largest_size);
  check_range("columns", header.columns, 1, largest_size);
  check_range("height", header.height, 1, max_height);
  check_range("the type of ANNZ", header.section_types[section_count - 1], static_cast<std::uint32_t>(ScalarType::f32),
              static_cast<std::uint32_t>(ScalarType::f64));
  check_range("max_list_columns", header.max_list_columns, 1, std::numeric_limits<std::uint32_t>::max());
  check_range("nonzeros", header.nonzeros, 0, packed.size());
  check_range("listed_columns", header.listed_columns, 0, header.nonzeros);
  check_range("lists", header.lists, 0, header.listed_columns);
  return header;
}

/// The lists of one packed matrix, read from bytes of any alignment.
class Lists {
 public:
  Lists(std::span<const std::byte> bytes, const PackedFormat& format)
      : bytes_(bytes),
        format_(format),
        narrow_pointer_(format.section(SectionId::rpp).type == ScalarType::u32),
        narrow_column_(format.section(SectionId::cols).type == ScalarType::u16) {}

  std::uint64_t count() const { return format_.counts.lists; }
  std::int64_t panel(std::uint64_t list) const { return element<std::uint32_t>(SectionId::panels, list); }
  std::uint64_t pattern(std::uint64_t list) const { return element<std::uint8_t>(SectionId::patterns, list); }
  std::uint64_t rpp(std::uint64_t list) const { return pointer(SectionId::rpp, list); }
  std::uint64_t npp(std::uint64_t list) const { return pointer(SectionId::npp, list); }
  std::int64_t column(std::uint64_t index) const {
    return narrow_column_ ? element<std::uint16_t>(SectionId::cols, index)
                          : element<std::uint32_t>(SectionId::cols, index);
  }
  double value(std::uint64_t index) const {
    const Section& section = format_.section(SectionId::annz);
    return load_element(section.type, bytes_, section.offset + index * size_of(section.type));
  }

 private:
  template <typename Element>
  Element element(SectionId id, std::uint64_t index) const {
    return load<Element>(bytes_, format_.section(id).offset + index * sizeof(Element));
  }
  std::uint64_t pointer(SectionId id, std::uint64_t list) const {
    return narrow_pointer_ ? element<std::uint32_t>(id, list) : element<std::uint64_t>(id, list);
  }

  std::span<const std::byte> bytes_;
  const PackedFormat& format_;
  bool narrow_pointer_;
  bool narrow_column_;
};

void check_padding(std::span<const std::byte> packed, const PackedFormat& format) {
  for (const Section& section : format.sections) {
    for (std::uint64_t at = section.end(); at < aligned(section.end()); ++at) {
      if (packed[at] != std::byte{0}) {
        refuse("byte {}, between sections, is not zero", at);
      }
    }
  }
}

/// RPP and NPP begin and end where they must, and the list lengths and patterns in between agree with them.
void check_pointers(const Lists& lists, const PackedFormat& format) {
  if (lists.rpp(0) != 0 || lists.npp(0) != 0) {
    refuse("list 0 does not start at the first column and value");
  }
  for (std::uint64_t list = 0; list < lists.count(); ++list) {
    const std::uint64_t pattern = lists.pattern(list);
    const std::uint64_t begin = lists.rpp(list);
    const std::uint64_t end = lists.rpp(list + 1);
    if (lists.panel(list) >= format.shape.panels()) {
      refuse("list {} belongs to panel {} of {}", list, lists.panel(list), format.shape.panels());
    }
    if (pattern == 0 || pattern >> format.shape.rows_in(lists.panel(list)) != 0) {
      refuse("list {} has pattern {}, which its panel of {} rows cannot have", list, pattern,
             format.shape.rows_in(lists.panel(list)));
    }
    if (end <= begin || end > format.counts.columns || end - begin > format.shape.max_list_columns) {
      refuse("list {} has the columns {} up to {}; a list has 1 to {} of the {} columns", list, begin, end,
             format.shape.max_list_columns, format.counts.columns);
    }
    const std::uint64_t values = (end - begin) * popcount(pattern);
    if (lists.npp(list + 1) != lists.npp(list) + values) {
      refuse("list {} has the values {} up to {}; its columns and pattern ask for {}", list, lists.npp(list),
             lists.npp(list + 1), values);
    }
  }
  if (lists.rpp(lists.count()) != format.counts.columns || lists.npp(lists.count()) != format.counts.nonzeros) {
    refuse("the last list ends at column {} and value {} of {} and {}", lists.rpp(lists.count()),
           lists.npp(lists.count()), format.counts.columns, format.counts.nonzeros);
  }
}

/// Lists ascend by panel and pattern, and only a full list is continued.
void check_order(const Lists& lists, const PackedFormat& format) {
  for (std::uint64_t list = 1; list < lists.count(); ++list) {
    const auto previous = std::pair(lists.panel(list - 1), lists.pattern(list - 1));
    const auto current = std::pair(lists.panel(list), lists.pattern(list));
    if (current < previous) {
      refuse("list {} (panel {}, pattern {}) does not come after list {} (panel {}, pattern {})", list, current.first,
             current.second, list - 1, previous.first, previous.second);
    }
    if (current == previous && lists.rpp(list) - lists.rpp(list - 1) != format.shape.max_list_columns) {
      refuse("list {} continues list {}, which is not full", list, list - 1);
    }
  }
}

/// Columns lie in the matrix and ascend within a pattern of a panel, across the lists that it is cut into.
void check_columns(const Lists& lists, const PackedFormat& format) {
  std::int64_t previous = -1;
  for (std::uint64_t list = 0; list < lists.count(); ++list) {
    const bool continued =
        list > 0 && lists.panel(list) == lists.panel(list - 1) && lists.pattern(list) == lists.pattern(list - 1);
    previous = continued ? previous : -1;
    for (std::uint64_t index = lists.rpp(list); index < lists.rpp(list + 1); ++index) {
      const std::int64_t column = lists.column(index);
      if (column >= format.shape.columns) {
        refuse("list {} has column {} of a matrix of {} columns", list, column, format.shape.columns);
      }
      if (column <= previous) {
        refuse("the columns of list {} do not ascend: {} comes after {}", list, column, previous);
      }
      previous = column;
    }
  }
}

void check_values(const Lists& lists, const PackedFormat& format) {
  for (std::uint64_t index = 0; index < format.counts.nonzeros; ++index) {
    if (lists.value(index) == 0.0f) {
      refuse("value {} is zero", index);
    }
  }
}

/// One column of a panel, and where its values stand.
struct PanelColumn {
  std::int64_t column;
  std::uint64_t pattern;
  std::uint64_t values;
};

/// Appends the rows of one panel, whose columns ascend, to the matrix.
void append_rows(std::span<const PanelColumn> columns, std::uint32_t row_count, const Lists& lists, CsrMatrix& matrix) {
  std::size_t next[max_height] = {};
  for (const PanelColumn& column : columns) {
    for (std::uint32_t r = 0; r < row_count; ++r) {
      next[r] += column.pattern >> r & 1;
    }
  }
  std::size_t start = matrix.column_of.size();
  for (std::uint32_t r = 0; r < row_count; ++r) {
    start += std::exchange(next[r], start);
    matrix.offsets.push_back(static_cast<std::int64_t>(start));
  }
  matrix.column_of.resize(start);
  matrix.values.resize(start);
  for (const PanelColumn& column : columns) {
    std::uint64_t value = column.values;
    for (std::uint64_t rows = column.pattern; rows != 0; rows &= rows - 1) {
      const std::size_t at = next[lowest_set(rows)]++;
      matrix.column_of[at] = static_cast<std::int32_t>(column.column);
      matrix.values[at] = lists.value(value++);
    }
  }
}

}  // namespace

PackedFormat read_format(std::span<const std::byte> packed) {
  const PackedHeader header = checked_header(packed);
  const PackedShape shape{static_cast<std::int64_t>(header.rows), static_cast<std::int64_t>(header.columns),
                          header.height, header.max_list_columns,
                          static_cast<ScalarType>(header.section_types[section_count - 1])};
  const PackedFormat format = describe(shape, {header.lists, header.listed_columns, header.nonzeros});
  const PackedHeader expected = make_header(format, header.payload_checksum);
  if (const HeaderField* field = first_difference(header, expected)) {
    refuse("the header field {} at byte {} does not agree with the other fields", field->name, field->offset);
  }
  return format;
}

CsrMatrix unpack(std::span<const std::byte> packed) {
  const PackedFormat format = read_format(packed);
  check_payload<PackedHeader>(packed);
  const Lists lists(packed, format);
  check_pointers(lists, format);
  check_order(lists, format);
  check_columns(lists, format);
  check_values(lists, format);
  check_padding(packed, format);

  CsrMatrix matrix{format.shape.rows, format.shape.columns, {0}, {}, {}, format.shape.element};
  matrix.offsets.reserve(static_cast<std::size_t>(format.shape.rows) + 1);
  matrix.column_of.reserve(format.counts.nonzeros);
  matrix.values.reserve(format.counts.nonzeros);
  std::vector<PanelColumn> columns;
  std::uint64_t list = 0;
  for (std::int64_t panel = 0; panel < format.shape.panels(); ++panel) {
    columns.clear();
    for (; list < lists.count() && lists.panel(list) == panel; ++list) {
      const std::uint64_t stride = popcount(lists.pattern(list));
      for (std::uint64_t index = lists.rpp(list); index < lists.rpp(list + 1); ++index) {
        columns.push_back(
            {lists.column(index), lists.pattern(list), lists.npp(list) + (index - lists.rpp(list)) * stride});
      }
    }
    std::ranges::sort(columns, {}, &PanelColumn::column);
    const auto twice = std::ranges::adjacent_find(columns, {}, &PanelColumn::column);
    if (twice != columns.end()) {
      refuse("column {} stands in two lists of panel {}", twice->column, panel);
    }
    append_rows(columns, format.shape.rows_in(panel), lists, matrix);
  }
  return matrix;
}

}  // namespace esc::transformer
