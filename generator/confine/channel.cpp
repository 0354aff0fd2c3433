// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/machine_limits.h"

namespace esc {

Channel::Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Channel::~Channel() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

bool Channel::send(const Message& message) const {
  const std::string bytes = encode(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    // Through sendto(2) rather than write(2): a listener that has gone shall be an answer, not a signal.
    const ssize_t count = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) {
      return false;
    }
    sent += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return true;
}

Channel::Reception Channel::receive_bytes(char* to, std::size_t bytes, const std::optional<Deadline>& deadline) const {
  for (std::size_t taken = 0; taken < bytes;) {
    if (deadline) {
      pollfd waiting{descriptor_, POLLIN, 0};
      if (has_passed(deadline) || (poll(&waiting, 1, time_to_poll(deadline)) == 0 && has_passed(deadline))) {
        return Reception::late;
      }
      if (waiting.revents == 0) {
        continue;
      }
    }
    const ssize_t count = read(descriptor_, to + taken, bytes - taken);
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return Reception::ended;
    }
    taken += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return Reception::message;
}

Channel::Reception Channel::receive(Message& message, const std::optional<Deadline>& deadline) const {
  std::array<char, message_head_bytes> head = {};
  if (const Reception got = receive_bytes(head.data(), head.size(), deadline); got != Reception::message) {
    return got;
  }
  const std::optional<std::size_t> length = length_of(head);
  if (!length) {
    return Reception::malformed;
  }
  std::string bytes(*length, '\0');
  if (const Reception got = receive_bytes(bytes.data(), bytes.size(), deadline); got != Reception::message) {
    return got;
  }
  std::optional<Message> decoded = decode(bytes);
  if (!decoded) {
    return Reception::malformed;
  }
  message = std::move(*decoded);
  return Reception::message;
}

ChannelPair make_channels() {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    const int error = errno;
    throw UserError("this machine", fmt::format("does not let a pair of sockets be made: {}", std::strerror(error)),
                    remedy_for(error), ExitStatus::missing_tool);
  }
  return {Channel(ends[0]), Channel(ends[1])};
}

}  // namespace esc
