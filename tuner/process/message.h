// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/support/deadline.h"

namespace esc::tuning {

/// What two processes of this program tell each other: a head (JSON, where it is more than a word) and pieces of bytes.
struct Message {
  std::string head;
  std::vector<std::string> pieces = {};
  bool operator==(const Message&) const = default;
};

/// What came of a message.
enum class Reception {
  complete,
  closed,  ///< the other end is gone, perhaps in the middle of a message
  late,    ///< the deadline has passed
};

/// Writes a message to a socket. False: the other end is gone.
bool send(int socket, const Message& message);

/// Writes a message to a socket, waiting until the deadline for the other end to take it.
Reception send(int socket, const Message& message, Deadline deadline);

/// Reads a message from a socket, waiting for it until the deadline, or for ever.
Reception receive(int socket, Message& message, std::optional<Deadline> deadline = {});

}  // namespace esc::tuning
