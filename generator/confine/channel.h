// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/confine/message.h"
#include "generator/support/deadline.h"

namespace esc {

/// One end of what two processes speak over.
class Channel {
 public:
  /// Takes the descriptor, and closes it in the end.
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  ~Channel();

  int descriptor() const { return descriptor_; }

  /// False where nobody listens any more.
  bool send(const Message& message) const;

  enum class Reception { message, ended, malformed, late };
  /// Waits for the next message. `late`: the deadline passed before it was whole.
  Reception receive(Message& message, const std::optional<Deadline>& deadline = std::nullopt) const;

 private:
  Reception receive_bytes(char* to, std::size_t bytes, const std::optional<Deadline>& deadline) const;

  int descriptor_;
};

/// Two ends that hear each other.
struct ChannelPair {
  Channel ours;
  Channel theirs;
};
/// Throws UserError with status missing_tool where the machine has no more descriptors.
ChannelPair make_channels();

}  // namespace esc
