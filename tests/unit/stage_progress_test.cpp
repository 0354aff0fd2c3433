// SPDX-License-Identifier: Apache-2.0
#include "generator/support/stage_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace esc {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Everything that a progress has drawn.
class Screen {
 public:
  StageProgress::Sink sink() {
    return [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      text_ += text;
      drawn_.notify_all();
    };
  }

  /// Waits until the words are there; the whole text.
  std::string text_with(const std::string& words) {
    std::unique_lock lock(mutex_);
    drawn_.wait_for(lock, 20s, [&] { return text_.find(words) != std::string::npos; });
    return text_;
  }
  std::string text() { return text_with(""); }

 private:
  std::mutex mutex_;
  std::condition_variable drawn_;
  std::string text_;
};

constexpr StageProgress::Timing at_once{.delay = 0ms, .interval = 1ms};

TEST(StageProgress, DrawsTheShareThatIsDone) {
  Screen screen;
  StageProgress progress(screen.sink(), at_once);
  progress.begin("reading a.mtx", 400);
  EXPECT_THAT(screen.text_with("0 %"), StartsWith("\r\033[K[........................] 0 %: reading a.mtx"));
  progress.advance(50);
  progress.advance(50);
  EXPECT_THAT(screen.text_with("25 %"), HasSubstr("\r\033[K[######..................] 25 %, 0 s left: reading a.mtx"));
  progress.reach(9999);
  EXPECT_THAT(screen.text_with("100 %"), HasSubstr("[########################] 100 %, 0 s left: reading a.mtx"));
}

TEST(StageProgress, DrawsAStageThatSaysNothingMore) {
  Screen screen;
  StageProgress progress(screen.sink(), at_once);
  progress.begin("packing");
  EXPECT_THAT(screen.text_with("packing"), StartsWith("\r\033[Kpacking, for 0 s"));
}

TEST(StageProgress, TakesItsLineAway) {
  Screen screen;
  StageProgress progress(screen.sink(), at_once);
  progress.begin("packing");
  screen.text_with("packing");
  progress.begin("verifying");
  EXPECT_THAT(screen.text_with("verifying"), HasSubstr("\r\033[K\r\033[Kverifying"));
  progress.finish();
  const std::string text = screen.text();
  EXPECT_THAT(text, EndsWith(" s\r\033[K"));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(screen.text(), text) << "nothing is drawn after the end";
}

TEST(StageProgress, DrawsNothingOfAShortJob) {
  Screen screen;
  {
    StageProgress progress(screen.sink(), {.delay = 1h, .interval = 1ms});
    progress.begin("packing");
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_THAT(screen.text(), IsEmpty());
}

TEST(StageProgress, IsSilentWithoutASink) {
  StageProgress progress;
  progress.begin("packing", 3);
  progress.advance(1);
  progress.finish();
  StageProgress::silent().begin("packing");
}

}  // namespace
}  // namespace esc
