// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace clang {
class ASTContext;
class FunctionDecl;
}  // namespace clang

namespace esc::frontend {

/// The one function of the main file that has loops over elements of arrays. Refuses a file with none or with several.
const clang::FunctionDecl& find_function(const clang::ASTContext& ast);

}  // namespace esc::frontend
