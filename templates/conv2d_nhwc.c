// SPDX-License-Identifier: Apache-2.0
// The convolution of a batch of images whose channels lie side by side (NHWC, "channels last"), with sparse weights:
//
//   Y[n][p][q][f] = sum over c, r, s of Weights[f][c][r][s] * X[n][p * stride + r * dilation - pad][q * stride + s * dilation - pad][c]
//
// N images of H x W pixels with C channels each; F filters of R x S weights for each channel, stored as F x C x R x S. X
// counts as 0 outside of the image, which the conditions on h and w say; weights that are zero contribute nothing, which the
// first condition says. All sizes but N are numbers that a kernel is made for. The weights give F, C, R and S where their
// .npy has these four dimensions; the others follow --size:
//
//   escgen generate weights.npy --kernel conv2d_nhwc.c --size H=56,W=56,stride=1,pad=1,dilation=1 --bcol 1 -o bundles
//
// --bcol is the number of images that the kernel is made for; it is right for any number.
void conv2d_nhwc(int N, int C, int H, int W, int F, int R, int S, int stride, int pad, int dilation,
                 const float Weights[F][C][R][S], const float X[N][H][W][C],
                 float Y[N][(H + 2 * pad - dilation * (R - 1) - 1) / stride + 1][(W + 2 * pad - dilation * (S - 1) - 1) / stride + 1][F]) {
  const int P = (H + 2 * pad - dilation * (R - 1) - 1) / stride + 1;
  const int Q = (W + 2 * pad - dilation * (S - 1) - 1) / stride + 1;
  for (int n = 0; n < N; n++) {
    for (int p = 0; p < P; p++) {
      for (int q = 0; q < Q; q++) {
        for (int f = 0; f < F; f++) {
          for (int r = 0; r < R; r++) {
            for (int s = 0; s < S; s++) {
              for (int c = 0; c < C; c++) {
                const int h = p * stride + r * dilation - pad;
                const int w = q * stride + s * dilation - pad;
                if (Weights[f][c][r][s] != 0 && h >= 0 && h < H && w >= 0 && w < W) {
                  Y[n][p][q][f] += Weights[f][c][r][s] * X[n][h][w][c];
                }
              }
            }
          }
        }
      }
    }
  }
}
