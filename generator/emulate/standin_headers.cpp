// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/standin_headers.h"

#include <string_view>

namespace esc {

// The files of the folder include/, embedded at build time.
extern const std::string_view cuda_bf16_header;
extern const std::string_view cuda_fp16_header;
extern const std::string_view cuda_header;
extern const std::string_view cuda_pipeline_header;
extern const std::string_view cuda_pipeline_primitives_header;
extern const std::string_view cuda_runtime_api_header;
extern const std::string_view cuda_runtime_header;
extern const std::string_view cuda_typedefs_header;
extern const std::string_view esc_inline_ptx_header;
extern const std::string_view stddef_header;
extern const std::string_view stdint_header;
extern const std::string_view stdio_header;
extern const std::string_view string_header;

std::vector<VirtualHeader> cuda_headers() {
  return {{"cuda.h", std::string(cuda_header)},
          {"cudaTypedefs.h", std::string(cuda_typedefs_header)},
          {"cuda_bf16.h", std::string(cuda_bf16_header)},
          {"cuda_fp16.h", std::string(cuda_fp16_header)},
          {"cuda_pipeline.h", std::string(cuda_pipeline_header)},
          {"cuda_pipeline_primitives.h", std::string(cuda_pipeline_primitives_header)},
          {"cuda_runtime.h", std::string(cuda_runtime_header)},
          {"cuda_runtime_api.h", std::string(cuda_runtime_api_header)},
          {"esc_inline_ptx.h", std::string(esc_inline_ptx_header)},
          {"stddef.h", std::string(stddef_header)},
          {"stdint.h", std::string(stdint_header)}};
}

std::vector<VirtualHeader> library_headers() {
  return {{"stddef.h", std::string(stddef_header)},
          {"stdint.h", std::string(stdint_header)},
          {"stdio.h", std::string(stdio_header)},
          {"string.h", std::string(string_header)}};
}

}  // namespace esc
