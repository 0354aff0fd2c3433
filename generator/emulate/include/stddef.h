// SPDX-License-Identifier: Apache-2.0
/* size_t and its kin for emitted text. */
#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef NULL
#ifdef __cplusplus
#define NULL __null
#else
#define NULL ((void*)0)
#endif
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
