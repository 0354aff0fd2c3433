// SPDX-License-Identifier: Apache-2.0
#include "generator/model/survey.h"

#include <tbb/parallel_for_each.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>

#include "generator/matrix/round_values.h"
#include "generator/matrix/sha256.h"
#include "generator/matrix/statistics.h"
#include "generator/model/scipy_matrix.h"
#include "generator/model/weight_source.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// Elements that are looked at together: so many that they and what is made of them stay in a core's cache, and a
/// multiple of 64.
constexpr std::size_t chunk_elements = std::size_t{1} << 15;
constexpr std::size_t word_bits = 64;

/// The bits of a float, and what they say.
template <StoredElement element>
struct Bits;
template <>
struct Bits<StoredElement::float64> {
  using Word = std::uint64_t;
  static constexpr Word infinity = 0x7ff0000000000000;
};
template <>
struct Bits<StoredElement::float32> {
  using Word = std::uint32_t;
  static constexpr Word infinity = 0x7f800000;
};
template <>
struct Bits<StoredElement::float16> {
  using Word = std::uint16_t;
  static constexpr Word infinity = 0x7c00;
};
template <>
struct Bits<StoredElement::bfloat16> {
  using Word = std::uint16_t;
  static constexpr Word infinity = 0x7f80;
};

/// One bit for each element of a matrix, set where it is not zero, row after row without gaps.
class NonzeroBits {
 public:
  explicit NonzeroBits(std::uint64_t elements) : words_((elements + word_bits - 1) / word_bits, 0) {}

  /// Bits of `elements` from `first` on, a multiple of 64. Each is a byte of 0 or 1.
  void set(std::uint64_t first, std::span<const std::uint8_t> nonzero) {
    std::size_t at = 0;
    for (; at + 8 <= nonzero.size(); at += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, nonzero.data() + at, sizeof eight);
      // Bit 0 of byte b goes to bit 56 + b.
      const std::uint64_t packed = (eight * 0x0102040810204080) >> 56;
      words_[(first + at) / word_bits] |= packed << ((first + at) % word_bits);
    }
    for (; at < nonzero.size(); ++at) {
      words_[(first + at) / word_bits] |= static_cast<std::uint64_t>(nonzero[at]) << ((first + at) % word_bits);
    }
  }

  /// How many of the bits from `begin` to `end` are set.
  std::int64_t count(std::uint64_t begin, std::uint64_t end) const {
    std::int64_t sum = 0;
    for_each_word(begin, end, [&](std::uint64_t, std::uint64_t word) { sum += std::popcount(word); });
    return sum;
  }

  /// Whether of each four bits from `begin` to `end` two at most are set.
  bool has_two_of_four(std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t at = begin; at < end; at += word_bits) {
      const std::uint64_t word = bits_at(at, std::min<std::uint64_t>(word_bits, end - at));
      const std::uint64_t pairs = word - (word >> 1 & 0x5555555555555555);
      const std::uint64_t fours = (pairs & 0x3333333333333333) + (pairs >> 2 & 0x3333333333333333);
      if (((fours + 0x5555555555555555) & 0x8888888888888888) != 0) {  // 3 and 4 become 8 and 9
        return false;
      }
    }
    return true;
  }

  /// Calls visit(place of the word's first bit, word) for the words of the bits from `begin` to `end`, other bits
  /// cleared.
  template <typename Visit>
  void for_each_word(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
    for (std::uint64_t at = begin / word_bits; at * word_bits < end; ++at) {
      std::uint64_t word = words_[at];
      const std::uint64_t first = at * word_bits;
      if (first < begin) {
        word &= ~std::uint64_t{0} << (begin - first);
      }
      if (end - first < word_bits) {
        word &= (std::uint64_t{1} << (end - first)) - 1;
      }
      visit(first, word);
    }
  }

 private:
  /// So many bits, 1 to 64, from `first` on.
  std::uint64_t bits_at(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t shift = first % word_bits;
    std::uint64_t bits = words_[first / word_bits] >> shift;
    if (shift + count > word_bits) {
      bits |= words_[first / word_bits + 1] << (word_bits - shift);
    }
    return count == word_bits ? bits : bits & ((std::uint64_t{1} << count) - 1);
  }

  std::vector<std::uint64_t> words_;
};

/// Numbers that go into a sum together.
template <typename Number>
class Gathered {
 public:
  explicit Gathered(Sha256& sum) : sum_(sum) {}

  void add(Number number) {
    numbers_[size_++] = number;
    if (size_ == numbers_.size()) {
      flush();
    }
  }
  void flush() {
    sum_.add(std::as_bytes(std::span(numbers_).first(size_)));
    size_ = 0;
  }

 private:
  Sha256& sum_;
  std::array<Number, 4096> numbers_;
  std::size_t size_ = 0;
};

/// Row by row.
std::string pattern_sum(const Weight& weight, const NonzeroBits& bits, const std::vector<std::int64_t>& lengths) {
  Sha256 sum;
  const std::int64_t nonzeros = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  Gathered<std::int64_t> offsets(sum);
  for (const std::int64_t number : {weight.rows(), weight.columns(), nonzeros, std::int64_t{0}}) {
    offsets.add(number);
  }
  std::int64_t offset = 0;
  for (const std::int64_t length : lengths) {
    offsets.add(offset += length);
  }
  offsets.flush();
  const auto columns = static_cast<std::uint64_t>(weight.columns());
  Gathered<std::int32_t> indices(sum);
  for (std::uint64_t row = 0; row < lengths.size(); ++row) {
    bits.for_each_word(row * columns, (row + 1) * columns, [&](std::uint64_t first, std::uint64_t word) {
      for (; word != 0; word &= word - 1) {
        indices.add(
            static_cast<std::int32_t>(first + static_cast<std::uint64_t>(std::countr_zero(word)) - row * columns));
      }
    });
  }
  indices.flush();
  return sum.hex();
}

/// Of a weight whose elements come row after row.
template <StoredElement element>
WeightSurvey survey_rows(const Weight& weight, StageProgress& progress) {
  using Word = typename Bits<element>::Word;
  const std::uint64_t elements =
      static_cast<std::uint64_t>(weight.rows()) * static_cast<std::uint64_t>(weight.columns());
  const auto source = open_weight(weight);
  NonzeroBits bits(elements);
  Sha256 values;
  WeightSurvey survey;
  std::vector<Word> chunk(chunk_elements);
  std::vector<Word> kept(chunk_elements);
  std::vector<std::uint8_t> nonzero(chunk_elements);
  for (std::uint64_t first = 0; first < elements; first += chunk_elements) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(chunk_elements, elements - first));
    if (source->read(std::as_writable_bytes(std::span(chunk).first(count))) < count * sizeof(Word)) {
      refuse_change(*source);
    }
    std::uint32_t nonfinite = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto magnitude = static_cast<Word>(chunk[i] & static_cast<Word>(static_cast<Word>(~Word{0}) >> 1));
      nonzero[i] = magnitude != 0 ? 1 : 0;
      nonfinite += magnitude >= Bits<element>::infinity ? 1 : 0;
    }
    survey.nonfinite += nonfinite;
    bits.set(first, std::span(nonzero).first(count));
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      kept[found] = chunk[i];
      found += nonzero[i];
    }
    values.add(std::as_bytes(std::span(kept).first(found)));
    progress.advance(count * sizeof(Word));
  }
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(weight.rows()));
  const auto columns = static_cast<std::uint64_t>(weight.columns());
  survey.sparse24 = true;
  for (std::uint64_t row = 0; row < lengths.size(); ++row) {
    lengths[row] = bits.count(row * columns, (row + 1) * columns);
    survey.sparse24 = survey.sparse24 && bits.has_two_of_four(row * columns, (row + 1) * columns);
  }
  const auto [shortest, longest] = std::ranges::minmax_element(lengths);
  survey.shortest_row = *shortest;
  survey.longest_row = *longest;
  survey.nonzeros = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  survey.fingerprint = {pattern_sum(weight, bits, lengths), values.hex()};
  return survey;
}

ScalarType scalar_type(StoredElement element) {
  switch (element) {
    case StoredElement::float16:
      return ScalarType::f16;
    case StoredElement::bfloat16:
      return ScalarType::bf16;
    case StoredElement::float32:
      return ScalarType::f32;
    default:
      return ScalarType::f64;
  }
}

/// Of a weight that is read as a matrix: SciPy's, and columns one after the other.
WeightSurvey survey_matrix(const Weight& weight, StageProgress& progress) {
  const ScalarType type = scalar_type(*weight.type->element);
  SparseMatrix matrix =
      read_weight(weight, {.allow_nonfinite = true, .element = type == ScalarType::f32 ? type : ScalarType::f64});
  if (is_half(type)) {
    round_values(matrix, type);
  }
  progress.advance(weight.stored_bytes());
  const LengthStatistics lengths = row_statistics(matrix);
  return {.nonzeros = matrix.nonzeros(),
          .nonfinite = std::ranges::count_if(matrix.values, [](double value) { return !std::isfinite(value); }),
          .shortest_row = lengths.shortest,
          .longest_row = lengths.longest,
          .sparse24 = is_sparse24(matrix),
          .fingerprint = fingerprint(matrix)};
}

}  // namespace

WeightSurvey survey_weight(const Weight& weight, StageProgress& progress) {
  ESC_CHECK(why_no_matrix(weight).empty(), "only matrices are surveyed");
  if (is_scipy(weight.form) || dense_array(weight).is_fortran_order) {
    return survey_matrix(weight, progress);
  }
  switch (*weight.type->element) {
    case StoredElement::float16:
      return survey_rows<StoredElement::float16>(weight, progress);
    case StoredElement::bfloat16:
      return survey_rows<StoredElement::bfloat16>(weight, progress);
    case StoredElement::float32:
      return survey_rows<StoredElement::float32>(weight, progress);
    default:
      return survey_rows<StoredElement::float64>(weight, progress);
  }
}

std::vector<WeightSurvey> survey_weights(const std::vector<const Weight*>& weights, StageProgress& progress) {
  std::uint64_t bytes = 0;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const Weight* weight : weights) {
    bytes += weight->stored_bytes();
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t number) { return weights[number]->stored_bytes(); });
  progress.begin("reading values", bytes);
  std::vector<WeightSurvey> surveys(weights.size());
  tbb::parallel_for_each(order,
                         [&](std::size_t number) { surveys[number] = survey_weight(*weights[number], progress); });
  return surveys;
}

}  // namespace esc
