// SPDX-License-Identifier: Apache-2.0
/* What the text of a data-transformer has of <stdio.h>. Its files are those that the check has in memory: whoever asks
 * for another is stopped.
 */
#pragma once
#include <stddef.h>

#define EOF (-1)

typedef struct __esc_file FILE;

#ifdef __cplusplus
extern "C" {
#endif
FILE* fopen(const char* path, const char* mode);
int fclose(FILE* file);
size_t fread(void* to, size_t size, size_t count, FILE* file);
int fgetc(FILE* file);
int ferror(FILE* file);
int snprintf(char* to, size_t bytes, const char* format, ...);
#ifdef __cplusplus
}
#endif
