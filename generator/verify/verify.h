// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "generator/emit/dispatch.h"
#include "generator/emit/manifest.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/support/stage_progress.h"
#include "generator/verify/drawn_calls.h"
#include "generator/verify/report.h"
#include "generator/verify/transformer_check.h"

namespace esc {

/// What a verification needs of a bundle: its texts and its packed matrix.
struct BundleUnderTest {
  std::string name;
  LoopNest nest;      ///< the input, which says what C is
  Dispatch dispatch;  ///< of its kernel, as the schedule says it
  std::string kernel_text;
  std::string transformer_text;  ///< empty: it has none
  std::span<const std::byte> packed;
};

/// How much an emulation runs. A run of more than `most_products` multiply-adds covers a sample of row tiles that is
/// spread over the whole matrix; the transformer runs for up to `most_packed_nonzeros`, from dense as well for up to
/// `most_dense_elements`, and where it searches for slots for up to `most_searched_elements`. Where it goes through
/// more, up to `most_unwatched_elements`, its results are checked and its accesses are not. What is left out is said in
/// the report.
struct EmulationEffort {
  std::int64_t most_products = 0;
  std::int64_t most_packed_nonzeros = 0;
  std::int64_t most_dense_elements = 0;
  std::int64_t most_searched_elements = 0;
  std::int64_t most_unwatched_elements = 0;
  /// What the process that runs a text may take beside what the products need.
  std::chrono::milliseconds patience{120'000};
  std::uint64_t memory = std::uint64_t{4} << 30;
  bool whole_report = true;                ///< otherwise it ends with the first thing that is wrong
  Breadth breadth = Breadth::unknown;      ///< what is known of the texts
  std::optional<std::uint64_t> seed = {};  ///< of what is drawn; without one it follows from the packed matrix
};

/// What `generate` spends on its own texts: some seconds.
inline constexpr EmulationEffort sample_effort{.most_products = 8'000'000,
                                               .most_packed_nonzeros = 8'000'000,
                                               .most_dense_elements = 1 << 20,
                                               .most_searched_elements = 1 << 21,
                                               .most_unwatched_elements = 1 << 24,
                                               .breadth = Breadth::generated};
/// What `verify` spends on texts that are the generator's own, token for token: up to some minutes for a large layer.
inline constexpr EmulationEffort generated_effort{.most_products = 100'000'000,
                                                  .most_packed_nonzeros = 1 << 24,
                                                  .most_dense_elements = 1 << 24,
                                                  .most_searched_elements = 1 << 22,
                                                  .most_unwatched_elements = 1 << 24,
                                                  .breadth = Breadth::generated};
/// What it spends on all others, however large the layer is.
inline constexpr EmulationEffort thorough_effort{.most_products = 200'000'000,
                                                 .most_packed_nonzeros = 1 << 30,
                                                 .most_dense_elements = 64 << 20,
                                                 .most_searched_elements = 1 << 26,
                                                 .most_unwatched_elements = 1 << 28};

/// Runs the very texts of the bundle on the host, each in a process without rights: the transformer must write the
/// bytes of the packed file, and the kernel, on an emulated grid that checks every access, must agree with what the
/// nest says in double. This process compares; of the others it believes nothing else. Throws UserError only when the
/// texts do not compile, or when processes cannot be confined here. The steps of its long stage are multiply-adds.
VerificationReport verify_by_emulation(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                       const EmulationEffort& effort,
                                       StageProgress& progress = StageProgress::silent());

/// What a kernel is run with beside the packed file.
struct OtherMatrices {
  std::optional<OtherMatrix> values;  ///< in the same pattern; absent where there is no transformer that makes them
  std::vector<OtherMatrix> patterns;  ///< where it takes any
};

/// What is found of a transformer, and what it makes.
struct TransformerVerification {
  VerificationReport report;
  OtherMatrices others;
};

/// The first half of verify_by_emulation: what of it the text of the transformer alone decides, and whether anything
/// can be checked.
TransformerVerification verify_transformer(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                           const EmulationEffort& effort,
                                           StageProgress& progress = StageProgress::silent());

/// The second half: the report of the first one, and what of the rest the text of the kernel decides.
VerificationReport verify_kernel(const BundleUnderTest& bundle, const SparseMatrix& matrix,
                                 TransformerVerification transformer, const EmulationEffort& effort,
                                 StageProgress& progress = StageProgress::silent());

/// A bundle that was read from its folder.
struct LoadedBundle {
  Manifest manifest;
  std::string kernel_text;
  std::string transformer_text;
  std::string packed;
  SparseMatrix matrix;  ///< unpacked; its pattern and values have the manifest's checksums

  /// `nest` is what the front end reads in the manifest, `dispatch` that of the layer which the manifest describes.
  BundleUnderTest under_test(LoopNest nest, const Dispatch& dispatch) const;
};

/// Reads DIR/NAME. Throws UserError when a file is missing, the packed file is damaged, it is not the matrix of the
/// manifest, or the header or the build file lacks a name that users of the bundle need.
LoadedBundle load_bundle(const std::filesystem::path& folder);

}  // namespace esc
