// SPDX-License-Identifier: Apache-2.0
void spmm(int M, int N, int K, const _Float16 A[M][K], const _Float16 B[K][N], _Float16 C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];
}
