// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/host_compiler/host_compiler.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DynamicRecursiveASTVisitor.h>
#include <clang/Basic/DiagnosticIDs.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

/// Where the driver finds the source. What is parsed is a buffer that carries the caller's name for it.
constexpr const char* kSourcePlace = "/virtual/source/text.cpp";

/// Keeps errors and their notes as "file:line:column: error: text" lines.
class DiagnosticText final : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    const bool error = level >= clang::DiagnosticsEngine::Error;
    const bool note_of_error = level == clang::DiagnosticsEngine::Note && last_was_error_;
    if (level != clang::DiagnosticsEngine::Note) {
      last_was_error_ = error;
    }
    if (!error && !note_of_error) {
      return;
    }
    llvm::SmallString<128> words;
    info.FormatDiagnostic(words);
    const std::string place = describe_place(info);
    if (place_.empty()) {
      place_ = place;
    }
    text_ += fmt::format("{}{}{}: {}", text_.empty() ? "" : "\n", place.empty() ? "" : place + ": ",
                         error ? "error" : "note", std::string(words));
    if (error && in_launch_brackets(info)) {
      text_ += " (a kernel is launched through cudaLaunchKernelEx here, not with <<<...>>>)";
    }
  }

  const std::string& text() const { return text_; }
  const std::string& place() const { return place_; }

 private:
  static std::string describe_place(const clang::Diagnostic& info) {
    if (!info.hasSourceManager() || info.getLocation().isInvalid()) {
      return {};
    }
    const clang::PresumedLoc at = info.getSourceManager().getPresumedLoc(info.getLocation());
    return at.isValid() ? fmt::format("{}:{}:{}", at.getFilename(), at.getLine(), at.getColumn()) : std::string();
  }

  static bool in_launch_brackets(const clang::Diagnostic& info) {
    if (!info.hasSourceManager() || info.getLocation().isInvalid()) {
      return false;
    }
    const clang::SourceManager& sources = info.getSourceManager();
    const auto [file, offset] = sources.getDecomposedSpellingLoc(info.getLocation());
    const llvm::StringRef text = sources.getBufferData(file);
    const std::size_t begin = text.rfind('\n', offset) == llvm::StringRef::npos ? 0 : text.rfind('\n', offset) + 1;
    return text.slice(begin, text.find('\n', offset)).contains("<<<");
  }

  std::string text_;
  std::string place_;
  bool last_was_error_ = false;
};

bool is_annotated(const clang::Decl& declaration, llvm::StringRef word) {
  for (const auto* note : declaration.specific_attrs<clang::AnnotateAttr>()) {
    if (note->getAnnotation() == word) {
      return true;
    }
  }
  return false;
}

/// Puts variables annotated as shared into their section and gives local ones static storage, before code is generated
/// for their function: C++ would make each of them a variable of one thread.
class ShareLocals final : public clang::ASTConsumer, public clang::DynamicRecursiveASTVisitor {
 public:
  explicit ShareLocals(clang::DiagnosticsEngine& diagnostics)
      : diagnostics_(diagnostics),
        initialised_(
            diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "shared memory cannot have an initialiser")) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) {
      TraverseDecl(declaration);
    }
    return true;
  }

  bool VisitVarDecl(clang::VarDecl* variable) override {
    if (!is_shared(*variable)) {
      return true;
    }
    if (variable->hasInit() && variable->getInitStyle() != clang::VarDecl::CallInit) {
      diagnostics_.Report(variable->getLocation(), initialised_);
    }
    if (variable->isLocalVarDecl() && variable->getStorageClass() == clang::SC_None) {
      variable->setStorageClass(clang::SC_Static);
    }
    if (!variable->hasAttr<clang::SectionAttr>()) {
      variable->addAttr(clang::SectionAttr::CreateImplicit(variable->getASTContext(), kSharedSection));
    }
    return true;
  }

 private:
  static bool is_shared(const clang::VarDecl& variable) { return is_annotated(variable, kSharedSection); }

  clang::DiagnosticsEngine& diagnostics_;
  unsigned initialised_;
};

/// Takes kernels their bodies before code is generated for these, and before templates are instantiated.
class EmptyKernels final : public clang::ASTConsumer, public clang::DynamicRecursiveASTVisitor {
 public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) {
      TraverseDecl(declaration);
    }
    return true;
  }

  bool VisitFunctionDecl(clang::FunctionDecl* function) override {
    if (is_annotated(*function, kKernelMark) && function->doesThisDeclarationHaveABody()) {
      const clang::SourceLocation place = function->getLocation();
      function->setBody(
          clang::CompoundStmt::Create(function->getASTContext(), {}, clang::FPOptionsOverride(), place, place));
    }
    return true;
  }
};

/// Refuses attributes that the text spells itself, a few harmless ones excepted: an attribute can take a function away
/// from the checker, have it run before all others, or give it another one's name. Those of the headers are after
/// CUDA's words.
class RefuseAttributes final : public clang::ASTConsumer, public clang::DynamicRecursiveASTVisitor {
 public:
  explicit RefuseAttributes(clang::CompilerInstance& compiler)
      : diagnostics_(compiler.getDiagnostics()),
        sources_(compiler.getSourceManager()),
        refused_(diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                              "the attribute '%0' is no part of a text that can be checked")) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) {
      TraverseDecl(declaration);
    }
    return true;
  }

  bool VisitDecl(clang::Decl* declaration) override {
    for (const clang::Attr* attribute : declaration->attrs()) {
      const clang::SourceLocation spelled = sources_.getSpellingLoc(attribute->getLocation());
      if (spelled.isValid() && sources_.getFileID(spelled) == sources_.getMainFileID() && !attribute->isImplicit() &&
          !is_harmless(*attribute)) {
        diagnostics_.Report(spelled, refused_) << attribute->getSpelling();
      }
    }
    return true;
  }

 private:
  static bool is_harmless(const clang::Attr& attribute) {
    switch (attribute.getKind()) {
      case clang::attr::Aligned:
        return llvm::cast<clang::AlignedAttr>(attribute).isAlignas();
      case clang::attr::Final:
      case clang::attr::Override:
      case clang::attr::NoInline:
      case clang::attr::AlwaysInline:
      case clang::attr::Unused:
      case clang::attr::WarnUnusedResult:
        return true;
      default:
        return false;
    }
  }

  clang::DiagnosticsEngine& diagnostics_;
  const clang::SourceManager& sources_;
  unsigned refused_;
};

class GenerateModule final : public clang::ASTFrontendAction {
 public:
  GenerateModule(llvm::LLVMContext& context, bool empties_kernels)
      : context_(context), empties_kernels_(empties_kernels) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    auto generator = clang::CreateLLVMCodeGen(compiler, file, context_);
    generator_ = generator.get();
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<RefuseAttributes>(compiler));
    if (empties_kernels_) {
      consumers.push_back(std::make_unique<EmptyKernels>());
    }
    consumers.push_back(std::make_unique<ShareLocals>(compiler.getDiagnostics()));
    consumers.push_back(std::move(generator));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

  void EndSourceFileAction() override { module_ = generator_->ReleaseModule(); }

  std::unique_ptr<llvm::Module> take_module() { return std::move(module_); }

 private:
  llvm::LLVMContext& context_;
  bool empties_kernels_;
  clang::CodeGenerator* generator_ = nullptr;
  std::unique_ptr<llvm::Module> module_;
};

std::string baseline_cpu(const llvm::Triple& triple) {
  return triple.getArch() == llvm::Triple::x86_64 ? "x86-64" : "generic";
}

std::vector<std::string> compiler_arguments(const HostSource& source) {
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  std::vector<std::string> arguments = {
      "-triple", triple.str(), "-target-cpu", baseline_cpu(triple), "-mrelocation-model", "pic", "-pic-level", "2",
      "-debug-info-kind=line-tables-only", "-relaxed-aliasing", "-disable-lifetime-markers", "-discard-value-names",
      "-nostdsysteminc", "-nobuiltininc",
      // How numbers are computed, and what the checker needs to see.
      "-O1", "-std=c++17", "-w", "-fno-rtti", "-ffp-contract=off", "-ftrivial-auto-var-init=pattern",
      "-fno-threadsafe-statics", "-fvisibility=default", "-x", "c++"};
  for (const std::string& define : source.defines) {
    arguments.insert(arguments.end(), {"-D", define});
  }
  arguments.insert(arguments.end(), {"-internal-isystem", std::string(kVirtualHeaderFolder), "-main-file-name",
                                     source.file_name, kSourcePlace});
  return arguments;
}

/// Nothing but the given headers: the text cannot name a file of this machine.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system(const HostSource& source) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const VirtualHeader& header : source.headers) {
    files->addFile(std::string(kVirtualHeaderFolder) + header.name, 0,
                   llvm::MemoryBuffer::getMemBufferCopy(header.text, header.name));
  }
  files->addFile(kSourcePlace, 0, llvm::MemoryBuffer::getMemBufferCopy(source.text, source.file_name));
  files->setCurrentWorkingDirectory("/");
  return files;
}

std::shared_ptr<clang::CompilerInvocation> make_invocation(const HostSource& source,
                                                           clang::DiagnosticConsumer& consumer) {
  clang::DiagnosticOptions options;
  const auto diagnostics = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(clang::DiagnosticIDs::create(), options,
                                                                               &consumer, /*ShouldOwnClient=*/false);
  const std::vector<std::string> arguments = compiler_arguments(source);
  std::vector<const char*> words;
  words.reserve(arguments.size());
  for (const std::string& argument : arguments) {
    words.push_back(argument.c_str());
  }
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  const bool understood = clang::CompilerInvocation::CreateFromArgs(*invocation, words, *diagnostics);
  return understood ? invocation : nullptr;
}

}  // namespace

std::unique_ptr<llvm::Module> compile_for_host(const HostSource& source, llvm::LLVMContext& context) {
  DiagnosticText diagnostics;
  const auto files = file_system(source);
  const auto fail = [&] {
    return UserError(diagnostics.place().empty() ? source.file_name : diagnostics.place(),
                     "the text does not compile on the host:\n" + diagnostics.text());
  };
  auto invocation = make_invocation(source, diagnostics);
  if (!invocation) {
    throw fail();
  }
  invocation->getDiagnosticOpts().ShowCarets = false;
  invocation->getFrontendOpts().DisableFree = false;
  const auto text = llvm::MemoryBuffer::getMemBufferCopy(source.text, source.file_name);
  clang::FrontendInputFile& input = invocation->getFrontendOpts().Inputs.front();
  input = clang::FrontendInputFile(text->getMemBufferRef(), input.getKind());
  clang::CompilerInstance compiler(std::move(invocation));
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(&diagnostics, /*ShouldOwnClient=*/false);
  GenerateModule action(context, source.empties_kernels);
  const bool succeeded = compiler.ExecuteAction(action);
  std::unique_ptr<llvm::Module> module = action.take_module();
  if (!succeeded || !module) {
    throw fail();
  }
  return module;
}

}  // namespace esc
