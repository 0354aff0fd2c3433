#include "generator/verify/confined_transformer.h"

#include <cstring>

#include "generator/support/error.h"
#include "generator/verify/emulated_transformer.h"

namespace esc {
namespace {

/// What is asked for, which is also the kind of the answer.
enum Kind : std::uint32_t {
  ready,          ///< answer: packed bytes; not asked for
  pack_dense,     ///< asked: leading dimension; answer: status
  pack_csr,       ///< answer: status
  tell_error,     ///< answer: text
  tell_faults     ///< answer: texts
};

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

std::vector<std::string> messages_of(const std::vector<EmulationFault>& faults) {
  std::vector<std::string> messages;
  for (const EmulationFault& fault : faults) {
    messages.push_back(fault.message);
  }
  return messages;
}

void copy_in(const SharedMemory& memory, std::size_t at, const void* from, std::size_t bytes) {
  if (bytes != 0) {
    std::memcpy(memory.part(at, bytes).data(), from, bytes);
  }
}

}  // namespace

ConfinedTransformer::Layout::Layout(const SparseMatrix& matrix, std::size_t bytes, std::int64_t most_dense_elements)
    : element_bytes(static_cast<std::size_t>(bytes_of(matrix.element))),
      packed_bytes(bytes),
      dense_bytes(matrix.rows * matrix.columns <= most_dense_elements
                      ? static_cast<std::size_t>(matrix.rows * matrix.columns) * element_bytes
                      : 0),
      entries(static_cast<std::size_t>(matrix.nonzeros())),
      rows(static_cast<std::size_t>(matrix.rows)),
      packed(parts.add(packed_bytes)),
      dense(parts.add(dense_bytes)),
      offsets(parts.add((rows + 1) * sizeof(std::int32_t))),
      columns(parts.add(entries * sizeof(std::int32_t))),
      values(parts.add(entries * element_bytes)) {}

ConfinedTransformer::ConfinedTransformer(const std::string& text, const std::string& name, const SparseMatrix& matrix,
                                         std::size_t packed_bytes, std::int64_t most_dense_elements,
                                         const Allowance& allowance)
    : layout_(matrix, packed_bytes, most_dense_elements),
      memory_(layout_.parts.size()),
      process_(allowance, [&](const Channel& channel) { serve(channel, text, name, matrix, layout_, memory_); }) {
  packed_bytes_ = expect(process_, ready, 1).numbers[0];
}

void ConfinedTransformer::serve(const Channel& channel, const std::string& text, const std::string& name,
                                const SparseMatrix& matrix, const Layout& layout, const SharedMemory& memory) {
  EmulatedTransformer transformer(text, name, matrix);
  const TransformerFunctions functions = transformer.functions();
  channel.send({ready, {functions.packed_bytes()}});
  const auto in = [&](std::size_t at) { return memory.part(at, 0).data(); };
  for (Message request; channel.receive(request) == Channel::Reception::message;) {
    Message answer{request.kind};
    if (request.kind == pack_dense) {
      answer.numbers = {bits_of(functions.transform(in(layout.dense), static_cast<std::int64_t>(request.numbers.at(0)),
                                                    in(layout.packed)))};
    } else if (request.kind == pack_csr) {
      answer.numbers = {bits_of(functions.transform_csr(reinterpret_cast<const std::int32_t*>(in(layout.offsets)),
                                                        reinterpret_cast<const std::int32_t*>(in(layout.columns)),
                                                        in(layout.values), in(layout.packed)))};
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
          [this] { return error(); }};
}

int ConfinedTransformer::packed_answer(void* packed) {
  const Message answer = process_.answer();
  if ((answer.kind != pack_dense && answer.kind != pack_csr) || answer.numbers.size() != 1) {
    throw ConfinedEnd("answers what it was not asked");
  }
  std::memcpy(packed, memory_.part(layout_.packed, layout_.packed_bytes).data(), layout_.packed_bytes);
  return status_of(answer.numbers[0]);
}

int ConfinedTransformer::transform(const void* a, std::int64_t lda, void* packed) {
  ESC_CHECK(packed_bytes_ == layout_.packed_bytes && layout_.dense_bytes != 0, "there is room for a dense matrix");
  copy_in(memory_, layout_.dense, a, layout_.dense_bytes);
  process_.ask({pack_dense, {static_cast<std::uint64_t>(lda)}});
  return packed_answer(packed);
}

int ConfinedTransformer::transform_csr(const std::int32_t* offsets, const std::int32_t* columns, const void* values,
                                       void* packed) {
  ESC_CHECK(packed_bytes_ == layout_.packed_bytes, "there is room for the packed matrix");
  copy_in(memory_, layout_.offsets, offsets, (layout_.rows + 1) * sizeof(std::int32_t));
  copy_in(memory_, layout_.columns, columns, layout_.entries * sizeof(std::int32_t));
  copy_in(memory_, layout_.values, values, layout_.entries * layout_.element_bytes);
  process_.ask({pack_csr});
  return packed_answer(packed);
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
