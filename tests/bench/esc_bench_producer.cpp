// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_producer.h"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "generator/emit/device_text.h"
#include "generator/emit/generate.h"
#include "generator/matrix/statistics.h"
#include "generator/model/read_elements.h"
#include "generator/support/error.h"

namespace esc::bench {
namespace {

constexpr std::size_t most_ready = 32;

std::optional<gpu::BlockTile> tile_of(const Schedule& schedule) {
  if (const auto* row_tile = std::get_if<PanelSchedule>(&schedule)) {
    return gpu::BlockTile{.rows = std::int64_t{row_tile->row_tiles} * row_tile->ufi, .columns = row_tile->columns};
  }
  return std::nullopt;
}

}  // namespace

/// What one of the preparing threads does at once.
struct Producer::Job {
  Item item;
  std::vector<Schedule> schedules;  ///< the first one that is legal for the matrix is prepared
};

/// The jobs of a run in order. Reads each matrix when its first job is asked for.
class Producer::Jobs {
 public:
  Jobs(const Options& options, const std::vector<PairPlan>& pairs) : options_(options), pairs_(pairs) {}

  std::optional<Job> next() {
    if (pair_ == pairs_.size()) {
      return std::nullopt;
    }
    const PairPlan& plan = pairs_[pair_];
    read(plan.matrix);
    Job job;
    job.item = {.pair = pair_,
                .skipped = skipped_,
                .unreadable = unreadable_,
                .matrix = matrix_,
                .candidate = {},
                .last = true};
    if (skipped_.empty()) {
      if (candidate_ == 0) {
        candidates_ = options_.candidates_for({.bcol = plan.bcol,
                                               .rows = matrix_->rows,
                                               .columns = matrix_->columns,
                                               .nonzeros = matrix_->nonzeros(),
                                               .longest_row = longest_row_,
                                               .dtype = name_of(matrix_->element)});
      }
      job.schedules = candidates_[candidate_];
      job.item.last = ++candidate_ == candidates_.size();
    }
    if (job.item.last) {
      ++pair_;
      candidate_ = 0;
    }
    return job;
  }

 private:
  void read(const std::string& file) {
    if (file == file_) {
      return;
    }
    file_ = file;
    matrix_.reset();
    skipped_.clear();
    unreadable_ = false;
    try {
      matrix_ = std::make_shared<const SparseMatrix>(read_elements(file, options_.element));
    } catch (const UserError& error) {
      skipped_ = error.what();
      unreadable_ = true;
      return;
    }
    if (matrix_->nonzeros() == 0) {
      skipped_ = file + ": has no non-zeros, so that there is no kernel to time";
    }
    longest_row_ = row_statistics(*matrix_).longest;
  }

  const Options& options_;
  const std::vector<PairPlan>& pairs_;
  std::size_t pair_ = 0;
  std::vector<std::vector<Schedule>> candidates_;  ///< of the pair
  std::size_t candidate_ = 0;
  std::string file_;
  std::shared_ptr<const SparseMatrix> matrix_;
  std::int64_t longest_row_ = 0;
  std::string skipped_;
  bool unreadable_ = false;
};

Producer::Producer(const Options& options, std::vector<PairPlan> pairs, int architecture, tuning::BuildPool& pool)
    : options_(options),
      pairs_(std::move(pairs)),
      architecture_(architecture),
      cubins_([&pool](const tuning::KernelText& text) { return pool.build(text); }),
      thread_([this] { run(); }) {}

Producer::~Producer() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

std::optional<Item> Producer::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
  if (!ready_.empty()) {
    Item item = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return item;
  }
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  return std::nullopt;
}

void Producer::push(Item item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_.size() < most_ready || stopping_; });
  if (!stopping_) {
    ready_.push_back(std::move(item));
    changed_.notify_all();
  }
}

Item Producer::prepare(const Job& job) {
  Item item = job.item;
  if (!item.skipped.empty()) {
    return item;
  }
  for (const Schedule& schedule : job.schedules) {
    item.candidate = prepare(item, schedule);
    if (item.candidate->illegal.empty()) {
      break;
    }
  }
  return item;
}

std::shared_ptr<const Candidate> Producer::prepare(const Item& item, const Schedule& schedule) {
  const PairPlan& pair = pairs_[item.pair];
  auto candidate = std::make_shared<Candidate>();
  candidate->schedule = print(schedule);
  try {
    const GeneratedLayer generated =
        generate_layer(*item.matrix, spmm_nest(item.matrix->element),
                       {.name = "layer",
                        .source_file = std::filesystem::path(pair.matrix).filename().string(),
                        .bcol = pair.bcol,
                        .architectures = {architecture_},
                        .choice = {schedule, "user"}});
    candidate->packed = generated.packed;
    candidate->packed_bytes = generated.bytes().size();
    candidate->plan = launch_plan(generated.layer);
    candidate->tile = tile_of(schedule);
    candidate->cubin = cubins_.get({device_text(generated.layer), kernels_of(candidate->plan), architecture_});
  } catch (const UserError& error) {
    candidate->illegal = error.what();
  } catch (const tuning::BuildError& error) {
    candidate->problem = error.what();
  }
  return candidate;
}

void Producer::run() {
  const int threads = tuning::preparing_threads();
  Jobs jobs(options_, pairs_);
  try {
    tbb::task_arena(threads).execute([&] {
      const auto begin = [&](tbb::flow_control& control) -> Job {
        const bool stop = [&] {
          const std::lock_guard lock(mutex_);
          return stopping_;
        }();
        std::optional<Job> job = stop ? std::nullopt : jobs.next();
        if (!job) {
          control.stop();
          return {};
        }
        return *std::move(job);
      };
      // Isolated, so that a thread that waits for a part of a job does not begin another whole one.
      const auto work = [&](const Job& job) { return tbb::this_task_arena::isolate([&] { return prepare(job); }); };
      const auto end = [&](Item item) { push(std::move(item)); };
      tbb::parallel_pipeline(static_cast<std::size_t>(2 * threads + 2),
                             tbb::make_filter<void, Job>(tbb::filter_mode::serial_in_order, begin) &
                                 tbb::make_filter<Job, Item>(tbb::filter_mode::parallel, work) &
                                 tbb::make_filter<Item, void>(tbb::filter_mode::serial_in_order, end));
    });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace esc::bench
