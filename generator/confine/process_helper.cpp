// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/process_helper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/machine_limits.h"

namespace esc {
namespace {

constexpr std::size_t most_memories = 4;
constexpr std::size_t most_descriptors = 1 + most_memories;

/// What the helper is asked; descriptors come beside it. Both ends are one program, so that functions have the same
/// addresses.
struct Request {
  void (*live)(const void* argument, int descriptor) = nullptr;
  const void* argument = nullptr;
  std::size_t memories = 0;
  std::array<SharedPlace, most_memories> places = {};
};

struct Reply {
  pid_t process = -1;
  int error = 0;
};

/// Room for the descriptors of one message.
struct alignas(cmsghdr) ControlRoom {
  char bytes[CMSG_SPACE(most_descriptors * sizeof(int))] = {};
};

bool send_request(int socket, const Request& request, std::span<const int> descriptors) {
  ControlRoom room;
  iovec part{const_cast<Request*>(&request), sizeof request};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == sizeof request;
}

/// False at the end, where nobody asks any more.
bool receive_request(int socket, Request& request, std::array<int, most_descriptors>& descriptors) {
  ControlRoom room;
  iovec part{&request, sizeof request};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  ssize_t got = -1;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  descriptors.fill(-1);
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (got != sizeof request || head == nullptr || head->cmsg_type != SCM_RIGHTS) {
    return false;
  }
  std::memcpy(descriptors.data(), CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
  return true;
}

/// A copy of the helper as a child of whoever has started that. By the system's call: fork makes children of its caller
/// alone, and what it does beside that is for a process with threads.
pid_t copy_for_parent() { return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }

/// The life of a process that was made.
[[noreturn]] void begin_life(const Request& request, const std::array<int, most_descriptors>& descriptors) {
  bool has_all = true;
  for (std::size_t number = 0; number < request.memories; ++number) {
    has_all = has_all && SharedMemory::map_there(request.places[number], descriptors[1 + number]);
  }
  if (has_all) {
    request.live(request.argument, descriptors[0]);
  }
  _exit(1);
}

/// The life of the helper. It ends with the process that has started it, whose end of the socket is then closed.
[[noreturn]] void serve(int socket, const std::function<void()>& warm_up) {
  // What ends a group ends who asks, too, who may have something to finish first.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    signal(number, SIG_IGN);
  }
  // Nobody shall wait for the end of a stream that the helper has as well.
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard <= 2; ++standard) {
    dup2(nowhere, standard);
  }
  if (dup3(socket, 3, O_CLOEXEC) == 3) {
    socket = 3;
  }
  close_range(4, ~0U, 0);
  if (warm_up) {
    try {
      warm_up();
    } catch (...) {  // whoever asks is told that there is no helper
      _exit(1);
    }
  }
  Request request;
  std::array<int, most_descriptors> descriptors = {};
  while (receive_request(socket, request, descriptors)) {
    Reply reply{copy_for_parent(), errno};
    if (reply.process == 0) {
      close(socket);
      begin_life(request, descriptors);
    }
    for (const int descriptor : descriptors) {
      if (descriptor >= 0) {
        close(descriptor);
      }
    }
    if (send(socket, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) {
      break;
    }
  }
  _exit(0);
}

[[noreturn]] void refuse(int error) {
  throw UserError("this machine", fmt::format("does not let a process be made: {}", std::strerror(error)),
                  remedy_for(error), ExitStatus::missing_tool);
}

class Helper {
 public:
  void start(const std::function<void()>& warm_up) {
    const std::lock_guard lock(mutex_);
    begin(warm_up);
  }

  pid_t make(const Birth& birth) {
    ESC_CHECK(birth.memories.size() <= most_memories, "a process gets so many memories");
    Request request{birth.live, birth.argument, birth.memories.size(), {}};
    std::array<int, most_descriptors> descriptors = {birth.descriptor};
    for (std::size_t number = 0; number < birth.memories.size(); ++number) {
      request.places[number] = birth.memories[number]->place();
      descriptors[1 + number] = birth.memories[number]->descriptor();
    }
    const std::lock_guard lock(mutex_);
    begin({});
    if (process_ < 0) {
      refuse(error_);
    }
    if (!send_request(socket_, request, std::span(descriptors).first(1 + birth.memories.size()))) {
      refuse(errno);
    }
    Reply reply;
    ssize_t got = -1;
    do {
      got = recv(socket_, &reply, sizeof reply, 0);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof reply) {
      refuse(got < 0 ? errno : ENOMEM);
    }
    if (reply.process < 0) {
      refuse(reply.error);
    }
    return reply.process;
  }

  pid_t process() {
    const std::lock_guard lock(mutex_);
    return process_;
  }

 private:
  void begin(const std::function<void()>& warm_up) {
    if (owner_ == getpid() && process_ >= 0) {
      return;
    }
    if (socket_ >= 0) {  // of a process that this one is a copy of, which gets the children that its helper makes
      close(std::exchange(socket_, -1));
    }
    process_ = -1;
    owner_ = getpid();
    std::array<int, 2> ends = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      error_ = errno;
      return;
    }
    process_ = fork();
    error_ = errno;
    if (process_ == 0) {
      serve(ends[1], warm_up);
    }
    close(ends[1]);
    if (process_ < 0) {
      close(ends[0]);
      return;
    }
    socket_ = ends[0];
  }

  std::mutex mutex_;  ///< guards what follows
  pid_t process_ = -1;
  pid_t owner_ = -1;
  int socket_ = -1;
  int error_ = 0;  ///< where there is none
};

Helper& helper() {
  static Helper only;
  return only;
}

}  // namespace

void start_process_helper(const std::function<void()>& warm_up) { helper().start(warm_up); }

pid_t make_process(const Birth& birth) { return helper().make(birth); }

pid_t process_helper() { return helper().process(); }

}  // namespace esc
