// SPDX-License-Identifier: Apache-2.0
// The convolution of a batch of images in groups of channels, as PyTorch stores them (NCHW), with sparse weights: the F / groups filters of a group see
// the CG channels of their group alone. With as many groups as channels it is a depthwise convolution.
//
//   Y[n][f][p][q] = sum over c, r, s of Weights[f][c][r][s] * X[n][f / (F / groups) * CG + c][p * stride + r * dilation - pad][..]
//
// N images of groups * CG channels with H x W pixels each; F filters of R x S weights for each channel of their group. X counts as 0 outside of
// the image, which the conditions on h and w say; weights that are zero contribute nothing, which the first condition says.
// All sizes but N are numbers that a kernel is made for. The weights give F, CG, R and S where their .npy has these four
// dimensions, as PyTorch's have; the others follow --size:
//
//   escgen generate weights.npy --kernel conv2d_groups.c --size groups=32,H=14,W=14,stride=1,pad=1,dilation=1 --bcol 1 -o bundles
//
// --bcol is the number of images that the kernel is made for; it is right for any number.
void conv2d_groups(int N, int H, int W, int F, int CG, int R, int S, int groups, int stride, int pad, int dilation,
                   const float Weights[F][CG][R][S], const float X[N][groups * CG][H][W],
                   float Y[N][F][(H + 2 * pad - dilation * (R - 1) - 1) / stride + 1][(W + 2 * pad - dilation * (S - 1) - 1) / stride + 1]) {
  const int P = (H + 2 * pad - dilation * (R - 1) - 1) / stride + 1;
  const int Q = (W + 2 * pad - dilation * (S - 1) - 1) / stride + 1;
  const int FG = F / groups;
  for (int n = 0; n < N; n++) {
    for (int g = 0; g < groups; g++) {
      for (int f = 0; f < FG; f++) {
        for (int p = 0; p < P; p++) {
          for (int q = 0; q < Q; q++) {
            for (int c = 0; c < CG; c++) {
              for (int r = 0; r < R; r++) {
                for (int s = 0; s < S; s++) {
                  const int h = p * stride + r * dilation - pad;
                  const int w = q * stride + s * dilation - pad;
                  if (Weights[g * FG + f][c][r][s] != 0 && h >= 0 && h < H && w >= 0 && w < W) {
                    Y[n][g * FG + f][p][q] += Weights[g * FG + f][c][r][s] * X[n][g * CG + c][h][w];
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
