// SPDX-License-Identifier: Apache-2.0
void sparse_batch(int G, int I, int K, int N, const float A[G][I][K], const float B[G][K][N], float C[G][I][N]) {
  for (int g = 0; g < G; g++)
    for (int i = 0; i < I; i++)
      for (int j = 0; j < N; j++)
        for (int k = 0; k < K; k++) C[g][i][j] += A[g][i][k] * B[g][k][j];
}
