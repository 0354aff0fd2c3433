#include "tuner/build_pool.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>

#include "generator/support/error.h"

namespace esc::gpu {
namespace {

/// Both ends of a socket are of one program: numbers travel as they are in memory. False: the other end is gone.
bool send_bytes(int socket, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_bytes(int socket, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t received = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (received < 0 && errno == EINTR) {
      continue;
    }
    if (received <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return true;
}

bool send_number(int socket, std::uint64_t number) {
  return send_bytes(socket, {reinterpret_cast<const char*>(&number), sizeof number});
}

std::optional<std::uint64_t> receive_number(int socket) {
  std::uint64_t number = 0;
  return receive_bytes(socket, {reinterpret_cast<char*>(&number), sizeof number}) ? std::optional(number)
                                                                                  : std::nullopt;
}

bool send_text(int socket, std::span<const char> text) {
  return send_number(socket, text.size()) && send_bytes(socket, text);
}

template <typename Text>
bool receive_text(int socket, Text& text) {
  const std::optional<std::uint64_t> bytes = receive_number(socket);
  if (!bytes) {
    return false;
  }
  text.resize(*bytes);
  return receive_bytes(socket, text);
}

bool send_texts(int socket, const std::vector<std::string>& texts) {
  return send_number(socket, texts.size()) &&
         std::ranges::all_of(texts, [&](const std::string& text) { return send_text(socket, text); });
}

bool receive_texts(int socket, std::vector<std::string>& texts) {
  const std::optional<std::uint64_t> count = receive_number(socket);
  if (!count) {
    return false;
  }
  texts.resize(*count);
  return std::ranges::all_of(texts, [&](std::string& text) { return receive_text(socket, text); });
}

/// What a build came to: the machine code, or why there is none.
struct Outcome {
  Cubin cubin;
  std::string problem;
};

Outcome outcome_of(const std::string& text, const std::vector<std::string>& kernels, int architecture) {
  try {
    return {build(text, kernels, architecture), {}};
  } catch (const std::exception& error) {
    return {{}, *error.what() == '\0' ? "unknown" : error.what()};
  }
}

/// The life of a process of the pool: builds what is asked for until the other end is closed.
void serve(int socket) {
  std::string text;
  std::vector<std::string> kernels;
  while (receive_text(socket, text) && receive_texts(socket, kernels)) {
    const std::optional<std::uint64_t> architecture = receive_number(socket);
    if (!architecture) {
      return;
    }
    const Outcome outcome = outcome_of(text, kernels, static_cast<int>(*architecture));
    if (!send_text(socket, outcome.problem) || !send_texts(socket, outcome.cubin.symbols) ||
        !send_text(socket, outcome.cubin.image)) {
      return;
    }
  }
}

/// What a process answers; nothing when it has ended instead.
std::optional<Outcome> ask(int socket, const std::string& text, const std::vector<std::string>& kernels,
                           int architecture) {
  Outcome outcome;
  const bool answered = send_text(socket, text) && send_texts(socket, kernels) &&
                        send_number(socket, static_cast<std::uint64_t>(architecture)) &&
                        receive_text(socket, outcome.problem) && receive_texts(socket, outcome.cubin.symbols) &&
                        receive_text(socket, outcome.cubin.image);
  return answered ? std::optional(std::move(outcome)) : std::nullopt;
}

}  // namespace

BuildPool::BuildPool(int processes) {
  // Or the copies would write again what is still to be written.
  static_cast<void>(std::fflush(nullptr));
  for (int number = 0; number < processes; ++number) {
    int ends[2] = {-1, -1};
    ESC_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
              "there is a socket for a building process");
    const pid_t process = ::fork();
    ESC_CHECK(process >= 0, "a building process can be started");
    if (process == 0) {
      ::close(ends[0]);
      for (const Worker& earlier : free_) {
        ::close(earlier.socket);
      }
      serve(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    free_.push_back({process, ends[0]});
    ++alive_;
  }
}

BuildPool::~BuildPool() {
  for (const Worker& worker : free_) {
    end(worker);
  }
}

Cubin BuildPool::build(const std::string& text, const std::vector<std::string>& kernels, int architecture) {
  const Worker worker = take();
  std::optional<Outcome> outcome = ask(worker.socket, text, kernels, architecture);
  if (!outcome) {
    end(worker);
    const std::lock_guard lock(mutex_);
    --alive_;
    changed_.notify_all();
    throw BuildError("the process that built this text has ended without an answer");
  }
  give_back(worker);
  if (!outcome->problem.empty()) {
    throw BuildError(outcome->problem);
  }
  return std::move(outcome->cubin);
}

BuildPool::Worker BuildPool::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !free_.empty() || alive_ == 0; });
  if (free_.empty()) {
    throw BuildError("no process that builds texts is left");
  }
  const Worker worker = free_.back();
  free_.pop_back();
  return worker;
}

void BuildPool::give_back(Worker worker) {
  const std::lock_guard lock(mutex_);
  free_.push_back(worker);
  changed_.notify_one();
}

void BuildPool::end(Worker worker) noexcept {
  ::close(worker.socket);
  while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace esc::gpu
