// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/give_up_rights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>

namespace esc {
namespace {

constexpr rlim_t most_stack = rlim_t{64} << 20;
/// How many files may be open at once where reading them is allowed: a header with all that it includes.
constexpr rlim_t most_files = 256;

/// The runtime of a sanitizer looks at memory through a pipe: builds with one have descriptors, and nothing to open
/// with them.
#ifdef __SANITIZE_ADDRESS__
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

void (*told_of_refusal)(int) = nullptr;

[[gnu::no_sanitize("address")]] void on_refused_call(int, siginfo_t* what, void*) { told_of_refusal(what->si_syscall); }

std::string words(const char* what, int error) { return fmt::format("{}: {}", what, std::strerror(error)); }

/// Bytes of address space that this process has, the sanitizers' shadows included.
rlim_t address_space() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) {
      pages = 0;
    }
    std::fclose(file);
  }
  return pages == 0 ? RLIM_INFINITY : rlim_t{pages} * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Never raises a limit that the process has already.
std::string limit(__rlimit_resource resource, const char* name, rlim_t value) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) {
    return words(name, errno);
  }
  value = std::min({value, now.rlim_cur, now.rlim_max});
  const rlimit wanted{value, value};
  return setrlimit(resource, &wanted) == 0 ? "" : words(name, errno);
}

std::string limit_resources(const Allowance& allowance) {
  const rlim_t space = address_space();
  if (space == RLIM_INFINITY) {
    return words("the size of this process cannot be read from /proc/self/statm", errno);
  }
  const auto seconds = static_cast<rlim_t>(allowance.time.count() / 1000 + 2);
  const struct {
    __rlimit_resource resource;
    const char* name;
    rlim_t value;
  } limits[] = {
      {RLIMIT_AS, "RLIMIT_AS", space + allowance.memory + allowance.address_space},
      {RLIMIT_CPU, "RLIMIT_CPU", seconds},
      {RLIMIT_CORE, "RLIMIT_CORE", 0},
      {RLIMIT_STACK, "RLIMIT_STACK", most_stack},
      {RLIMIT_FSIZE, "RLIMIT_FSIZE", 0},
      {RLIMIT_NOFILE, "RLIMIT_NOFILE", allowance.reads_files || is_sanitized ? most_files : 0},
      {RLIMIT_NPROC, "RLIMIT_NPROC", 0},
      {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 0},
      {RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", 0},
  };
  for (const auto& one : limits) {
    if (std::string problem = limit(one.resource, one.name, one.value); !problem.empty()) {
      return problem;
    }
  }
  return {};
}

/// Standard input, output and error lead nowhere, `descriptor` stays, all others are closed.
std::string close_descriptors(int descriptor) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) {
    return words("/dev/null", errno);
  }
  for (int standard = 0; standard <= 2; ++standard) {
    if (standard != descriptor && dup2(nowhere, standard) < 0) {
      return words("dup2", errno);
    }
  }
  const auto kept = static_cast<unsigned>(std::max(descriptor, 2));
  if (kept > 3 && close_range(3, kept - 1, 0) != 0) {
    return words("close_range", errno);
  }
  return close_range(kept + 1, ~0U, 0) == 0 ? "" : words("close_range", errno);
}

/// A list of system calls that are allowed; the rest are refused.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_TRAP), seccomp_release) {}

  /// Names that this architecture does not have are left out.
  void allow(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      add(SCMP_ACT_ALLOW, name, {});
    }
  }
  void allow(const char* name, std::initializer_list<scmp_arg_cmp> conditions) {
    add(SCMP_ACT_ALLOW, name, conditions);
  }
  /// Fails with this error in place of being told.
  void fail(const char* name, int error, std::initializer_list<scmp_arg_cmp> conditions) {
    add(SCMP_ACT_ERRNO(static_cast<unsigned>(error)), name, conditions);
  }
  std::string load() {
    if (!context_) {
      return "a filter of system calls cannot be made";
    }
    error_ = error_ != 0 ? error_ : seccomp_load(context_.get());
    return error_ == 0 ? "" : words("seccomp", -error_);
  }

 private:
  void add(std::uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> conditions) {
    const int call = seccomp_syscall_resolve_name(name);
    if (!context_ || call == __NR_SCMP_ERROR || error_ != 0) {
      return;
    }
    error_ = seccomp_rule_add_array(context_.get(), action, call, static_cast<unsigned>(conditions.size()),
                                    conditions.begin());
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  int error_ = 0;
};

std::string filter_system_calls(const Allowance& allowance, int descriptor) {
  const auto line = static_cast<scmp_datum_t>(descriptor);
  const auto self = static_cast<scmp_datum_t>(getpid());
  Filter filter;
  // Memory, which is where compiled text is too, and the clock.
  filter.allow({"brk", "mmap", "munmap", "mremap", "madvise", "clock_gettime", "gettimeofday", "clock_getres", "futex",
                "sched_yield", "getrandom", "mprotect"});
  // What libraries ask before they choose how to do something, and what tells nothing but that.
  filter.allow({"sysinfo", "getrusage", "sched_getaffinity", "uname"});
  filter.allow("prlimit64", {SCMP_A2_64(SCMP_CMP_EQ, 0)});
  // The line to who asks, and the end.
  filter.allow({"exit", "exit_group", "rt_sigreturn", "rt_sigaction", "rt_sigprocmask", "sigaltstack", "getpid",
                "gettid", "restart_syscall"});
  filter.allow("sendto", {SCMP_A0_32(SCMP_CMP_EQ, line), SCMP_A4_64(SCMP_CMP_EQ, 0)});
  filter.allow("tgkill", {SCMP_A0_32(SCMP_CMP_EQ, self)});
  if (is_sanitized) {
    filter.allow({"pipe", "pipe2", "write", "close"});
  } else {
    filter.allow("write", {SCMP_A0_32(SCMP_CMP_EQ, line)});
    // What a library says on its way to abort() is lost, not a system call of the text.
    filter.fail("write", EBADF, {SCMP_A0_32(SCMP_CMP_NE, line)});
  }
  filter.fail("writev", EBADF, {});
  filter.fail("ioctl", ENOTTY, {});
  if (allowance.reads_files) {
    constexpr scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC;
    filter.allow("open", {SCMP_A1_32(SCMP_CMP_MASKED_EQ, writing, O_RDONLY)});
    filter.allow("openat", {SCMP_A2_32(SCMP_CMP_MASKED_EQ, writing, O_RDONLY)});
    filter.allow({"read", "pread64", "close", "fstat", "stat", "lstat", "newfstatat", "statx", "lseek", "readlink",
                  "readlinkat", "getdents64", "getcwd", "access", "faccessat", "faccessat2"});
    filter.allow("fcntl", {SCMP_A1_32(SCMP_CMP_EQ, F_GETFD)});
    filter.allow("fcntl", {SCMP_A1_32(SCMP_CMP_EQ, F_SETFD)});
    filter.allow("fcntl", {SCMP_A1_32(SCMP_CMP_EQ, F_GETFL)});
  } else if (is_sanitized) {
    filter.allow({"read"});
  } else {
    filter.allow("read", {SCMP_A0_32(SCMP_CMP_EQ, line)});
  }
  return filter.load();
}

/// On a stack of its own, because the text may have used up the one that it runs on.
std::string listen_for_refusals(void (*refused)(int)) {
  static std::array<char, 65536> stack_of_handler;
  told_of_refusal = refused;
  const stack_t stack{.ss_sp = stack_of_handler.data(), .ss_flags = 0, .ss_size = stack_of_handler.size()};
  struct sigaction action{};
  action.sa_sigaction = &on_refused_call;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  return sigaltstack(&stack, nullptr) == 0 && sigaction(SIGSYS, &action, nullptr) == 0 ? "" : words("sigaction", errno);
}

}  // namespace

bool is_short_of_memory(const Allowance& allowance) {
  rlimit now{};
  return getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_cur != RLIM_INFINITY &&
         now.rlim_cur < address_space() + allowance.memory;
}

std::string give_up_rights(const Allowance& allowance, int descriptor, void (*refused)(int system_call)) {
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    signal(signal_number, SIG_DFL);
  }
  std::string problem = close_descriptors(descriptor);
  if (problem.empty() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    problem = words("PR_SET_NO_NEW_PRIVS", errno);
  }
  if (problem.empty()) {
    problem = limit_resources(allowance);
  }
  if (problem.empty()) {
    problem = listen_for_refusals(refused);
  }
  return problem.empty() ? filter_system_calls(allowance, descriptor) : problem;
}

}  // namespace esc
