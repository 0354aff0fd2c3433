// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace esc {

/// What a program's exit status tells a script. Values are part of the command-line contract.
enum class ExitStatus : int {
  done = 0,          ///< everything asked for was done
  check_failed = 1,  ///< a check failed: a wrong result, a stale bundle, a regression
  bad_input = 2,     ///< bad usage or bad input
  missing_tool = 3,  ///< something the command needs is not on this machine
  defect = 70,       ///< a defect of this program
};

/// An error that is the user's to mend. The message names the place (file and line or byte, option, directive),
/// the rule that was broken and the remedy. Thrown by libraries, turned into an exit status only by the commands.
class UserError : public std::runtime_error {
 public:
  /// `place` may be empty when `rule` already says where.
  UserError(std::string place, std::string rule, std::string remedy = {}, ExitStatus status = ExitStatus::bad_input);

  const std::string& place() const noexcept { return place_; }
  const std::string& rule() const noexcept { return rule_; }
  const std::string& remedy() const noexcept { return remedy_; }
  ExitStatus status() const noexcept { return status_; }

 private:
  std::string place_;
  std::string rule_;
  std::string remedy_;
  ExitStatus status_;
};

/// A defect of this program: a condition that its own code promised and did not keep. Never compiled out.
class Defect : public std::logic_error {
 public:
  Defect(const char* file, int line, const std::string& condition, const std::string& explanation);
};

}  // namespace esc

/// States what must hold here whatever the input was; throws Defect with file, line and condition otherwise.
#define ESC_CHECK(condition, explanation)                                 \
  do {                                                                    \
    if (!(condition)) {                                                   \
      throw ::esc::Defect(__FILE__, __LINE__, #condition, (explanation)); \
    }                                                                     \
  } while (false)
