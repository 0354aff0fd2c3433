#include "generator/emit/dependent_launch.h"

#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"

namespace esc {

std::string dependency_functions(bool pdl) { return pdl ? fill(dependency_template, {}) : ""; }

std::string allow_successor_call(bool pdl) { return pdl ? "allow_successor();\n" : ""; }

std::string wait_call(bool pdl) { return pdl ? "wait_for_predecessor();" : ""; }

std::string launch_attributes(bool pdl) {
  return pdl ? R"(  int device = 0;
  int major = 0;
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9) {
    launch.attrs = &overlap;
    launch.numAttrs = 1;
  }
)"
             : "";
}

}  // namespace esc
