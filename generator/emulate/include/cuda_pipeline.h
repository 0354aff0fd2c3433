// SPDX-License-Identifier: Apache-2.0
/* Of <cuda_pipeline.h> only the primitives are in here. */
#pragma once
#include <cuda_pipeline_primitives.h>
