// What no nest may be, of however many loops and dimensions.

#include "tests/refusals/refused_nests.h"

namespace esc {
namespace {

/// A convolution of a signal of several channels: this statement, on line 3, in loops f < 8, p < 6, c < 3, r < 5.
std::string convolution(const std::string& statement, const std::string& image = "const float X[3][15]") {
  return "void f(const float W[8][3][5], " + image +
         ", float Y[8][6], int T, unsigned U) {\n"
         "for (int f = 0; f < 8; f++) for (int p = 0; p < 6; p++) for (int c = 0; c < 3; c++) for (int r = 0; r < 5; r++) {\n" +
         statement + "\n} }\n";
}

/// The same with this condition in front of the sum.
std::string guarded(const std::string& condition) {
  return convolution("if (" + condition + ") Y[f][p] += W[f][c][r] * X[c][2 * p + r];");
}

}  // namespace

std::vector<Refused> refused_any_nests() {
  return {
      {"SizeAsStride", convolution("Y[f][p] += W[f][c][r] * X[c][p * T @+ r];"),
       "subscript T*p + r of X: expected the iterator of one loop, alone, or a sum of iterators times numbers; --size NAME=VALUE makes a "
       "number of a size"},
      {"SizeAsShift", convolution("Y[f][p] += W[f][c][r] * X[c][p @- T];"), "subscript -T + p of X: expected the iterator of one loop"},
      {"ConstantInFactor", convolution("Y[f][p] += W[f][c][r] * X[@2][2 * p + r];"), "subscript 2 of X: expected the iterator of one loop"},
      {"ProductOfIterators", convolution("Y[f][p] += W[f][c][r] * X[c][p @* r];"), "subscript p*r of X"},
      {"TargetShifted", convolution("Y[f][p @+ 1] += W[f][c][r] * X[c][2 * p + r];"),
       "subscript p + 1 of Y: expected the iterator of one loop, alone"},
      {"TargetOverlapped", convolution("Y[f][p @+ r] += W[f][c][r] * X[c][2 * p + r];"), "subscript p + r of Y"},
      {"GuardShifted", convolution("if (W[f][c][r @- 1]) Y[f][p] += W[f][c][r] * X[c][2 * p + r];"), "subscript r - 1 of W"},
      {"TwiceInThree", convolution("Y[f][p] += W[f][c][r] * @X[c][p][c];", "const float X[3][6][3]"),
       "two subscripts of X are c: expected two different iterators"},
      {"DeclaredOtherwiseInThree", convolution("Y[f][p] += W[f][c][r] * @X[c][p][r];", "const float X[3][7][5]"),
       "X is declared with 7 elements in dimension 2, but loop p runs to 6: expected the same"},
      {"UnknownExtent", convolution("Y[f][p] += W[f][c][r] * @X[c][2 * p + r];", "const float** X"),
       "how many columns X has is not known: expected it to be declared, as in X[8][32]"},
      {"UnknownOutermostExtent", convolution("Y[f][p] += W[f][c][r] * @X[2 * p + r][c][f];", "const float X[][3][8]"),
       "how many elements in dimension 1 X has is not known"},
      {"ExtentOfProduct", convolution("Y[f][p] += W[f][c][r] * @X[c][2 * p + r];", "int H, const float X[3][H * H]"),
       "X is declared with H*H columns: expected a size or a positive constant; --size"},
      {"ExtentBelowOne", convolution("Y[f][p] += W[f][c][r] * @X[c][2 * p + r];", "const float X[3][0]"), "X is declared with 0 columns"},
      {"PointerToASignal", convolution("Y[f][p] += W[f][c][r] * X[2 * p @+ r];", "const float* X"),
       "the rows of X are 2 elements apart here, but loop r runs to 5"},
      {"SignalOfOneIterator", convolution("Y[f][p] += W[f][c][r] * X[@p];", "const float X[6]"), "X is indexed as one dimension, [p]"},
      {"GuardNotAffine", guarded("p @* r < 4"), "this compares p*r, which is not affine"},
      {"GuardOfSizes", guarded("T @< 4"), "a guard may leave out zeros only, and all of them"},
      {"GuardLoaded", guarded("X[c][p] @> 0"), "a guard may leave out zeros only"},
      {"GuardEquals", guarded("p @== 4"), "the guard does not compare with 0"},
      {"GuardEqualsZero", guarded("@p != 0"), "this is not a guard on one element"},
      {"GuardUnsigned", guarded("2 * p + r - 1 @< U"), "2*p + r - 1 wraps around below zero, because it is compared unsigned: expected int"},
      {"GuardEither", guarded("p < 4 @|| r < 2"), "this is not a guard on one element"},
      {"GuardNotBoth", guarded("!(p < 4 @&& r < 2)"), "this is not a guard on one element"},
      {"GuardDivided", guarded("p @/ 2 < 2"), "this is not affine: expected / and % of numbers alone; --size NAME=VALUE makes a number"},
      {"GuardOutOf64Bits", guarded("p < @9223372036854775807"), "the constants in this expression leave 64 bits"},
      {"GuardWithElse", convolution("if (p < 4) Y[f][p] += W[f][c][r] * X[c][2 * p + r]; @else Y[f][p] += 0;"),
       "a guard is expected without else"},
      {"DividedByZero", convolution("Y[f][p] += W[f][c][r] * X[c][2 * p + r + 1 @/ (2 - 2)];"), "this divides by 0"},
      {"UnsignedBelowZero", convolution("Y[f][p] += W[f][c][r] * X[c][p @- U];"), "-U + p wraps around below zero, because it is unsigned"},
  };
}

}  // namespace esc
