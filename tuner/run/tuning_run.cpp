// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/tuning_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "generator/emit/generate.h"
#include "generator/emit/layout_class.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/nest_in_type.h"
#include "generator/ir/nest_json.h"
#include "generator/ir/product_digits.h"
#include "generator/lower/canonicalize.h"
#include "generator/matrix/fingerprint.h"
#include "generator/schedule/element_types.h"
#include "generator/support/error.h"
#include "tuner/records/gone_records.h"
#include "tuner/records/item_results.h"

namespace esc::tuning {
namespace {

/// The matrix of a file, kept for the next item: items of one layer follow each other.
class MatrixCache {
 public:
  explicit MatrixCache(const RunRequest& request) : request_(request) {}

  std::shared_ptr<const SparseMatrix> get(const std::string& file, ScalarType element) {
    if (matrix_ == nullptr || file != file_ || matrix_->element != element) {
      matrix_ = std::make_shared<const SparseMatrix>(request_.matrix(file, element));
      file_ = file;
    }
    return matrix_;
  }

 private:
  const RunRequest& request_;
  std::string file_;
  std::shared_ptr<const SparseMatrix> matrix_;
};

/// Whether something that was measured of an item was not right.
bool has_failures(const ItemResults& known) {
  const auto failed = [](const auto& result) { return result.second.outcome != Outcome::ok; };
  return std::ranges::any_of(std::array{&known.search, &known.final, &known.chain, &known.peers},
                             [&](const auto* results) { return std::ranges::any_of(*results, failed); });
}

bool has_missing(const ItemResults& known, const std::vector<Schedule>& candidates) {
  return std::ranges::any_of(candidates,
                             [&](const Schedule& candidate) { return !known.search.contains(print(candidate)); });
}

/// A run while it goes on, shared by the threads of its labs.
class Run {
 public:
  Run(const RunRequest& request, Journal& journal, const RunObserver& observer, const StopRequest& stop)
      : request_(request),
        journal_(journal),
        observer_(observer),
        stop_(stop),
        known_(group_by_item(without_gone(journal.records()))) {}

  void work(const LabFactory& factory) {
    try {
      const std::unique_ptr<Lab> lab = factory();
      tell([&] { observer_.started(lab->device(), lab->environment()); });
      MatrixCache shelf(request_);
      for (std::size_t number = next_++; number < request_.items.size() && !must_stop(); number = next_++) {
        tune(request_.items[number], *lab, shelf);
      }
    } catch (...) {
      fail();
    }
  }

  /// Ends the run by the exception that is being handled; what is in flight is finished.
  void fail() {
    const std::lock_guard lock(mutex_);
    failure_ = failure_ ? failure_ : std::current_exception();
  }

  RunSummary end() {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    summary_.left = request_.items.size() - summary_.decided - summary_.known - summary_.failed;
    return summary_;
  }

 private:
  bool must_stop() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr || stop_();
  }

  void tune(const ItemRequest& asked, Lab& lab, MatrixCache& shelf) {
    const WorkItem item = item_for(request_, asked, lab.device());
    const auto found = known_.find(key_of(item));
    const ItemResults known = found == known_.end() ? ItemResults() : found->second;
    if (is_settled(request_, item, known)) {
      const std::lock_guard lock(mutex_);
      ++summary_.known;
      return;
    }
    const std::string where = describe(item);
    std::shared_ptr<const SparseMatrix> matrix;
    try {
      matrix = shelf.get(item.layer.file, asked.nest.nest->element());
    } catch (const UserError& problem) {
      leave(where, problem);
      return;
    }
    try {
      const ItemPlan plan{item, {matrix, asked.nest.nest}, request_.candidates(item), request_.incumbent(item), known};
      const std::size_t expected = plan.candidates.size();
      tell([&] { observer_.expects(expected); });
      std::size_t counted = 0;
      SearchOptions options = request_.search;
      options.retry_failed = request_.retry == Retry::failed;
      const ItemEnd end = tune_item(
          plan, options, lab, [&](const Record& record) { keep(record); }, [&] { return must_stop(); },
          [&](std::size_t measured) {
            tell([&] { observer_.measured(measured - std::exchange(counted, measured), where); });
          });
      if (end != ItemEnd::interrupted) {
        // Those that earlier runs have measured, and an incumbent beside the expected ones.
        tell([&] { observer_.measured(expected > counted ? expected - counted : 0, where); });
        const std::lock_guard lock(mutex_);
        ++summary_.decided;
      }
    } catch (const UserError& problem) {
      if (problem.status() != ExitStatus::check_failed) {
        throw;
      }
      leave(where, problem);
    }
  }

  /// An item that cannot be tuned.
  void leave(const std::string& where, const UserError& problem) {
    const std::lock_guard lock(mutex_);
    observer_.failed(where + ": " + problem.what());
    ++summary_.failed;
  }

  void keep(const Record& record) {
    journal_.write(record);
    const std::lock_guard lock(mutex_);
    if (const auto* candidate = std::get_if<CandidateRecord>(&record)) {
      ++summary_.outcomes[candidate->outcome];
    } else {
      observer_.decided(std::get<DecisionRecord>(record));
    }
  }

  void tell(const std::function<void()>& what) {
    const std::lock_guard lock(mutex_);
    what();
  }

  const RunRequest& request_;
  Journal& journal_;
  const RunObserver& observer_;
  const StopRequest& stop_;
  std::map<ItemKey, ItemResults> known_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  RunSummary summary_;
  std::exception_ptr failure_;
};

/// What files hold of groups is another matrix than the product's, and it is that of the file which records name.
std::int64_t count_of_groups(const LoopNest& nest) {
  const ProductDigits digits = digits_of(nest);
  return *count_of({digits.reductions.begin(), digits.reductions.begin() + static_cast<std::ptrdiff_t>(digits.groups)});
}

}  // namespace

TunedNest tuned_nest(const LoopNest& nest) {
  if (std::ranges::find(measured_types, std::string_view(name_of(nest.element()))) == measured_types.end()) {
    throw UserError("the loop nest", fmt::format("has elements of {}", name_of(nest.element())),
                    fmt::format("kernels are tuned in {}: write it in one of these", fmt::join(measured_types, ", ")));
  }
  if (count_of_groups(nest) > 1) {
    throw UserError("the loop nest", "has groups",
                    "tune the matrix of all groups, with zeros between them, with the nest without groups");
  }
  constexpr std::size_t digits = 16;
  NestFacts facts{.layout = layout_class(nest)};
  const ProductColumns columns = product_columns(nest, 1);
  facts.item_columns = columns.count;
  facts.contiguous = columns.are_contiguous;
  // Programs that mean the same have the same kernels.
  const LoopNest canonical = canonicalize(nest);
  const auto is_shipped = [&](const LoopNest& shipped) {
    return canonical == canonicalize(in_type(shipped, nest.element()));
  };
  if (!is_shipped(spmm_nest()) && !is_shipped(linear_nk_nest())) {
    facts.digest = sha256_of_text(nest_json(nest)).substr(0, digits);
  }
  return {std::make_shared<const LoopNest>(nest), facts};
}

WorkItem item_for(const RunRequest& request, const ItemRequest& asked, const DeviceKey& device) {
  return {.layer = asked.layer,
          .bcol = asked.bcol,
          .dtype = name_of(asked.nest.nest->element()),
          .device = device,
          .cache = asked.cache.value_or(request.cache),
          .nest = asked.nest.facts};
}

bool is_settled(const RunRequest& request, const WorkItem& item, const ItemResults& known) {
  if (!known.decision) {
    return false;
  }
  // What was measured after the decision was so by an earlier retry, which was broken off before its final.
  const bool is_behind = known.right() > known.decided_on;
  switch (request.retry) {
    case Retry::failed:
      return !is_behind && !has_failures(known);
    case Retry::missing:
      return !is_behind && !has_missing(known, request.candidates(item));
    case Retry::nothing:
      break;
  }
  return true;
}

RunSummary run_tuning(const RunRequest& request, const std::vector<LabFactory>& labs, Journal& journal,
                      const RunObserver& observer, const StopRequest& stop) {
  Run run(request, journal, observer, stop);
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t number = 1; number < labs.size(); ++number) {
        threads.emplace_back([&, number] { run.work(labs[number]); });
      }
      run.work(labs.front());
    } catch (const std::system_error&) {  // a machine without a thread for each
      run.fail();
    }
  }
  return run.end();
}

}  // namespace esc::tuning
