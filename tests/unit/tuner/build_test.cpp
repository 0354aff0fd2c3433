// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "tuner/build/cubin_store.h"
#include "tuner/build/kernel_text.h"
#include "tuner/build/nvcc_build.h"
#include "tuner/build/object_cache.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr const char* nvrtc = "nvrtc 13.0";

const KernelText text{.text = "__global__ void one() {}\n", .kernels = {"one"}, .architecture = 90};

/// Texts that differ from the one above in one thing each.
std::vector<KernelText> other_texts() {
  std::vector<KernelText> others(4, text);
  others[0].text += " ";
  others[1].kernels = {"two"};
  others[2].kernels = {"one", "two"};
  others[3].architecture = 80;
  return others;
}

Cubin some_code() {
  Cubin cubin{.image = {}, .symbols = {"_Z3onev", "_Z3twov"}};
  for (int byte = 0; byte < 512; ++byte) {
    cubin.image.push_back(static_cast<char>(byte));
  }
  return cubin;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  return files;
}

TEST(Digest, IsASha256OfEverything) {
  EXPECT_THAT(digest(text), testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(digest(text), digest(KernelText(text)));
  for (const KernelText& other : other_texts()) {
    EXPECT_NE(digest(other), digest(text));
  }
}

TEST(ShortDigest, IsTheBeginningOfASha256) {
  EXPECT_EQ(short_digest("abc"), "ba7816bf8f01cfea");
  EXPECT_NE(short_digest("abc"), short_digest("abc "));
}

class ObjectCacheTest : public testing::Test {
 protected:
  fs::path folder() const { return folder_.path() / "not" / "there"; }

 private:
  TemporaryFolder folder_;
};

TEST_F(ObjectCacheTest, HasNothingAtFirst) {
  const ObjectCache cache(folder());
  EXPECT_EQ(cache.find(text, nvrtc), std::nullopt);
}

TEST_F(ObjectCacheTest, FindsWhatWasKept) {
  const ObjectCache cache(folder());
  cache.keep(text, nvrtc, some_code());
  EXPECT_EQ(cache.find(text, nvrtc), some_code());
  EXPECT_EQ(ObjectCache(folder()).find(text, nvrtc), some_code()) << "in another program, too";
}

TEST_F(ObjectCacheTest, KeepsCodeWithoutSymbolsOrBytes) {
  const ObjectCache cache(folder());
  for (const Cubin& cubin :
       {Cubin{}, Cubin{.image = {'\n', '\n', 'x'}, .symbols = {}}, Cubin{.image = {}, .symbols = {"one"}}}) {
    cache.keep(text, nvrtc, cubin);
    EXPECT_EQ(cache.find(text, nvrtc), cubin);
  }
}

TEST_F(ObjectCacheTest, TellsTextsAndCompilersApart) {
  const ObjectCache cache(folder());
  cache.keep(text, nvrtc, some_code());
  EXPECT_EQ(cache.find(text, "nvrtc 13.1"), std::nullopt);
  EXPECT_EQ(cache.find(text, "nvcc 13.0"), std::nullopt);
  for (const KernelText& other : other_texts()) {
    EXPECT_EQ(cache.find(other, nvrtc), std::nullopt);
  }
}

TEST_F(ObjectCacheTest, CountsADamagedFileAsAbsentAndReplacesIt) {
  const ObjectCache cache(folder());
  cache.keep(text, nvrtc, some_code());
  ASSERT_THAT(files_in(folder()), SizeIs(1));
  const fs::path file = files_in(folder()).front();
  const std::string whole = read_file(file);
  std::string flipped = whole;
  flipped[whole.size() - 7] ^= 1;
  for (const std::string& damaged : {std::string(), std::string("\n"), whole.substr(0, 20),
                                     whole.substr(0, whole.size() - 1), whole + "x", flipped}) {
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_EQ(cache.find(text, nvrtc), std::nullopt) << damaged.size() << " bytes";
    cache.keep(text, nvrtc, some_code());
    EXPECT_EQ(cache.find(text, nvrtc), some_code());
  }
}

TEST_F(ObjectCacheTest, IsOfThisUserAlone) {
  const ObjectCache cache(folder());
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder(), fs::perms::owner_all | others);
    EXPECT_THAT([&] { ObjectCache again(folder()); },
                ThrowsMessage<UserError>(HasSubstr("can be written by other users, who could put any code there")));
  }
  fs::permissions(folder(), fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read);
  EXPECT_NO_THROW(ObjectCache(folder() / "")) << "who reads it does no harm";
  if (::chown(folder().c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "this user can give nothing away";
  }
  EXPECT_THAT([&] { ObjectCache again(folder()); },
              ThrowsMessage<UserError>(HasSubstr("belongs to another user, who could put any code there")));
}

TEST_F(ObjectCacheTest, CannotBeBelowAFile) {
  fs::create_directories(folder().parent_path());
  std::ofstream(folder()) << "a file";
  EXPECT_THAT([&] { ObjectCache cache(folder()); },
              ThrowsMessage<UserError>(HasSubstr("cannot be made a folder for compiled kernels")));
  EXPECT_THROW(ObjectCache(folder() / "below"), UserError);
}

TEST_F(ObjectCacheTest, SaysSoWhereAFileCannotBeKept) {
  const ObjectCache cache(folder());
  fs::remove(folder());
  EXPECT_THROW(cache.keep(text, nvrtc, some_code()), UserError);
  EXPECT_EQ(cache.find(text, nvrtc), std::nullopt);
}

/// The signals that end a program reach it again when several threads have kept files at once.
TEST_F(ObjectCacheTest, LeavesTheSignalsAsTheyWere) {
  const ObjectCache cache(folder());
  const auto of_the_program = [](int) {};
  ASSERT_NE(std::signal(SIGTERM, of_the_program), SIG_ERR);
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&cache, number] {
        for (int time = 0; time < 50; ++time) {
          cache.keep({.text = std::to_string(number), .kernels = {}, .architecture = 90}, nvrtc, some_code());
        }
      });
    }
  }
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), static_cast<void (*)(int)>(of_the_program));
  EXPECT_THAT(files_in(folder()), SizeIs(8)) << "and nothing of the writing is left";
}

TEST_F(ObjectCacheTest, IsAskedBeforeTheBuilder) {
  const ObjectCache cache(folder());
  int builds = 0;
  const Builder builder = [&](const KernelText& wanted) {
    ++builds;
    return Cubin{.image = {wanted.text.begin(), wanted.text.end()}, .symbols = wanted.kernels};
  };
  const Builder with = cached(builder, nvrtc, &cache);
  for (const KernelText& one : other_texts()) {
    EXPECT_EQ(with(one), builder(one));
    EXPECT_EQ(with(one), builder(one));
  }
  EXPECT_EQ(builds, 4 + 8) << "each once by the cache";
  cached(builder, "nvrtc 13.1", &cache)(other_texts().front());
  EXPECT_EQ(builds, 4 + 8 + 1) << "another compiler builds anew";
  const Builder without = cached(builder, nvrtc, nullptr);
  without(text);
  without(text);
  EXPECT_EQ(builds, 4 + 8 + 1 + 2);
}

TEST_F(ObjectCacheTest, DoesNotKeepWhatDoesNotBuild) {
  const ObjectCache cache(folder());
  int builds = 0;
  const Builder with = cached(
      [&](const KernelText&) -> Cubin {
        ++builds;
        throw BuildError("line 7");
      },
      nvrtc, &cache);
  EXPECT_THROW(with(text), BuildError);
  EXPECT_THROW(with(text), BuildError);
  EXPECT_EQ(builds, 2);
}

TEST_F(ObjectCacheTest, CostsNoCandidateWhereTheDiskIsFull) {
  const ObjectCache cache(folder());
  fs::remove(folder());
  const Builder with = cached([](const KernelText&) { return some_code(); }, nvrtc, &cache);
  EXPECT_EQ(with(text), some_code());
}

/// Has its value again for the tests behind.
class KeptVariable {
 public:
  explicit KeptVariable(const char* name) : name_(name) {
    if (const char* const value = std::getenv(name)) {
      value_ = value;
    }
  }
  KeptVariable(const KeptVariable&) = delete;
  KeptVariable& operator=(const KeptVariable&) = delete;
  ~KeptVariable() { value_ ? ::setenv(name_, value_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> value_;
};

TEST(DefaultCacheFolder, IsWhereTheUserHasIt) {
  const KeptVariable home("HOME");
  const KeptVariable cache("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/someone", 1);
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(default_cache_folder(), "/cache/esc");
  ::setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_EQ(default_cache_folder(), "/home/someone/.cache/esc");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(default_cache_folder(), "/home/someone/.cache/esc");
  ::unsetenv("HOME");
  EXPECT_EQ(default_cache_folder(), "");
}

/// A program that stands in front of nvcc on the PATH.
class FakeNvcc : public testing::Test {
 protected:
  FakeNvcc() { ::setenv("PATH", (folder_.path().string() + ":" + path_before_).c_str(), 1); }
  ~FakeNvcc() override { ::setenv("PATH", path_before_.c_str(), 1); }

  fs::path folder() const { return folder_.path(); }
  void does(const std::string& script) const {
    write_file_whole(folder() / "nvcc", "#!/bin/sh\n" + script + "\n");
    fs::permissions(folder() / "nvcc", fs::perms::owner_all);
  }
  void has_version(const std::string& version) const {
    does("echo 'Cuda compilation tools, release 13.0, " + version + "'");
  }

 private:
  TemporaryFolder folder_;
  std::string path_before_ = std::getenv("PATH");
};

const KernelText without_kernels{.text = "", .kernels = {}, .architecture = 90};

TEST_F(FakeNvcc, HasAnotherSetupWithEachUpdateUnderOneName) {
  has_version("V13.0.88");
  const std::optional<Compiler> first = installed_nvcc();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "nvcc 13.0");
  EXPECT_THAT(first->setup, testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(installed_nvcc(), first);
  has_version("V13.0.89");
  const std::optional<Compiler> second = installed_nvcc();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, "nvcc 13.0");
  EXPECT_NE(second->setup, first->setup);
}

/// A signal that a terminal sends to this program must not make a candidate look as if it did not compile.
TEST_F(FakeNvcc, BuildsInAGroupOfItsOwn) {
  does("cut -d ' ' -f 5 /proc/self/stat >" + (folder() / "group").string() + "; echo code >kernel.cubin");
  const Cubin cubin = build_with_nvcc(without_kernels, {});
  EXPECT_EQ(std::string(cubin.image.begin(), cubin.image.end()), "code\n");
  std::istringstream text_of_group(read_file(folder() / "group"));
  pid_t group = 0;
  text_of_group >> group;
  EXPECT_GT(group, 0);
  EXPECT_NE(group, ::getpgrp());
}

TEST_F(FakeNvcc, IsNotWaitedForForEver) {
  does("sleep 600");
  EXPECT_THAT([] { build_with_nvcc(without_kernels, {}, std::chrono::seconds(1)); },
              ThrowsMessage<BuildError>(HasSubstr("nvcc has not ended after 1 seconds")));
}

TEST_F(FakeNvcc, SaysWhyATextDoesNotBuild) {
  does("echo line 7 >&2; exit 1");
  EXPECT_THAT([] { build_with_nvcc(without_kernels, {}); }, ThrowsMessage<BuildError>("line 7\n"));
}

TEST(CubinStore, BuildsEachTextOnceHoweverManyAsk) {
  std::atomic<int> builds = 0;
  std::latch all(8);
  CubinStore store([&](const KernelText& wanted) {
    ++builds;
    return Cubin{.image = {}, .symbols = wanted.kernels};
  });
  std::vector<std::shared_ptr<const Cubin>> cubins(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t number = 0; number < cubins.size(); ++number) {
      threads.emplace_back([&, number] {
        all.arrive_and_wait();
        cubins[number] = store.get(number % 2 == 0 ? text : other_texts()[2]);
      });
    }
  }
  EXPECT_EQ(builds, 2);
  for (std::size_t number = 0; number < cubins.size(); ++number) {
    EXPECT_EQ(cubins[number], cubins[number % 2]) << "the very same one";
    EXPECT_THAT(cubins[number]->symbols, SizeIs(number % 2 + 1));
  }
}

TEST(CubinStore, TellsEveryoneWhyATextDoesNotBuild) {
  int builds = 0;
  CubinStore store([&](const KernelText&) -> Cubin {
    ++builds;
    throw BuildError("line 7");
  });
  for (int time = 0; time < 3; ++time) {
    EXPECT_THAT([&] { store.get(text); }, ThrowsMessage<BuildError>(HasSubstr("line 7")));
  }
  EXPECT_EQ(builds, 1);
}

}  // namespace
}  // namespace esc::tuning
