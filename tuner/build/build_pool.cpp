// SPDX-License-Identifier: Apache-2.0
#include "tuner/build/build_pool.h"

#include <fmt/format.h>
#include <tbb/info.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "generator/support/number_in.h"

namespace esc::tuning {
namespace {

constexpr std::string_view built = "built";
constexpr std::string_view refused = "refused";

/// The head of a question is the architecture; its pieces are the text and the kernels.
Message question_for(const KernelText& text) {
  Message question{.head = std::to_string(text.architecture), .pieces = {text.text}};
  question.pieces.insert(question.pieces.end(), text.kernels.begin(), text.kernels.end());
  return question;
}

KernelText text_in(const Message& question) {
  return {.text = question.pieces.at(0),
          .kernels = {question.pieces.begin() + 1, question.pieces.end()},
          .architecture = number_in<int>(question.head).value()};
}

/// The pieces of an answer are the code and the symbols, or what the compiler says.
Message answer_to(const KernelText& text, const Builder& builder) {
  try {
    const Cubin cubin = builder(text);
    Message answer{.head = std::string(built), .pieces = {std::string(cubin.image.begin(), cubin.image.end())}};
    answer.pieces.insert(answer.pieces.end(), cubin.symbols.begin(), cubin.symbols.end());
    return answer;
  } catch (const std::exception& problem) {
    return {.head = std::string(refused), .pieces = {problem.what()}};
  }
}

}  // namespace

int preparing_threads() {
  const int all = tbb::info::default_concurrency();
  return std::max(1, all - std::max(1, all / 4));
}

BuildPool::BuildPool(WorkerCommand worker, int processes, std::chrono::milliseconds patience)
    : command_(std::move(worker)), patience_(patience), may_start_(processes) {
  idle_.reserve(static_cast<std::size_t>(processes));  // so that giving back never fails
}

Cubin BuildPool::build(const KernelText& text) {
  std::unique_ptr<WorkerProcess> worker = take();
  Answer answer;
  try {
    answer = worker->ask(question_for(text), patience_);
  } catch (...) {  // there is no memory for the answer, or what is announced is none
    worker.reset();
    give_back(nullptr);
    throw;
  }
  give_back(answer.reception == Reception::complete ? std::move(worker) : nullptr);
  switch (answer.reception) {
    case Reception::late:
      throw BuildError(fmt::format("the compiler has not ended after {} seconds", patience_.count() / 1000));
    case Reception::closed:
      throw BuildError(fmt::format("the compiler's process has ended with {}", answer.end));
    case Reception::complete:
      break;
  }
  if (answer.message.head == refused) {
    throw BuildError(answer.message.pieces.at(0));
  }
  const std::vector<std::string>& pieces = answer.message.pieces;
  return {.image = {pieces.at(0).begin(), pieces.at(0).end()}, .symbols = {pieces.begin() + 1, pieces.end()}};
}

std::unique_ptr<WorkerProcess> BuildPool::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !idle_.empty() || may_start_ > 0; });
  if (idle_.empty()) {
    --may_start_;
    lock.unlock();
    try {
      return std::make_unique<WorkerProcess>(command_);
    } catch (...) {
      give_back(nullptr);
      throw;
    }
  }
  std::unique_ptr<WorkerProcess> worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

void BuildPool::give_back(std::unique_ptr<WorkerProcess> worker) {
  const std::lock_guard lock(mutex_);
  if (worker == nullptr) {
    ++may_start_;
  } else {
    idle_.push_back(std::move(worker));
  }
  changed_.notify_one();
}

void serve_builds(int socket, const Builder& builder) {
  Message question;
  while (receive(socket, question) == Reception::complete && send(socket, answer_to(text_in(question), builder))) {
  }
}

}  // namespace esc::tuning
