// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/confined_transformer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "generator/support/error.h"
#include "generator/verify/emulated_transformer.h"
#include "generator/verify/transformer_check.h"

namespace esc {
namespace {

/// What is asked for, which is also the kind of the answer.
enum Kind : std::uint32_t {
  ready,       ///< answer: packed bytes; not asked for
  pack_dense,  ///< asked: place of a, leading dimension, place of packed; answer: status
  pack_csr,    ///< asked: places of offsets, columns, values and packed; answer: status
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

ConfinedTransformer::Layout::Layout(const SparseMatrix& matrix, std::size_t bytes_packed, std::int64_t most_dense_elements)
    : packed_bytes(bytes_packed) {
  const auto element = static_cast<std::size_t>(bytes_of(matrix.element));
  const auto rows = static_cast<std::size_t>(matrix.rows);
  const std::size_t entries =
      static_cast<std::size_t>(matrix.nonzeros()) + static_cast<std::size_t>(most_stored_zeros) * rows;
  const bool has_dense = matrix.rows * matrix.columns <= most_dense_elements;
  const auto place = [this](std::size_t bytes) { return Place{parts.add(bytes + kept_alignment), bytes}; };
  packed = place(packed_bytes);
  dense = place(has_dense ? rows * static_cast<std::size_t>(largest_lda(matrix.columns)) * element : 0);
  offsets = place((rows + 1) * sizeof(std::int32_t));
  columns = place(entries * sizeof(std::int32_t));
  values = place(entries * element);
  file = place(packed_bytes + file_surplus);
}

ConfinedTransformer::ConfinedTransformer(const std::string& text, const std::string& name, const SparseMatrix& matrix,
                                         std::size_t packed_bytes, std::int64_t most_dense_elements,
                                         const Allowance& allowance, Watched watched)
    : matrix_(matrix),
      layout_(matrix, packed_bytes, most_dense_elements),
      memory_(layout_.parts.size()),
      process_(
          allowance,
          [text, name, shape = MatrixShape(matrix), memory = memory_.place(), watched](const Channel& channel) {
            serve(channel, text, name, shape, memory, watched);
          },
          2 * text.size(), &memory_) {
  packed_bytes_ = expect(process_, ready, 1).numbers[0];
}

void ConfinedTransformer::serve(const Channel& channel, const std::string& text, const std::string& name,
                                const MatrixShape& shape, const SharedPlace& memory, Watched watched) {
  EmulatedTransformer transformer(text, name, shape, watched);
  const TransformerFunctions functions = transformer.functions();
  channel.send({ready, {functions.packed_bytes()}});
  for (Message request; channel.receive(request) == Channel::Reception::message;) {
    Message answer{request.kind};
    const auto array = [&](std::size_t number) { return array_at(memory, request.numbers.at(number)); };
    const auto indices = [&](std::size_t number) { return reinterpret_cast<const std::int32_t*>(array(number)); };
    if (request.kind == pack_dense) {
      const auto lda = static_cast<std::int64_t>(request.numbers.at(1));
      answer.numbers = {bits_of(functions.transform(array(0), lda, array(2)))};
    } else if (request.kind == pack_csr) {
      answer.numbers = {bits_of(functions.transform_csr(indices(0), indices(1), array(2), array(3)))};
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
  return {[this] { return packed_bytes_; },
          [this](const void* a, std::int64_t lda, void* packed) { return transform(a, lda, packed); },
          [this](const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed) {
            return transform_csr(offsets, columns, values, packed);
          },
          [this](const PackedFile& file, void* packed) { return load(file, packed); },
          [this] { return error(); }};
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

int ConfinedTransformer::packed_answer(const Message& request, void* packed) {
  process_.ask(request);
  const Message answer = expect(process_, static_cast<Kind>(request.kind), 1);
  const int status = status_of(answer.numbers[0]);
  if (packed != nullptr && status == 0) {  // after a refusal its content is undefined
    const auto begin = static_cast<std::size_t>(request.numbers.back());
    std::memcpy(packed, memory_.part(begin, layout_.packed_bytes).data(), layout_.packed_bytes);
  }
  return status;
}

int ConfinedTransformer::transform(const void* a, std::int64_t lda, void* packed) {
  ESC_CHECK(packed_bytes_ == layout_.packed_bytes, "there is room for the packed matrix");
  // A leading dimension that is too small is refused before the matrix is looked at.
  const std::int64_t elements = std::max<std::int64_t>(0, (matrix_.rows - 1) * lda + matrix_.columns);
  const std::size_t bytes = static_cast<std::size_t>(elements * bytes_of(matrix_.element));
  return packed_answer({pack_dense,
                        {copied(layout_.dense, a, bytes), static_cast<std::uint64_t>(lda),
                         copied(layout_.packed, packed, layout_.packed_bytes)}},
                       packed);
}

int ConfinedTransformer::transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values,
                                       void* packed) {
  ESC_CHECK(packed_bytes_ == layout_.packed_bytes, "there is room for the packed matrix");
  constexpr std::size_t index_bytes = sizeof(std::int32_t);
  const auto element_bytes = static_cast<std::size_t>(bytes_of(matrix_.element));
  const std::size_t entries =
      offsets == nullptr ? 0 : static_cast<std::size_t>(std::max<std::int32_t>(0, offsets[matrix_.rows]));
  return packed_answer({pack_csr,
                        {copied(layout_.offsets, offsets, static_cast<std::size_t>(matrix_.rows + 1) * index_bytes),
                         copied(layout_.columns, columns, entries * index_bytes),
                         copied(layout_.values, values, entries * element_bytes),
                         copied(layout_.packed, packed, layout_.packed_bytes)}},
                       packed);
}

int ConfinedTransformer::load(const PackedFile& file, void* packed) {
  ESC_CHECK(packed_bytes_ == layout_.packed_bytes, "there is room for the packed matrix");
  return packed_answer({load_file,
                        {static_cast<std::uint64_t>(file.path), copied(layout_.file, file.contents.data(), file.contents.size()),
                         file.contents.size(), copied(layout_.packed, packed, layout_.packed_bytes)}},
                       packed);
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
