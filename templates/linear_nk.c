// SPDX-License-Identifier: Apache-2.0
// A linear layer as PyTorch has it: Y = X x W transposed, a row of X and of Y for each token.
//
// W is the sparse matrix, M x K: known when the kernel is generated, most of its elements zero. X (N x K) and Y (N x M) are
// dense. All three are row-major. Elements of W that are zero contribute nothing, which the condition says.
//
//   escgen generate weights.npy --kernel linear_nk.c --bcol 64 -o bundles
//
// --bcol is the number of tokens.
void linear_nk(int M, int K, int N, const float W[M][K], const float X[N][K], float Y[N][M]) {
  for (int t = 0; t < N; t++) {
    for (int i = 0; i < M; i++) {
      for (int k = 0; k < K; k++) {
        if (W[i][k] != 0) Y[t][i] += W[i][k] * X[t][k];
      }
    }
  }
}
