#include "generator/matrix/mtx_reader.h"
#include "tests/fuzz/fuzz_reader.h"

ESC_FUZZ_READER(esc::read_mtx)
