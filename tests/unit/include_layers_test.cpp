// SPDX-License-Identifier: Apache-2.0
// Includes run one way. The table says in which order the rooms of the project are, and the files of the emulator;
// whoever includes may take from what is before, never from what is after.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace esc::testing {
namespace {

namespace fs = std::filesystem;

/// Rooms, lowest first. An entry stands for a file and its header where it names one, else for all files of a folder.
const std::vector<std::string> kOrder = {
    "transformer",
    "generator/support",
    "generator/confine",
    "generator/ir",
    "generator/schedule",
    "generator/matrix",
    "generator/model",
    "generator/patterns",
    "generator/lower",
    "generator/pipeline",
    "generator/emit",
    "generator/report",
    "generator/frontend/host_compiler",
    "generator/frontend",
    // What is said about a run, and the numbers that stand for places.
    "generator/emulate/watched",
    "generator/emulate/registers",
    "generator/emulate/fault",
    "generator/emulate/function_address",
    "generator/emulate/open_files",
    "generator/emulate/options",
    "generator/emulate/site_table",
    // Memory, and who has touched it.
    "generator/emulate/mapped_memory",
    "generator/emulate/thread_clocks",
    "generator/emulate/race_clock",
    "generator/emulate/memory_map",
    // From a text to code in memory.
    "generator/emulate/run_passes",
    "generator/emulate/access_note",
    "generator/emulate/instrumented_code",
    "generator/emulate/inline_helpers",
    "generator/emulate/instrument",
    "generator/emulate/module_facts",
    "generator/emulate/host_pass",
    "generator/emulate/jit",
    "generator/emulate/standin_headers",
    "generator/emulate/matrix_fragments",
    "generator/emulate/swizzle",
    "generator/emulate/matrix_descriptor",
    "generator/emulate/tensor_map",
    "generator/emulate/ptx_instructions",
    "generator/emulate/inline_ptx",
    "generator/emulate/host_program",
    // Threads, and what they do together.
    "generator/emulate/fibre",
    "generator/emulate/warp",
    "generator/emulate/async_copies",
    "generator/emulate/launch",
    // What judges accesses, lets the threads of a block run, and plays the whole device.
    "generator/emulate/access_judge",
    "generator/emulate/async_barriers",
    "generator/emulate/named_barriers",
    "generator/emulate/block_cluster",
    "generator/emulate/warpgroup_products",
    "generator/emulate/register_pool",
    "generator/emulate/block_runner",
    "generator/emulate/block_sync",
    "generator/emulate/machine",
    "generator/emulate/active_machine",
    // What the code calls.
    "generator/emulate/cuda_calls",
    "generator/emulate/kernel_operands",
    "generator/emulate/cuda_api",
    "generator/emulate/host_library",
    "generator/emulate/driver_api",
    "generator/emulate/matrix_hooks",
    "generator/emulate/bulk_copy_hooks",
    "generator/emulate/cache_policy_hooks",
    "generator/emulate/cluster_hooks",
    "generator/emulate/warpgroup_hooks",
    "generator/emulate/hooks",
    // What the rest of the house uses.
    "generator/emulate/compile_program",
    "generator/emulate/device",
    "generator/emulate/registered_buffer",
    "generator/verify",
    "generator/commands",
    "tuner/process",
    "tuner/build",
    "tuner/records",
    "tuner/search",
    "tuner/space",
    "tuner/device",
    "tuner/gpu",
    "tuner/worker",
    "tuner/scale",
    "tuner/publish",
    "tuner/report",
    "tuner/regret",
    "tuner/run",
    "tuner/commands",
};

/// The index of what `path` belongs to: the file itself or else its folder; kOrder.size() where neither is known.
std::size_t place_of(const fs::path& path) {
  const fs::path file = path.parent_path() / path.stem();
  for (const fs::path& name : {file, path.parent_path()}) {
    const auto found = std::find(kOrder.begin(), kOrder.end(), name.generic_string());
    if (found != kOrder.end()) {
      return static_cast<std::size_t>(found - kOrder.begin());
    }
  }
  return kOrder.size();
}

bool is_source(const fs::path& path) {
  static const std::vector<std::string> kEndings = {".h", ".cpp", ".cu", ".cuh"};
  return std::find(kEndings.begin(), kEndings.end(), path.extension()) != kEndings.end();
}

/// The files of this project that `file` includes, as paths from its root.
std::vector<std::string> includes_of(const fs::path& file) {
  constexpr std::string_view kBegin = "#include \"";
  std::vector<std::string> found;
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(kBegin)) {
      found.push_back(line.substr(kBegin.size(), line.rfind('"') - kBegin.size()));
    }
  }
  return found;
}

/// Calls `look` with each source file of the three rooms that are built from this order, as a path from the root.
template <class Look>
void for_each_source(const Look& look) {
  const fs::path root = ESC_SOURCE_DIR;
  for (const char* part : {"transformer", "generator", "tuner"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / part)) {
      const fs::path path = fs::relative(entry.path(), root);
      // What emitted text includes is no part of this program.
      if (is_source(path) && path.parent_path() != "generator/emulate/include") {
        look(path, includes_of(entry.path()));
      }
    }
  }
}

TEST(Includes, Run_only_from_higher_rooms_to_lower_ones) {
  std::size_t seen = 0;
  for_each_source([&](const fs::path& file, const std::vector<std::string>& includes) {
    const std::size_t place = place_of(file);
    ASSERT_LT(place, kOrder.size()) << file << " belongs to no room of the table";
    for (const std::string& include : includes) {
      ++seen;
      EXPECT_LE(place_of(include), place) << file << " includes " << include << ", which is above it";
    }
  });
  EXPECT_GT(seen, 500u) << "the sources were not found";
}

TEST(Includes, Nothing_in_the_table_is_left_over) {
  std::vector<bool> used(kOrder.size());
  for_each_source([&](const fs::path& file, const std::vector<std::string>&) {
    if (const std::size_t place = place_of(file); place < used.size()) {
      used[place] = true;
    }
  });
  for (std::size_t place = 0; place < kOrder.size(); ++place) {
    EXPECT_TRUE(used[place]) << kOrder[place];
  }
}

/// Files of one room may include each other, but not in a circle. A file and its header count as one. One circle is
/// left: the rules that families share speak of what family panel computes.
TEST(Includes, Form_no_circle) {
  std::map<std::string, std::vector<std::string>> graph;
  const auto unit = [](fs::path path) { return path.replace_extension().generic_string(); };
  const std::pair<std::string, std::string> left = {"generator/schedule/tile_rules",
                                                    "generator/schedule/panel_schedule"};
  for_each_source([&](const fs::path& file, const std::vector<std::string>& includes) {
    for (const std::string& include : includes) {
      if (unit(include) != unit(file) && std::pair(unit(file), unit(include)) != left) {
        graph[unit(file)].push_back(unit(include));
      }
    }
  });
  // Takes away, again and again, what includes nothing that is left.
  for (bool shrunk = true; shrunk;) {
    shrunk = std::erase_if(graph, [&](const auto& entry) {
               return std::none_of(entry.second.begin(), entry.second.end(),
                                   [&](const std::string& include) { return graph.contains(include); });
             }) != 0;
  }
  for (const auto& [name, includes] : graph) {
    ADD_FAILURE() << name << " includes what includes it, or is above such a circle";
  }
}

/// A confined process may not start threads. So of the generator only what is never called in one includes oneTBB.
TEST(ConfinedProcesses, HaveNothingOfTheThreadPool) {
  const std::set<std::string> never_confined{"generator/commands/thread_limit", "generator/model/survey",
                                             "generator/verify/product_case", "generator/verify/reference"};
  const fs::path root = ESC_SOURCE_DIR;
  std::set<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "generator")) {
    std::ifstream text(entry.path());
    for (std::string line; is_source(entry.path()) && std::getline(text, line);) {
      if (line.starts_with("#include <tbb/")) {
        const fs::path path = fs::relative(entry.path(), root);
        found.insert((path.parent_path() / path.stem()).generic_string());
      }
    }
  }
  EXPECT_EQ(found, never_confined);
}

/// Files from outside are opened at one door, support/regular_file, where a pipe is not waited for and an endless file
/// not read; a process is copied at one, confine/process_helper, while it has one thread; and numbers of others are
/// read by support/number_in, which knows their range.
TEST(Doors, AreWhereTheyAre) {
  struct Door {
    std::vector<std::string> words;
    std::set<std::string> files;
  };
  const std::vector<Door> doors = {
      {{"ifstream"}, {}},
      {{" fopen(", ":fopen("}, {"generator/confine/give_up_rights", "generator/confine/memory_watch"}},
      {{"O_RDONLY", "O_WRONLY", "O_RDWR"},
       {"generator/confine/give_up_rights", "generator/confine/process_helper", "generator/emit/folder_aside",
        "generator/support/output_file", "generator/support/regular_file", "generator/support/scratch_file",
        "generator/support/standard_streams", "tuner/commands/merge_command", "tuner/records/journal",
        "tuner/records/locked_file"}},
      {{" fork(", ":fork(", "SYS_clone"}, {"generator/confine/process_helper"}},
      {{"vfork("}, {"generator/support/spawn"}},  // the new process calls the system alone until it is another program
      {{"sscanf(", "atoi(", "atol(", "atof(", "strto", "std::stoi(", "std::stol", "std::stou", "std::stod(",
        "std::stof("},
       {}},
  };
  std::map<const Door*, std::set<std::string>> found;
  const auto look = [&](const fs::path& file, const std::vector<std::string>&) {
    const std::string name = (file.parent_path() / file.stem()).generic_string();
    if (!name.starts_with("generator/") && !name.starts_with("tuner/")) {
      return;
    }
    std::ifstream text(fs::path(ESC_SOURCE_DIR) / file);
    for (std::string line; std::getline(text, line);) {
      const std::string code = line.substr(0, line.find("//"));
      for (const Door& door : doors) {
        if (std::ranges::any_of(door.words, [&](const std::string& word) { return code.find(word) != code.npos; })) {
          found[&door].insert(name);
        }
      }
    }
  };
  for_each_source(look);
  for (const Door& door : doors) {
    EXPECT_EQ(found[&door], door.files) << door.words.front();
  }
}

}  // namespace
}  // namespace esc::testing
