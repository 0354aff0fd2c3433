// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/confined_transformer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "generator/support/error.h"
#include "generator/verify/emulated_transformer.h"
#include "generator/verify/transformer_cases.h"
#include "generator/verify/transformer_check.h"

namespace esc {
namespace {

/// What is asked for, which is also the kind of the answer.
enum Kind : std::uint32_t {
  ready,  ///< answer: packed bytes; not asked for
  // Asked: place of a and leading dimension, or places of offsets, columns and values; where something is packed its
  // place; and of how many bytes that may be. Answer: status, or bytes.
  pack_dense,
  pack_csr,
  pack_dense_into,
  pack_csr_into,
  measure_dense,
  measure_csr,
  load_file,   ///< asked: kind of path, place of the contents, their bytes, place of packed; answer: status
  tell_error,  ///< answer: text
  tell_faults  ///< answer: texts
};

/// The place of an array that is null.
constexpr std::uint64_t nowhere = ~std::uint64_t{0};

/// Addresses differ from multiples of this by as much in either process.
constexpr std::size_t kept_alignment = 64;

/// By how many bytes a file may be longer than the packed matrix.
constexpr std::size_t file_surplus = 64;

std::uint64_t bits_of(int status) { return static_cast<std::uint32_t>(status); }

int status_of(std::uint64_t bits) { return static_cast<int>(static_cast<std::uint32_t>(bits)); }

/// The next answer, which must be of this kind and have so many numbers.
Message expect(ConfinedProcess& process, Kind kind, std::size_t numbers) {
  Message answer = process.answer();
  if (answer.kind != kind || answer.numbers.size() != numbers) {
    throw ConfinedEnd("answers what it was not asked");
  }
  return answer;
}

std::byte* array_at(const SharedPlace& memory, std::uint64_t place) {
  return place == nowhere ? nullptr : memory.part(static_cast<std::size_t>(place), 0).data();
}

}  // namespace

ConfinedTransformer::Layout::Layout(const SparseMatrix& matrix, std::size_t bytes_packed,
                                    std::int64_t most_dense_elements, const FurtherRoom& further)
    : packed_bytes(bytes_packed) {
  const auto element = static_cast<std::size_t>(bytes_of(matrix.element));
  const auto rows = static_cast<std::size_t>(matrix.rows);
  const std::size_t entries = static_cast<std::size_t>(matrix.nonzeros() + further.entries) +
                              static_cast<std::size_t>(most_stored_zeros) * rows;
  const bool has_dense = matrix.rows * matrix.columns <= most_dense_elements;
  const auto place = [this](std::size_t bytes) { return Place{parts.add(bytes + kept_alignment), bytes}; };
  packed = place(packed_bytes + further.packed_bytes);
  dense = place(has_dense ? rows * static_cast<std::size_t>(largest_lda(matrix.columns)) * element : 0);
  offsets = place((rows + 1) * sizeof(std::int32_t));
  columns = place(entries * sizeof(std::int32_t));
  values = place(entries * element);
  file = place(packed_bytes + further.packed_bytes + file_surplus);
}

ConfinedTransformer::ConfinedTransformer(const std::string& text, const std::string& name, const SparseMatrix& matrix,
                                         std::span<const std::byte> packed, std::int64_t most_dense_elements,
                                         bool any_pattern, const Allowance& allowance, Watched watched)
    : matrix_(matrix),
      any_pattern_(any_pattern),
      layout_(matrix, packed.size(), most_dense_elements,
              any_pattern ? room_for_other_patterns(matrix, packed) : FurtherRoom()),
      memory_(layout_.parts.size()),
      process_(
          allowance,
          [text, name, shape = MatrixShape(matrix), any_pattern, memory = memory_.place(),
           watched](const Channel& channel) { serve(channel, text, name, shape, any_pattern, memory, watched); },
          2 * text.size(), &memory_) {
  packed_bytes_ = expect(process_, ready, 1).numbers[0];
}

void ConfinedTransformer::serve(const Channel& channel, const std::string& text, const std::string& name,
                                const MatrixShape& shape, bool any_pattern, const SharedPlace& memory,
                                Watched watched) {
  EmulatedTransformer transformer(text, name, shape, any_pattern, watched);
  const TransformerFunctions functions = transformer.functions();
  channel.send({ready, {functions.packed_bytes()}});
  for (Message request; channel.receive(request) == Channel::Reception::message;) {
    Message answer{request.kind};
    const auto array = [&](std::size_t number) { return array_at(memory, request.numbers.at(number)); };
    const auto indices = [&](std::size_t number) { return reinterpret_cast<const std::int32_t*>(array(number)); };
    const auto number = [&](std::size_t at) { return request.numbers.at(at); };
    const auto lda = [&] { return static_cast<std::int64_t>(number(1)); };
    if (request.kind == pack_dense) {
      answer.numbers = {bits_of(functions.transform(array(0), lda(), array(2)))};
    } else if (request.kind == pack_csr) {
      answer.numbers = {bits_of(functions.transform_csr(indices(0), indices(1), array(2), array(3)))};
    } else if (any_pattern && request.kind == pack_dense_into) {
      answer.numbers = {bits_of(functions.transform_into(array(0), lda(), array(2), number(3)))};
    } else if (any_pattern && request.kind == pack_csr_into) {
      answer.numbers = {bits_of(functions.transform_csr_into(indices(0), indices(1), array(2), array(3), number(4)))};
    } else if (any_pattern && request.kind == measure_dense) {
      answer.numbers = {functions.bytes_for(array(0), lda())};
    } else if (any_pattern && request.kind == measure_csr) {
      answer.numbers = {functions.bytes_for_csr(indices(0), indices(1), array(2))};
    } else if (request.kind == load_file) {
      const auto path = static_cast<PackedFile::Path>(request.numbers.at(0));
      const std::span<const std::byte> contents(array(1), static_cast<std::size_t>(request.numbers.at(2)));
      answer.numbers = {bits_of(functions.load({path, contents}, array(3)))};
    } else if (request.kind == tell_error) {
      answer.texts = {functions.transform_error()};
    } else {
      answer.texts = messages_of(transformer.device().faults());
    }
    channel.send(answer);
  }
}

TransformerFunctions ConfinedTransformer::functions() {
  using Indices = const std::int32_t*;
  TransformerFunctions functions{
      [this] { return packed_bytes_; },
      [this](const void* a, std::int64_t lda, void* packed) { return transform(a, lda, packed); },
      [this](Indices offsets, Indices columns, const void* values, void* packed) {
        return transform_csr(offsets, columns, values, packed);
      },
      [this](const PackedFile& file, void* packed) { return load(file, packed); }, [this] { return error(); }};
  if (any_pattern_) {
    functions.bytes_for = [this](const void* a, std::int64_t lda) { return bytes_for(a, lda); };
    functions.bytes_for_csr = [this](Indices offsets, Indices columns, const void* values) {
      return bytes_for_csr(offsets, columns, values);
    };
    functions.transform_into = [this](const void* a, std::int64_t lda, void* packed, std::size_t bytes) {
      return transform_into(a, lda, packed, bytes);
    };
    functions.transform_csr_into = [this](Indices offsets, Indices columns, const void* values, void* packed,
                                          std::size_t bytes) {
      return transform_csr_into(offsets, columns, values, packed, bytes);
    };
  }
  return functions;
}

std::uint64_t ConfinedTransformer::copied(const Place& place, const void* array, std::size_t bytes) {
  if (array == nullptr) {
    return nowhere;
  }
  ESC_CHECK(bytes <= place.bytes, "the array has its place in shared memory");
  const std::size_t begin = place.begin + reinterpret_cast<std::uintptr_t>(array) % kept_alignment;
  if (bytes != 0) {
    std::memcpy(memory_.part(begin, bytes).data(), array, bytes);
  }
  return begin;
}

int ConfinedTransformer::packed_answer(std::uint32_t kind, std::vector<std::uint64_t> numbers, void* packed,
                                       std::size_t bytes) {
  ESC_CHECK(packed_bytes_ == layout_.packed_bytes, "there is room for the packed matrix");
  process_.ask({kind, numbers});
  const Message answer = expect(process_, static_cast<Kind>(kind), 1);
  const int status = status_of(answer.numbers[0]);
  if (packed != nullptr && status == 0) {  // after a refusal its content is undefined
    const std::size_t begin = layout_.packed.begin + reinterpret_cast<std::uintptr_t>(packed) % kept_alignment;
    std::memcpy(packed, memory_.part(begin, bytes).data(), bytes);
  }
  return status;
}

std::size_t ConfinedTransformer::bytes_answer(std::uint32_t kind, std::vector<std::uint64_t> numbers) {
  process_.ask({kind, std::move(numbers)});
  return static_cast<std::size_t>(expect(process_, static_cast<Kind>(kind), 1).numbers[0]);
}

std::vector<std::uint64_t> ConfinedTransformer::told(const void* a, std::int64_t lda) {
  // A leading dimension that is too small is refused before the matrix is looked at.
  const std::int64_t elements = std::max<std::int64_t>(0, (matrix_.rows - 1) * lda + matrix_.columns);
  return {copied(layout_.dense, a, static_cast<std::size_t>(elements * bytes_of(matrix_.element))),
          static_cast<std::uint64_t>(lda)};
}

std::vector<std::uint64_t> ConfinedTransformer::told(const std::int32_t* offsets, const std::int32_t* columns,
                                                     const void* values) {
  constexpr std::size_t index_bytes = sizeof(std::int32_t);
  const std::size_t entries =
      offsets == nullptr ? 0 : static_cast<std::size_t>(std::max<std::int32_t>(0, offsets[matrix_.rows]));
  return {copied(layout_.offsets, offsets, static_cast<std::size_t>(matrix_.rows + 1) * index_bytes),
          copied(layout_.columns, columns, entries * index_bytes),
          copied(layout_.values, values, entries * static_cast<std::size_t>(bytes_of(matrix_.element)))};
}

int ConfinedTransformer::transform(const void* a, std::int64_t lda, void* packed) {
  std::vector<std::uint64_t> numbers = told(a, lda);
  numbers.push_back(copied(layout_.packed, packed, layout_.packed_bytes));
  return packed_answer(pack_dense, std::move(numbers), packed, layout_.packed_bytes);
}

int ConfinedTransformer::transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values,
                                       void* packed) {
  std::vector<std::uint64_t> numbers = told(offsets, columns, values);
  numbers.push_back(copied(layout_.packed, packed, layout_.packed_bytes));
  return packed_answer(pack_csr, std::move(numbers), packed, layout_.packed_bytes);
}

int ConfinedTransformer::transform_into(const void* a, std::int64_t lda, void* packed, std::size_t bytes) {
  std::vector<std::uint64_t> numbers = told(a, lda);
  numbers.insert(numbers.end(), {copied(layout_.packed, packed, bytes), bytes});
  return packed_answer(pack_dense_into, std::move(numbers), packed, bytes);
}

int ConfinedTransformer::transform_csr_into(const std::int32_t* offsets, const std::int32_t* columns,
                                            const void* values, void* packed, std::size_t bytes) {
  std::vector<std::uint64_t> numbers = told(offsets, columns, values);
  numbers.insert(numbers.end(), {copied(layout_.packed, packed, bytes), bytes});
  return packed_answer(pack_csr_into, std::move(numbers), packed, bytes);
}

std::size_t ConfinedTransformer::bytes_for(const void* a, std::int64_t lda) {
  return bytes_answer(measure_dense, told(a, lda));
}

std::size_t ConfinedTransformer::bytes_for_csr(const std::int32_t* offsets, const std::int32_t* columns,
                                               const void* values) {
  return bytes_answer(measure_csr, told(offsets, columns, values));
}

int ConfinedTransformer::load(const PackedFile& file, void* packed) {
  return packed_answer(
      load_file,
      {static_cast<std::uint64_t>(file.path), copied(layout_.file, file.contents.data(), file.contents.size()),
       file.contents.size(), copied(layout_.packed, packed, layout_.packed_bytes)},
      packed, layout_.packed_bytes);
}

std::string ConfinedTransformer::error() {
  process_.ask({tell_error});
  const Message answer = expect(process_, tell_error, 0);
  return answer.texts.empty() ? "" : answer.texts.front();
}

std::vector<std::string> ConfinedTransformer::faults() {
  process_.ask({tell_faults});
  return expect(process_, tell_faults, 0).texts;
}

}  // namespace esc
