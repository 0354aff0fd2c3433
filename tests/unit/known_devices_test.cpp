// SPDX-License-Identifier: Apache-2.0
// GPUs as data: the files of generator/schedule/devices, and what schedules ask of them.

#include "generator/schedule/known_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "generator/schedule/target.h"
#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string lines_of_a_device =
    "name new\nproduct New\ncapability 90 measured here\nmultiprocessors 100 not-measured data sheet\n"
    "l2_mebibytes 40 not-measured data sheet\nmemory_gigabytes 3000.5 not-measured data sheet, of 2026\n";

TEST(KnownDevices, AreTheFilesOfTheirFolder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ESC_SOURCE_DIR "/generator/schedule/devices")) {
    if (entry.path().extension() == ".txt") {
      files.insert(entry.path().stem());
      const Device device = parse_device(read_file(entry.path()), entry.path().filename());
      EXPECT_EQ(device.name, entry.path().stem());
      EXPECT_THAT(known_devices(), Contains(device));
    }
  }
  EXPECT_EQ(files.size(), known_devices().size());
}

TEST(KnownDevices, HaveFiguresOfBuiltArchitectures) {
  for (const Device& device : known_devices()) {
    EXPECT_THAT(known_architectures(), Contains(device.key.capability)) << device.name;
    EXPECT_TRUE(device.memory_gigabytes && device.fp32_gigaflops) << device.name;
    EXPECT_EQ(device_of_gpu(device.name).key, device.key);
  }
}

TEST(KnownDevices, AreReadWithTheirSources) {
  const Device device = parse_device(lines_of_a_device, "new.txt");
  EXPECT_EQ(device.key, (DeviceKey{90, 100, std::uint64_t{40} << 20}));
  EXPECT_FALSE(device.has_measurements);
  ASSERT_TRUE(device.memory_gigabytes);
  EXPECT_EQ(*device.memory_gigabytes, (Figure{3000.5, false, "data sheet, of 2026"}));
  EXPECT_EQ(device.l2_gigabytes, std::nullopt);
}

TEST(KnownDevices, RefuseWhatIsNoFigure) {
  const auto reason = [](const std::string& text) -> std::string {
    try {
      parse_device(text, "new.txt");
    } catch (const UserError& problem) {
      return problem.what();
    }
    return "accepted";
  };
  EXPECT_EQ(reason(lines_of_a_device), "accepted");
  EXPECT_THAT(reason(lines_of_a_device + "wheels 4 measured here\n"), HasSubstr("new.txt:7: wheels is no figure"));
  EXPECT_THAT(reason(lines_of_a_device + "capability 90 measured here\n"), HasSubstr("said twice"));
  EXPECT_THAT(reason(lines_of_a_device + "l2_gigabytes -3 measured here\n"), HasSubstr("'-3' is no number above 0"));
  EXPECT_THAT(reason(lines_of_a_device + "l2_gigabytes 3 guessed here\n"), HasSubstr("neither measured nor"));
  EXPECT_THAT(reason(lines_of_a_device + "l2_gigabytes 3 measured\n"), HasSubstr("says nothing after its key"));
  EXPECT_THAT(reason("name new\nproduct New\ncapability 9.5 measured here\n"), HasSubstr("no whole number"));
  EXPECT_THAT(reason("name new\nproduct New\n"), HasSubstr("new.txt: says nothing of capability"));
}

TEST(KnownDevices, AreFoundByTheirKeysAlone) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  ASSERT_NE(known_device(h200), nullptr);
  EXPECT_EQ(known_device(h200)->name, "h200");
  EXPECT_EQ(known_device({90, 131, h200.l2_bytes}), nullptr);
  EXPECT_EQ(known_device(device_of_gpu("gb200").key), nullptr) << "its multiprocessors are not settled";
  EXPECT_TRUE(has_measurements_of(h200));
  EXPECT_FALSE(has_measurements_of(device_of_gpu("a100").key));
}

TEST(KnownDevices, AreWrittenAsTheyAreRead) {
  for (Device device : known_devices()) {
    const Device again = parse_device(print(device), "again.txt");
    EXPECT_EQ(again, device);
  }
}

TEST(KnownDevices, GetAUsersLaidOverThem) {
  KnownDevices devices;
  Device mine = parse_device(lines_of_a_device, "mine.txt");
  devices.add(mine, "mine.txt");
  ASSERT_NE(devices.named("new"), nullptr);
  EXPECT_EQ(*devices.named("new"), mine);
  EXPECT_EQ(devices.find(mine.key), devices.named("new"));
  EXPECT_EQ(devices.all().size(), known_devices().size() + 1);
  EXPECT_TRUE(std::ranges::is_sorted(devices.names()));
  EXPECT_EQ(shipped_devices().named("new"), nullptr);
}

/// Figures that were measured hold, and those that were not are the program's.
TEST(KnownDevices, GetFiguresOfAUser) {
  const Device h200 = *shipped_devices().named("h200");
  for (const std::string name : {"h200", "my-h200"}) {
    KnownDevices devices;
    devices.add({.name = name, .product = "H200", .key = h200.key, .memory_gigabytes = Figure{4564, true, "here"}},
                "mine.txt");
    const Device* const found = devices.find(h200.key);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(found->memory_gigabytes->value, 4564);
    EXPECT_EQ(found->f16_gigaflops, h200.f16_gigaflops);
    EXPECT_NEAR(*nominal_memory_gigabytes(*found), *nominal_memory_gigabytes(h200), 100)
        << "a kernel does not reach what a data sheet says";
  }
}

TEST(KnownDevices, RefuseANameOfAnotherGpu) {
  KnownDevices devices;
  EXPECT_THROW(devices.add({.name = "h200", .product = "Other", .key = {80, 10, 1U << 20U}}, "mine.txt"), UserError);
  const Device* const gb200 = devices.named("gb200");
  DeviceKey whole = gb200->key;
  whole.multiprocessors = 148;
  whole.l2_bytes = 126U << 20U;
  EXPECT_NO_THROW(devices.add({.name = "gb200", .product = "GB200", .key = whole}, "mine.txt"));
  EXPECT_EQ(devices.find(whole)->name, "gb200") << "of which the program does not know how large it is";
}

TEST(KernelTargets, BeginWithTheArchitecturesThatAreNamed) {
  const KernelTarget a100 = kernel_target(device_of_gpu("a100").key, {});
  EXPECT_EQ(a100.oldest_architecture, 80);
  EXPECT_EQ(a100.newest_architecture, 80);
  const KernelTarget b200 = kernel_target(device_of_gpu("b200").key, {});
  EXPECT_EQ(b200.oldest_architecture, 100);
  EXPECT_EQ(b200.newest_architecture, 100);
  const KernelTarget both = kernel_target(device_of_gpu("h200").key, {80, 90});
  EXPECT_EQ(both.oldest_architecture, 80);
  EXPECT_EQ(both.newest_architecture, 90);
  EXPECT_EQ(both.shared_bytes, shared_bytes_per_block(80));
}

}  // namespace
}  // namespace esc
