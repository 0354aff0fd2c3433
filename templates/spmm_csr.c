// SPDX-License-Identifier: Apache-2.0
// The product over the stored elements of A, row after row (CSR): C = A x B.
//
// Those of row i are values[rows[i]] to values[rows[i + 1] - 1], in the columns that `columns` has in the same places. This is the product of spmm.c,
// and so is its kernel: the three arrays together are the sparse matrix, M x K, that the kernel is generated for, and a call hands over that
// matrix packed. B (K x N) and C (M x N) are dense and row-major.
//
//   escgen generate weights.smtx --kernel spmm_csr.c --bcol 64 -o bundles
void spmm_csr(int M, int K, int N, int nonzeros, const int rows[M + 1], const int columns[nonzeros], const float values[nonzeros], const float B[K][N],
              float C[M][N]) {
  for (int i = 0; i < M; i++) {
    for (int p = rows[i]; p < rows[i + 1]; p++) {
      for (int j = 0; j < N; j++) {
        C[i][j] += values[p] * B[columns[p]][j];
      }
    }
  }
}
