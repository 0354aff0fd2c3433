#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace esc {

/// CUDA architectures for which a bundle is built when the user names none: the ones of the A100 and of the H100 and H200.
std::vector<int> default_architectures();

/// 90 for "sm_90" or "90". Throws UserError for anything else.
int parse_architecture(const std::string& text);

/// 80 for "a100", 90 for "h200", in upper or lower case. Throws UserError with the names that are known.
int architecture_of_gpu(const std::string& name);

/// Bytes of shared memory that a block of this architecture can have; those of the smallest for one that is not known.
std::uint64_t shared_bytes_per_block(int architecture);

}  // namespace esc
