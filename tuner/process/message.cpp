// SPDX-License-Identifier: Apache-2.0
#include "tuner/process/message.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

namespace esc::tuning {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::uint64_t longest_text = std::uint64_t{1} << 36;

/// Waits until something can be read from the socket (POLLIN) or be written to it (POLLOUT).
Reception await(int socket, short event, const std::optional<Deadline>& deadline) {
  while (true) {
    pollfd waiting{socket, event, 0};
    const int ready = ::poll(&waiting, 1, time_to_poll(deadline));
    if (ready > 0) {
      return Reception::complete;
    }
    if (has_passed(deadline)) {
      return Reception::late;
    }
    if (ready < 0 && errno != EINTR) {
      return Reception::closed;
    }
  }
}

/// Both ends are processes of one machine and one program: numbers travel as they are in memory.
Reception send_bytes(int socket, std::span<const char> bytes, const std::optional<Deadline>& deadline) {
  while (!bytes.empty()) {
    if (const Reception room = await(socket, POLLOUT, deadline); room != Reception::complete) {
      return room;
    }
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (sent <= 0) {
      return Reception::closed;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return Reception::complete;
}

Reception send_number(int socket, std::uint64_t number, const std::optional<Deadline>& deadline) {
  return send_bytes(socket, {reinterpret_cast<const char*>(&number), sizeof number}, deadline);
}

Reception send_text(int socket, const std::string& text, const std::optional<Deadline>& deadline) {
  const Reception size = send_number(socket, text.size(), deadline);
  return size == Reception::complete ? send_bytes(socket, text, deadline) : size;
}

Reception send_message(int socket, const Message& message, const std::optional<Deadline>& deadline) {
  Reception sent = send_text(socket, message.head, deadline);
  if (sent == Reception::complete) {
    sent = send_number(socket, message.pieces.size(), deadline);
  }
  for (std::size_t number = 0; sent == Reception::complete && number < message.pieces.size(); ++number) {
    sent = send_text(socket, message.pieces[number], deadline);
  }
  return sent;
}

Reception receive_bytes(int socket, std::span<char> bytes, const std::optional<Deadline>& deadline) {
  while (!bytes.empty()) {
    if (const Reception arrival = await(socket, POLLIN, deadline); arrival != Reception::complete) {
      return arrival;
    }
    const ssize_t received = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (received < 0 && errno == EINTR) {
      continue;
    }
    if (received <= 0) {
      return Reception::closed;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return Reception::complete;
}

Reception receive_number(int socket, std::uint64_t& number, const std::optional<Deadline>& deadline) {
  return receive_bytes(socket, {reinterpret_cast<char*>(&number), sizeof number}, deadline);
}

Reception receive_text(int socket, std::string& text, const std::optional<Deadline>& deadline) {
  std::uint64_t bytes = 0;
  if (const Reception size = receive_number(socket, bytes, deadline); size != Reception::complete) {
    return size;
  }
  if (bytes > longest_text) {
    return Reception::closed;  // nobody is there who would write it
  }
  // Memory is taken for what has come, not for what is announced: whoever has died may have announced anything.
  text.clear();
  while (text.size() < bytes) {
    const std::size_t had = text.size();
    text.resize(had + static_cast<std::size_t>(std::min<std::uint64_t>(bytes - had, piece_bytes)));
    if (const Reception piece = receive_bytes(socket, std::span(text).subspan(had), deadline);
        piece != Reception::complete) {
      return piece;
    }
  }
  return Reception::complete;
}

}  // namespace

bool send(int socket, const Message& message) {
  return send_message(socket, message, std::nullopt) == Reception::complete;
}

Reception send(int socket, const Message& message, Deadline deadline) {
  return send_message(socket, message, deadline);
}

Reception receive(int socket, Message& message, std::optional<Deadline> deadline) {
  std::uint64_t pieces = 0;
  Reception reception = receive_text(socket, message.head, deadline);
  if (reception == Reception::complete) {
    reception = receive_number(socket, pieces, deadline);
  }
  message.pieces.clear();
  while (reception == Reception::complete && message.pieces.size() < pieces) {
    reception = receive_text(socket, message.pieces.emplace_back(), deadline);
  }
  return reception;
}

}  // namespace esc::tuning
