// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/confined_process.h"

#include <fmt/format.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "generator/confine/give_up_rights.h"
#include "generator/confine/process_helper.h"
#include "generator/support/error.h"
#include "generator/support/spawn.h"

namespace esc {
namespace {

/// Room for what any work captures beside texts and matrices.
constexpr std::size_t least_heap_bytes = std::size_t{4} << 20;

/// What the process says of itself.
enum Kind : std::uint32_t {
  unconfined = ConfinedProcess::reserved_kinds,  ///< text: why it could not give up its rights
  refused_call,                                  ///< number: of the system call
  out_of_memory,
  user_error,  ///< number: status; texts: place, rule, remedy
  other_error  ///< text: what an exception says
};

/// Where the process writes to when it must end at once, from wherever it is.
int last_words_to = -1;

/// Says it without asking for memory, and ends the process. The address sanitizer would have the system asked for the
/// stack's place first, which a handler of refusals must not.
[[noreturn, gnu::no_sanitize("address")]] void end_with(Kind kind, std::uint64_t number) {
  const std::uint64_t words[] = {4 * sizeof(std::uint64_t), kind, 1, number, 0};
  const ssize_t ignored = write(last_words_to, words, sizeof words);
  _exit(ignored < 0 ? 2 : 1);
}

[[gnu::no_sanitize("address")]] void on_refused_call(int system_call) {
  end_with(refused_call, static_cast<std::uint64_t>(system_call));
}

[[gnu::no_sanitize("address")]] void on_exhausted_memory() { end_with(out_of_memory, 0); }

void run(const ConfinedWork& work, const Channel& channel) {
  try {
    work(channel);
  } catch (const UserError& problem) {
    channel.send({user_error,
                  {static_cast<std::uint64_t>(problem.status())},
                  {problem.place(), problem.rule(), problem.remedy()}});
  } catch (const std::bad_alloc&) {
    end_with(out_of_memory, 0);
  } catch (const std::exception& problem) {
    channel.send({other_error, {}, {problem.what()}});
  }
}

/// What the process is told of its life, in memory that it shares with this one.
struct Life {
  Allowance allowance;
  ConfinedWork work;
  pid_t parent = -1;
};

/// The life of the process that has been made.
[[noreturn]] void live(const void* told, int descriptor) {
  const auto& [allowance, work, parent] = *static_cast<const Life*>(told);
  const Channel channel(descriptor);
  last_words_to = descriptor;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  const std::string problem = give_up_rights(allowance, channel.descriptor(), on_refused_call);
  if (!problem.empty()) {
    channel.send({unconfined, {}, {problem}});
    _exit(1);
  }
  std::set_new_handler(on_exhausted_memory);
  run(work, channel);
  _exit(0);
}

std::string describe_refusal(std::uint64_t number) {
  char* const found =
      number > 0xffff ? nullptr : seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number));
  const std::string name = found == nullptr ? "something unknown" : found;
  std::free(found);
  // The compiler goes on in another thread where a text has used up its stack.
  const bool deep = name == "clone" || name == "clone3";
  return fmt::format("asks the system for {}, which it has no right to{}", name,
                     deep ? ", or is nested too deeply" : "");
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

std::string needs_more_memory(const Allowance& allowance) {
  return fmt::format("needs more than {} of memory", megabytes(allowance.memory));
}

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

/// What a process may say of a mistake: never that all is well, nor that this program is to blame.
UserError user_error_of(const Message& message) {
  const auto text = [&](std::size_t at) { return at < message.texts.size() ? message.texts[at] : std::string(); };
  const std::uint64_t status = message.numbers.empty() ? 0 : message.numbers.front();
  return {text(0), text(1), text(2),
          status == static_cast<std::uint64_t>(ExitStatus::check_failed) ? ExitStatus::check_failed
                                                                         : ExitStatus::bad_input};
}

}  // namespace

ConfinedProcess::ConfinedProcess(const Allowance& allowance, const ConfinedWork& work, std::size_t work_bytes,
                                 const SharedMemory* memory)
    : allowance_(allowance),
      deadline_(std::chrono::steady_clock::now() + allowance.time),
      heap_(least_heap_bytes + work_bytes),
      channels_(make_channels()) {
  const Channel theirs = std::move(channels_.theirs);
  const std::array<const SharedMemory*, 2> memories = {&heap_.memory(), memory};
  process_ = make_process({.live = live,
                           .argument = heap_.copy(Life{allowance, work, getpid()}),
                           .descriptor = theirs.descriptor(),
                           .memories = std::span(memories).first(memory == nullptr ? 1 : 2)});
  try {
    // What it shares with this process counts as its own once it touches it.
    const std::uint64_t shared = heap_.memory().place().size() + (memory == nullptr ? 0 : memory->place().size());
    watch_.emplace(process_, process_helper(), allowance.memory + shared);
  } catch (const std::system_error& problem) {
    end();
    throw UserError("this machine", fmt::format("does not let a thread be made: {}", problem.code().message()),
                    "end other processes, or raise the limit of their number (ulimit -u)", ExitStatus::missing_tool);
  } catch (...) {
    end();
    throw;
  }
}

ConfinedProcess::~ConfinedProcess() { end(); }

void ConfinedProcess::end() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    reap();
  }
}

int ConfinedProcess::reap() {
  watch_.reset();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

void ConfinedProcess::ask(const Message& request) {
  if (!channels_.ours.send(request)) {
    fail(describe_end());
  }
}

Message ConfinedProcess::answer() {
  Message message;
  switch (channels_.ours.receive(message, deadline_)) {
    case Channel::Reception::message:
      break;
    case Channel::Reception::late:
      fail(fmt::format("runs longer than {}", seconds(allowance_.time)));
    case Channel::Reception::malformed:
      fail("answers in a form that no check has");
    case Channel::Reception::ended:
      fail(describe_end());
  }
  if (message.kind < reserved_kinds) {
    return message;
  }
  const std::string text = message.texts.empty() ? "" : message.texts.front();
  const std::uint64_t number = message.numbers.empty() ? 0 : message.numbers.front();
  switch (message.kind) {
    case unconfined:
      end();
      throw UserError("this machine", fmt::format("does not let a process give up its rights ({})", text),
                      "texts are run in no other way: allow seccomp filters here (in a container, by its seccomp "
                      "profile), or take a machine with them",
                      ExitStatus::missing_tool);
    case refused_call:
      fail(describe_refusal(number));
    case out_of_memory:
      fail(needs_more_memory(allowance_));
    case user_error:
      end();
      throw user_error_of(message);
    default:
      fail(fmt::format("cannot be checked: {}", text));
  }
}

void ConfinedProcess::fail(const std::string& reason) {
  end();
  if (is_short_of_memory(allowance_)) {
    throw UserError("this machine",
                    fmt::format("leaves less memory than the {} that a check may need, and what is checked {}",
                                megabytes(allowance_.memory), reason),
                    "raise the limit of memory (ulimit -v), or take a larger machine", ExitStatus::missing_tool);
  }
  throw ConfinedEnd(reason);
}

std::string ConfinedProcess::describe_end() {
  if (!ends_by(process_, deadline_)) {
    kill(process_, SIGKILL);
  }
  const bool grown = watch_ && watch_->has_killed();
  const int status = reap();
  if (grown) {
    return needs_more_memory(allowance_);
  }
  if (!WIFSIGNALED(status)) {
    return fmt::format("ends the process that checks it (exit status {})", WEXITSTATUS(status));
  }
  switch (WTERMSIG(status)) {
    case SIGSYS:
      return "asks the system for something that it has no right to, or is nested too deeply";
    case SIGSEGV:
    case SIGBUS:
      return "touches memory that is not there, or needs more stack than there is";
    case SIGABRT:
      return "ends the process that checks it (abort)";
    case SIGXCPU:
    case SIGKILL:
      return fmt::format("needs more time than {}, or more memory than this machine has", seconds(allowance_.time));
    default:
      return fmt::format("ends the process that checks it (signal {})", WTERMSIG(status));
  }
}

}  // namespace esc
