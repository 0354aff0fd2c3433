// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/parse_loop_nest.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/raw_ostream.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "generator/frontend/clang_folder.h"
#include "generator/frontend/find_function.h"
#include "generator/frontend/header_files.h"
#include "generator/frontend/number_sizes.h"
#include "generator/frontend/read_action.h"
#include "generator/frontend/read_load.h"
#include "generator/frontend/read_nest.h"
#include "generator/frontend/refusal.h"
#include "generator/frontend/scope.h"
#include "generator/frontend/walk_function.h"
#include "generator/support/error.h"

namespace esc {
namespace {

std::vector<std::string> compiler_arguments(const std::string& file_name) {
  const std::string ending = std::filesystem::path(file_name).extension().string();
  std::vector<std::string> arguments = {"-resource-dir", frontend::clang_folder(), "-w", "-ferror-limit=5", "-x"};
  if (ending == ".c") {
    arguments.insert(arguments.end(), {"c", "-std=c17"});
  } else if (ending == ".cpp" || ending == ".cc" || ending == ".cu") {
    arguments.insert(arguments.end(), {"c++", "-std=c++20"});
  } else {
    throw UserError(file_name, "the language of the loop nest is told by the file's ending",
                    "expected .c, .cpp, .cc or .cu");
  }
  return arguments;
}

/// Collects diagnostics as the text that a compiler would show.
class RenderedDiagnostics {
 public:
  RenderedDiagnostics() : stream_(text_), printer_(stream_, options_) {}

  clang::DiagnosticConsumer& consumer() { return printer_; }
  bool has_errors() const { return printer_.getNumErrors() > 0; }

  /// Reports a refusal through the diagnostics of the file it points into.
  void report(const char* sentence, const frontend::Place& place, clang::ASTUnit& file) {
    clang::DiagnosticsEngine& engine = file.getDiagnostics();
    engine.setClient(&printer_, false);
    printer_.BeginSourceFile(file.getLangOpts(), &file.getPreprocessor());
    const unsigned id = engine.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0");
    engine.Report(place.caret, id) << sentence << place.underlined;
    printer_.EndSourceFile();
  }

  UserError error() const {
    const auto end = text_.find_last_not_of('\n');
    return UserError("", end == std::string::npos ? "the loop nest could not be parsed" : text_.substr(0, end + 1));
  }

 private:
  clang::DiagnosticOptions options_;
  std::string text_;
  llvm::raw_string_ostream stream_;
  clang::TextDiagnosticPrinter printer_;
};

/// Without one, Clang follows a pointer that leads nowhere.
void check_working_directory() {
  std::error_code problem;
  static_cast<void>(std::filesystem::current_path(problem));
  if (problem) {
    throw UserError("the working directory", "cannot be found: " + problem.message(),
                    "change to a folder that is there");
  }
}

frontend::WrittenNest read_written(const clang::ASTContext& ast, const GivenSizes& sizes) {
  const clang::FunctionDecl& function = frontend::find_function(ast);
  frontend::Variables variables(function, frontend::number_sizes(function, sizes), frontend::read_load);
  return frontend::read_nest(frontend::read_actions(frontend::walk_function(function, variables)),
                             function.getLocation());
}

/// What `finish` makes of the nest as written.
template <typename Finish>
LoopNest parse(std::string_view source_text, const std::string& file_name, NestHeaders headers, const GivenSizes& sizes,
               const Finish& finish) {
  check_working_directory();
  const std::vector<std::string> arguments = compiler_arguments(file_name);
  RenderedDiagnostics diagnostics;
  // The AST is complete when this returns: what follows walks it with none of Clang's frames on the stack, so that it
  // may throw, which Clang itself is built without.
  const std::unique_ptr<clang::ASTUnit> file = clang::tooling::buildASTFromCodeWithArgs(
      llvm::StringRef(source_text.data(), source_text.size()), arguments, file_name, "escgen",
      std::make_shared<clang::PCHContainerOperations>(), clang::tooling::getClangStripDependencyFileAdjuster(), {},
      &diagnostics.consumer(), frontend::header_files(file_name, headers));
  if (file == nullptr || diagnostics.has_errors()) {
    throw diagnostics.error();
  }
  frontend::WrittenNest written;
  try {
    written = read_written(file->getASTContext(), sizes);
    return finish(written.nest);
  } catch (const frontend::Refusal& refusal) {
    diagnostics.report(refusal.what(), refusal.place(), *file);
  } catch (const NestError& error) {
    diagnostics.report(error.rule().c_str(), written.places.at(error.part()), *file);
  }
  throw diagnostics.error();
}

}  // namespace

LoopNest parse_loop_nest(std::string_view source_text, const std::string& file_name, NestHeaders headers,
                         const GivenSizes& sizes) {
  return parse(source_text, file_name, headers, sizes, assign_roles);
}

LoopNest parse_as_written(std::string_view source_text, const std::string& file_name, NestHeaders headers,
                          const GivenSizes& sizes) {
  return parse(source_text, file_name, headers, sizes, [](const LoopNest& nest) { return nest; });
}

}  // namespace esc
