// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "generator/ir/loop_nest.h"
#include "generator/verify/verify.h"

namespace esc {

/// What is known of a bundle that may be verified.
struct BundleVerdict {
  Dispatch dispatch;  ///< of the generated launcher
  Breadth breadth;    ///< whether kernel and transformer are, token for token, those that are generated
};

/// Refuses a bundle with anything in it that a verification would not show. The manifest and the packed matrix say what
/// the generator emits for them, and that is generated again, in memory:
///   - the folder has the files of a bundle and no others;
///   - header, build file and manifest (but for what was measured) are those, byte for byte;
///   - the texts of kernel and transformer, which are going to be judged, are such that every compiler takes them alike
///     (text_policy.h).
/// `nest` is what the front end reads in the manifest. Throws UserError with status check_failed; with status bad_input
/// for a bundle of another version of this program.
BundleVerdict check_policy(const std::filesystem::path& folder, const LoadedBundle& bundle, const LoopNest& nest);

}  // namespace esc
