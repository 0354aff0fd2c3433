// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc::tests {

/// Words of a text that a fault replaces.
struct FaultyWords {
  std::string words;
  std::string replacement;
  bool everywhere = false;  ///< otherwise they are there once
};

/// A fault of one subject's bundle, as aimed_faults.txt says it.
struct AimedFault {
  std::string kind;     ///< the class that it is in
  std::string name;     ///< among those of its class
  std::string subject;  ///< of mutation_subjects
  bool in_kernel = true;
  bool needs_one_number = false;  ///< wrong for one value of an argument alone
  std::string effect;             ///< what comes out wrong, and when
  std::vector<FaultyWords> changes;

  /// "one size: n_of_77 in row tile kernel".
  std::string title() const;
  /// The text with the fault. Throws std::invalid_argument where the words are not there as they should.
  std::string in(const std::string& text) const;
};

/// Those of a file, one for each subject that an entry names. Throws std::invalid_argument for a line that is none.
std::vector<AimedFault> read_aimed_faults(const std::string& file);

}  // namespace esc::tests
