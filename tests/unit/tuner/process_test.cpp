// SPDX-License-Identifier: Apache-2.0
#include "generator/support/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <sstream>
#include <thread>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/program_beside.h"
#include "generator/support/spawn.h"
#include "tuner/build/build_pool.h"
#include "tuner/process/worker_process.h"

namespace esc::tuning {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr seconds patient(60);
constexpr milliseconds impatient(50);

WorkerCommand echo_worker(const std::string& task = "answer") {
  return {.program = ESC_ECHO_WORKER, .arguments = {task}};
}

/// What a call takes.
template <typename Call>
milliseconds time_of(Call call) {
  const auto begin = steady_clock::now();
  call();
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
}

/// Whether a process that this one is to wait for ends by itself.
bool ends_soon(pid_t process) {
  const auto last = steady_clock::now() + patient;
  while (steady_clock::now() < last) {
    if (::waitpid(process, nullptr, WNOHANG) == process) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

/// Two sockets that are connected.
class Sockets {
 public:
  Sockets() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    close_one();
    ::close(ends_[1]);
  }

  int one() const { return ends_[0]; }
  int other() const { return ends_[1]; }
  void close_one() { ::close(std::exchange(ends_[0], -1)); }

 private:
  int ends_[2] = {-1, -1};
};

TEST(Message, ArrivesAsItWasSent) {
  const Sockets sockets;
  for (const Message& message : {Message{.head = ""}, Message{.head = "head", .pieces = {""}},
                                 Message{.head = "{}", .pieces = {std::string(3, '\0'), "", "\xff"}}}) {
    ASSERT_TRUE(send(sockets.one(), message));
    Message received{.head = "of before", .pieces = {"of before"}};
    ASSERT_EQ(receive(sockets.other(), received), Reception::complete);
    EXPECT_EQ(received, message);
  }
}

TEST(Message, IsToldOfAnEndThatIsGone) {
  Sockets sockets;
  sockets.close_one();
  Message received;
  EXPECT_EQ(receive(sockets.other(), received), Reception::closed);
  EXPECT_FALSE(send(sockets.other(), {.head = "anyone"})) << "and this process was not ended by a signal";
}

/// Whatever it has announced, no memory is taken for it.
TEST(Message, OfAnEndThatDiesWhileItWritesIsNone) {
  for (const std::uint64_t announced :
       {std::uint64_t{5}, std::uint64_t{1} << 35, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    for (const std::size_t written : {std::size_t{1}, std::size_t{7}, sizeof announced}) {
      Sockets sockets;
      ASSERT_EQ(::send(sockets.one(), &announced, written, 0), static_cast<ssize_t>(written));
      sockets.close_one();
      Message received;
      EXPECT_EQ(receive(sockets.other(), received), Reception::closed) << announced << ", " << written;
      EXPECT_LT(received.head.capacity(), std::size_t{1} << 24U);
    }
  }
}

TEST(Message, IsNotWaitedForBeyondTheDeadline) {
  const Sockets sockets;
  Message received;
  EXPECT_EQ(receive(sockets.other(), received, steady_clock::now() - seconds(1)), Reception::late);
  EXPECT_EQ(receive(sockets.other(), received, steady_clock::now() + impatient), Reception::late);
  const Message large{.head = "large", .pieces = {std::string(std::size_t{8} << 20U, 'x')}};
  EXPECT_EQ(send(sockets.other(), large, steady_clock::now() + impatient), Reception::late) << "nobody takes it";
}

TEST(WorkerProcess, AnswersOneQuestionAfterTheOther) {
  WorkerProcess worker(echo_worker());
  for (const char* piece : {"", "one", "two"}) {
    const Message question{.head = "echo", .pieces = {piece, piece}};
    const Answer answer = worker.ask(question, patient);
    EXPECT_EQ(answer.reception, Reception::complete);
    EXPECT_EQ(answer.message, question);
    EXPECT_EQ(answer.end, "");
  }
}

TEST(WorkerProcess, AnswersWithMuchData) {
  WorkerProcess worker(echo_worker());
  Message question{.head = "echo", .pieces = {std::string(std::size_t{32} << 20U, 'x'), "behind"}};
  for (std::size_t at = 0; at < question.pieces[0].size(); at += 4093) {
    question.pieces[0][at] = static_cast<char>(at);
  }
  const Answer answer = worker.ask(question, patient);
  ASSERT_EQ(answer.reception, Reception::complete);
  EXPECT_TRUE(answer.message == question);
}

TEST(WorkerProcess, HasTheVariablesThatItIsGiven) {
  WorkerCommand command = echo_worker();
  command.environment = {"ESC_TEST_VARIABLE=its value"};
  EXPECT_EQ(WorkerProcess(command).ask({.head = "variable"}, patient).message.head, "its value");
  EXPECT_EQ(WorkerProcess(echo_worker()).ask({.head = "variable"}, patient).message.head, "");
}

TEST(WorkerProcess, IsKilledWhereItDoesNotAnswerInTime) {
  WorkerProcess worker(echo_worker());
  const pid_t process = std::stoi(worker.ask({.head = "process"}, patient).message.head);
  Answer answer;
  EXPECT_LT(time_of([&] { answer = worker.ask({.head = "sleep"}, impatient); }), seconds(20));
  EXPECT_EQ(answer.reception, Reception::late);
  EXPECT_EQ(answer.end, "signal 9");
  EXPECT_EQ(::kill(process, 0), -1) << "the process is gone when ask returns";
  EXPECT_THROW(worker.ask({.head = "echo"}, patient), Defect);
}

TEST(WorkerProcess, IsKilledWhereItDoesNotEvenTakeTheQuestion) {
  WorkerProcess worker(echo_worker("deaf"));
  Answer answer;
  const Message large{.head = "echo", .pieces = {std::string(std::size_t{32} << 20U, 'x')}};
  EXPECT_LT(time_of([&] { answer = worker.ask(large, impatient); }), seconds(20));
  EXPECT_EQ(answer.reception, Reception::late);
}

TEST(WorkerProcess, SaysHowItHasEnded) {
  EXPECT_EQ(WorkerProcess(echo_worker()).ask({.head = "status"}, patient).end, "status 3");
  EXPECT_EQ(WorkerProcess(echo_worker()).ask({.head = "leave"}, patient).end, "status 0");
  const Answer crashed = WorkerProcess(echo_worker()).ask({.head = "crash"}, patient);
  EXPECT_EQ(crashed.reception, Reception::closed);
  EXPECT_EQ(crashed.end, "signal 11");
}

TEST(WorkerProcess, SaysSoWhereItHasEndedBeforeTheQuestion) {
  WorkerProcess worker({.program = "/bin/false"});
  const Answer answer = worker.ask({.head = "echo", .pieces = {std::string(std::size_t{8} << 20U, 'x')}}, patient);
  EXPECT_EQ(answer.reception, Reception::closed);
  EXPECT_EQ(answer.end, "status 1");
}

TEST(WorkerProcess, IsClosedWhereAMessageBreaksOff) {
  WorkerProcess worker(echo_worker());
  const Answer whole = worker.ask({.head = "part"}, patient);
  EXPECT_EQ(whole.message, (Message{.head = "first", .pieces = {"second"}}));
  Answer part;
  EXPECT_LT(time_of([&] { part = worker.listen(patient); }), seconds(20)) << "though the process sleeps for ever";
  EXPECT_EQ(part.reception, Reception::closed);
  EXPECT_EQ(part.end, "signal 9");
}

TEST(WorkerProcess, CannotBeAProgramThatIsNotThere) {
  EXPECT_THROW(WorkerProcess({.program = "/nowhere/worker"}), UserError);
  EXPECT_THAT([] { program_beside_this("esctune-no-such-worker"); },
              ThrowsMessage<UserError>(HasSubstr("is not beside this program")));
}

TEST(WorkerProcess, IsGoneWithItsObject) {
  pid_t process = 0;
  {
    WorkerProcess worker(echo_worker());
    process = std::stoi(worker.ask({.head = "process"}, patient).message.head);
    EXPECT_EQ(::kill(process, 0), 0);
  }
  EXPECT_EQ(::kill(process, 0), -1);
}

/// A process that starts a worker, says which, and then does what it is told to.
class Parent {
 public:
  explicit Parent(const std::function<void(WorkerProcess&)>& life) {
    int said[2];
    EXPECT_EQ(::pipe(said), 0);
    process_ = ::fork();
    if (process_ == 0) {
      WorkerProcess worker(echo_worker());
      const pid_t child = std::stoi(worker.ask({.head = "process"}, patient).message.head);
      EXPECT_EQ(::write(said[1], &child, sizeof child), static_cast<ssize_t>(sizeof child));
      life(worker);
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    ::close(said[1]);
    EXPECT_EQ(::read(said[0], &worker_, sizeof worker_), static_cast<ssize_t>(sizeof worker_));
    ::close(said[0]);
  }

  pid_t process() const { return process_; }
  pid_t worker() const { return worker_; }

 private:
  pid_t process_ = 0;
  pid_t worker_ = 0;
};

TEST(WorkerProcess, EndsWhenItsParentIsKilled) {
  // So that this process can wait for the orphan.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (const bool busy : {false, true}) {
    const Parent parent([&](WorkerProcess& worker) {
      if (busy) {
        worker.ask({.head = "sleep"}, patient);
      }
      ::pause();
    });
    ASSERT_EQ(::kill(parent.process(), SIGKILL), 0);
    EXPECT_EQ(wait_for_end(parent.process()), 128 + SIGKILL);
    EXPECT_TRUE(ends_soon(parent.worker())) << (busy ? "while it works" : "while it waits");
  }
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

TEST(WorkerProcess, IsSparedTheSignalsOfTheTerminal) {
  const Parent parent([](WorkerProcess& worker) {
    // A group of its own, so that the signal does not reach who runs the test.
    EXPECT_EQ(::setpgid(0, 0), 0);
    ::signal(SIGINT, [](int) {});
    EXPECT_EQ(::kill(0, SIGINT), 0);
    WorkerProcess of_this_group(echo_worker());
    EXPECT_EQ(::kill(0, SIGINT), 0);
    for (WorkerProcess* one : {&worker, &of_this_group}) {
      EXPECT_EQ(one->ask({.head = "echo"}, patient).reception, Reception::complete);
    }
  });
  EXPECT_EQ(wait_for_end(parent.process()), 0);
}

TEST(RunProcess, GivesAProgramAGroupOfItsOwnWhereThatIsAsked) {
  for (const bool own : {true, false}) {
    // The numbers of the process and of its group.
    std::istringstream numbers(
        run_process({"cut", "-d", " ", "-f", "1,5", "/proc/self/stat"}, {.own_group = own}).output);
    pid_t process = 0;
    pid_t group = 0;
    numbers >> process >> group;
    EXPECT_EQ(group, own ? process : ::getpgrp());
  }
}

TEST(RunProcess, WaitsForWhatEndsInTime) {
  for (const char* script :
       {"echo said; echo too >&2; exit 3", "echo said; echo too; exec >&- 2>&-; sleep 0.1; exit 3"}) {
    const ProcessResult result = run_process({"/bin/sh", "-c", script}, {.own_group = true, .patience = patient});
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.output, "said\ntoo\n");
  }
}

TEST(RunProcess, KillsWhatTakesTooLongWithAllThatItHasStarted) {
  // So that this process can wait for the orphan.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (const char* script : {"sleep 600 & echo $!; wait", "sleep 600 >/dev/null 2>&1 & echo $!; exec >&- 2>&-; wait"}) {
    ProcessResult result;
    EXPECT_LT(
        time_of([&] { result = run_process({"/bin/sh", "-c", script}, {.own_group = true, .patience = seconds(1)}); }),
        seconds(20));
    EXPECT_TRUE(result.timed_out);
    EXPECT_EQ(result.status, 128 + SIGKILL);
    EXPECT_TRUE(ends_soon(std::stoi(result.output))) << "what the program has started";
  }
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

TEST(RunProcess, LimitsOnlyWhatItCanKillWhole) { EXPECT_THROW(run_process({"true"}, {.patience = patient}), Defect); }

Cubin reversed(const std::string& text) { return {.image = {text.rbegin(), text.rend()}, .symbols = {"one", "two"}}; }

KernelText asking(const std::string& text) { return {.text = text, .kernels = {"one", "two"}, .architecture = 90}; }

TEST(BuildPool, BuildsInItsProcesses) {
  BuildPool pool(echo_worker("build"), 2);
  std::vector<std::jthread> threads;
  for (int number = 0; number < 6; ++number) {
    threads.emplace_back(
        [&pool, text = std::to_string(number) + " text"] { EXPECT_EQ(pool.build(asking(text)), reversed(text)); });
  }
}

TEST(BuildPool, OutlivesWhatACompilerDoes) {
  BuildPool pool(echo_worker("build"), 1, seconds(1));
  for (const auto& [text, why] :
       {std::pair("refuse", "line 7 is wrong"), std::pair("crash", "has ended with signal 11"),
        std::pair("sleep", "has not ended after 1 seconds")}) {
    EXPECT_THAT([&] { pool.build(asking(text)); }, ThrowsMessage<BuildError>(HasSubstr(why)));
    EXPECT_EQ(pool.build(asking("next")), reversed("next"));
  }
}

TEST(BuildPool, CanBeAskedAgainWhereItsProgramIsNotThere) {
  BuildPool pool({.program = "/nowhere/worker"}, 1);
  for (int time = 0; time < 2; ++time) {
    EXPECT_THROW(pool.build(asking("text")), UserError);
  }
}

/// A worker that announces an answer of 2^64 - 1 bytes.
TEST(BuildPool, CanBeAskedAgainWhereAnAnswerCannotBeHeld) {
  BuildPool pool(
      {.program = "/bin/sh", .arguments = {"-c", R"(printf '\377\377\377\377\377\377\377\377' >&3; exec sleep 600)"}},
      1, patient);
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT([&] { pool.build(asking("text")); }, ThrowsMessage<BuildError>(HasSubstr("has ended with")));
  }
}

}  // namespace
}  // namespace esc::tuning
