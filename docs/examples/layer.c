// SPDX-License-Identifier: Apache-2.0
/* A layer of a network: C = gate * tanh(A x B + bias) + input, where A is the pruned matrix.
 *
 *   escgen generate MATRIX --bcol 64 --kernel layer.c -o bundles
 */
#include <math.h>

void layer(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N],
           float gate, const float bias[M], const float input[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) C[i][j] = gate * tanhf(C[i][j] + bias[i]) + input[i][j];
}
