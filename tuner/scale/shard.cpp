// SPDX-License-Identifier: Apache-2.0
#include "tuner/scale/shard.h"

#include <cstdint>
#include <cstdlib>

#include "generator/matrix/fingerprint.h"
#include "generator/support/error.h"
#include "generator/support/number_in.h"

namespace esc::tuning {
namespace {

/// The number in a variable; absent where it is not set.
std::optional<unsigned int> number_of(const Environs& environs, const std::string& name) {
  const std::optional<std::string> text = environs(name);
  if (!text) {
    return std::nullopt;
  }
  const std::optional<unsigned int> number = number_in<unsigned int>(*text);
  if (!number) {
    throw UserError(name, "is '" + *text + "', which is not a number", "give --shard i/n");
  }
  return number;
}

Shard checked(unsigned int index, unsigned int count, const std::string& place) {
  if (count == 0 || index >= count) {
    throw UserError(place, "is not a part of a job", "write i/n with i from 0 to n - 1, as in 0/4");
  }
  return {index, count};
}

Shard shard_of(const Environs& environs) {
  if (const auto task = number_of(environs, "SLURM_ARRAY_TASK_ID")) {
    const auto count = number_of(environs, "SLURM_ARRAY_TASK_COUNT");
    const unsigned int first = number_of(environs, "SLURM_ARRAY_TASK_MIN").value_or(0);
    if (!count) {
      throw UserError("SLURM_ARRAY_TASK_COUNT", "is not set", "give --shard i/n");
    }
    return checked(*task - first, *count, "SLURM_ARRAY_TASK_ID");
  }
  if (const auto index = number_of(environs, "JOB_COMPLETION_INDEX")) {
    const auto count = number_of(environs, "ESC_SHARD_COUNT");
    if (!count) {
      throw UserError("ESC_SHARD_COUNT", "is not set, and Kubernetes does not tell how many completions a job has",
                      "set it to the job's completions, or give --shard i/n");
    }
    return checked(*index, *count, "JOB_COMPLETION_INDEX");
  }
  throw UserError("--shard auto", "finds neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX",
                  "run it in a Slurm array or an indexed Kubernetes job, or give --shard i/n");
}

}  // namespace

Environs environs_of_process() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Shard parse_shard(const std::string& text, const Environs& environs) {
  if (text == "auto") {
    return shard_of(environs);
  }
  const std::size_t slash = text.find('/');
  const auto index = number_in<unsigned int>(std::string_view(text).substr(0, slash));
  const auto count =
      slash == std::string::npos ? std::nullopt : number_in<unsigned int>(std::string_view(text).substr(slash + 1));
  return checked(index.value_or(0), index ? count.value_or(0) : 0, "--shard " + text);
}

bool is_in(const Shard& shard, const std::string& pattern, std::int64_t bcol) {
  const std::string item = pattern + "/" + std::to_string(bcol);
  const std::string hash = sha256_of_text(item).substr(0, 15);
  return number_in<std::uint64_t>(hash, 16).value() % shard.count == shard.index;
}

}  // namespace esc::tuning
