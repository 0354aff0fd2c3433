// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tests/property/mutation_subjects.h"
#include "tests/support/text_mutants.h"

namespace esc::tests {

/// One of the texts of a subject with a fault.
struct MutationTrial {
  const MutationSubject* subject;
  bool in_kernel;
  TextMutant mutant;

  std::string text_name() const { return in_kernel ? "kernel" : "transformer"; }
  /// "kernel: LINE ==> FAULTY LINE", whatever the subject.
  std::string fault() const;
};

/// Faults that change nothing, each with the reason, as equivalent_mutants.txt says them.
class EquivalentMutants {
 public:
  explicit EquivalentMutants(const std::string& file);
  bool has(const MutationTrial& trial) const;
  /// Those that describe none of these, which are all that there are: what they stood for is gone, or reads otherwise now.
  std::vector<std::string> describe_none_of(const std::vector<std::vector<MutationTrial>>& trials) const;

 private:
  struct Entry {
    std::string written;             ///< as it stands in the file
    std::set<std::string> subjects;  ///< all, where it is empty
    std::string text;
    std::string line;
    std::string faulty;
    std::size_t kept_before;  ///< characters at the beginning of the line that the fault leaves as they are
    std::size_t kept_behind;  ///< and at its end
    bool any_fault;           ///< of what is between them; else it becomes `faulty`
    int place;                ///< of the line among those like it; 0 for each
    std::string within;       ///< not empty: any fault in any line of this class or struct

    bool describes(const MutationTrial& trial) const;
    bool keeps_ends(const std::string& other) const;
  };

  static Entry parse(const std::string& entry);

  std::vector<Entry> known_;
};

}  // namespace esc::tests
