// SPDX-License-Identifier: Apache-2.0
// The input loop nest: C = A x B.
//
// A is the sparse matrix, M x K: known when the kernel is generated, most of its elements zero. B (K x N) and C (M x N)
// are dense. All three are row-major. Elements of A that are zero contribute nothing, which the condition says.
void spmm(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int i = 0; i < M; i++) {
    for (int k = 0; k < K; k++) {
      for (int j = 0; j < N; j++) {
        if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];
      }
    }
  }
}
