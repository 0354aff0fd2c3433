// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

// Operands for the instructions of tests/device/matrix_instructions.cuh, and what must come of them by a plain
// computation on matrices. Depends on nothing, so that nvcc compiles it, too.

namespace esc::testing {

inline constexpr int kLoadInstructions = 6;
inline constexpr int kTransposition = 21;  ///< after loads and products
inline constexpr int kPermutation = 22;
inline constexpr int kConversion = 23;
inline constexpr int kPermutationOfTwo = 24;
inline constexpr int kLoadOfAWord = 25;
inline constexpr int kCopyOfAPiece = 26;
inline constexpr int kProductOfBytes = 27;
inline constexpr int kProductOfHalves = 28;
inline constexpr int kMatrixInstructions = 29;
inline constexpr std::size_t kMatrixOperandWords = 13;
inline constexpr std::size_t kMatrixResultWords = 4;

/// What the elements are: small integers, whose sums are exact on every machine; numbers with as many bits as the type
/// has, whose sums are exact in double; integers among which are infinities, NaNs and numbers that are subnormal in
/// float16.
enum class MatrixValues { integers, fractions, specials };

/// Operands and results by lane, in words.
struct MatrixInstructionCase {
  std::vector<std::uint32_t> operands = std::vector<std::uint32_t>(32 * kMatrixOperandWords);
  std::vector<std::uint32_t> results = std::vector<std::uint32_t>(32 * kMatrixResultWords);
  /// Of each result: the sum of the magnitudes of all that is added. 0 where the result must be met bit by bit.
  std::vector<double> magnitudes = std::vector<double>(32 * kMatrixResultWords);
};

/// One of the instructions that multiply, by number.
struct ProductUnderTest {
  explicit ProductUnderTest(int instruction)
      : type((instruction - kLoadInstructions) / 5),
        sparse((instruction - kLoadInstructions) % 5 != 0),
        ordered((instruction - kLoadInstructions) % 5 >= 3),
        selector(sparse ? ((instruction - kLoadInstructions) % 5 - 1) % 2 : 0),
        stored(type == 2 ? 8 : 16),
        depth(sparse ? 2 * stored : stored) {}

  int type;  ///< float16, bfloat16, tf32
  bool sparse;
  bool ordered;
  int selector;
  int stored;  ///< elements of a row of A that are given
  int depth;   ///< elements of a row of A
};

inline std::string describe_matrix_instruction(int instruction) {
  if (instruction < kLoadInstructions) {
    return "ldmatrix x" + std::to_string(1 << instruction / 2) + (instruction % 2 != 0 ? " trans" : "");
  }
  if (instruction == kTransposition) {
    return "movmatrix trans";
  }
  if (instruction == kPermutation) {
    return "prmt";
  }
  if (instruction == kConversion) {
    return "cvt f16x2";
  }
  if (instruction == kPermutationOfTwo) {
    return "prmt of two words";
  }
  if (instruction == kLoadOfAWord) {
    return "ld.shared";
  }
  if (instruction == kCopyOfAPiece) {
    return "cp.async";
  }
  if (instruction == kProductOfBytes) {
    return "dp4a";
  }
  if (instruction == kProductOfHalves) {
    return "dp2a.lo";
  }
  const ProductUnderTest product(instruction);
  const char* const types[] = {"f16", "bf16", "tf32"};
  return std::string(product.sparse ? "mma.sp" : "mma") + (product.ordered ? "::ordered_metadata " : " ") +
         types[product.type] + (product.sparse ? " selector " + std::to_string(product.selector) : "");
}

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// The pattern of a number that the type (of ProductUnderTest) holds exactly.
inline std::uint32_t pattern_of(int type, double value) {
  if (type == 2) {
    return bits_of(static_cast<float>(value));
  }
  if (type == 1) {
    return bits_of(static_cast<float>(value)) >> 16;
  }
  const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (std::isnan(value) || std::isinf(value)) {
    return sign | (std::isnan(value) ? 0x7e00u : 0x7c00u);
  }
  if (magnitude < std::ldexp(1.0, -14)) {
    return sign | static_cast<std::uint32_t>(std::ldexp(magnitude, 24));
  }
  const int exponent = std::ilogb(magnitude);
  const auto mantissa = static_cast<std::uint32_t>(std::ldexp(magnitude, 10 - exponent)) - 0x400u;
  return sign | static_cast<std::uint32_t>(exponent + 15) << 10 | mantissa;
}

inline double draw_value(int type, MatrixValues values, std::mt19937& random) {
  const double integer = static_cast<double>(random() % 9) - 4.0;
  if (values == MatrixValues::fractions) {
    const int bits = type == 1 ? 8 : 11;
    const auto whole = static_cast<double>(random() % (1u << bits));
    return std::ldexp(random() % 2 != 0 ? whole : -whole, 1 - bits);
  }
  if (values == MatrixValues::specials) {
    switch (random() % 60) {
      case 0:
        return std::numeric_limits<double>::infinity();
      case 1:
        return std::numeric_limits<double>::quiet_NaN();
      case 2:
        return std::ldexp(integer, -17);
      default:
        break;
    }
  }
  return integer;
}

inline MatrixInstructionCase draw_load(int instruction, std::mt19937& random) {
  MatrixInstructionCase drawn;
  for (std::uint32_t& word : drawn.operands) {
    word = static_cast<std::uint32_t>(random());
  }
  const auto element = [&](int row, int column) {
    return drawn.operands[static_cast<std::size_t>(row) * kMatrixOperandWords + static_cast<std::size_t>(column / 2)] >>
               16 * (column % 2) &
           0xffffu;
  };
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < 1 << instruction / 2; ++matrix) {
      const int fast = 2 * (lane % 4);
      const int slow = lane / 4;
      const bool transposed = instruction % 2 != 0;
      const std::uint32_t low = transposed ? element(8 * matrix + fast, slow) : element(8 * matrix + slow, fast);
      const std::uint32_t high =
          transposed ? element(8 * matrix + fast + 1, slow) : element(8 * matrix + slow, fast + 1);
      drawn.results[static_cast<std::size_t>(4 * lane + matrix)] = low | high << 16;
    }
  }
  return drawn;
}

/// The first word of each lane has two elements of a row.
inline MatrixInstructionCase draw_transposition(std::mt19937& random) {
  MatrixInstructionCase drawn;
  for (std::uint32_t& word : drawn.operands) {
    word = static_cast<std::uint32_t>(random());
  }
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      const std::uint32_t word = drawn.operands[static_cast<std::size_t>(4 * row + column / 2) * kMatrixOperandWords];
      drawn.results[static_cast<std::size_t>(4 * column + row / 2) * kMatrixResultWords] |=
          (word >> 16 * (column % 2) & 0xffffu) << 16 * (row % 2);
    }
  }
  return drawn;
}

/// Bytes of as many operands, or of them and zeros, and signs in the order that the digits of the next operand say.
inline MatrixInstructionCase draw_permutation(std::size_t words, std::mt19937& random) {
  MatrixInstructionCase drawn;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    std::uint32_t* const operands = drawn.operands.data() + lane * kMatrixOperandWords;
    std::array<std::uint32_t, 8> bytes{};
    for (std::size_t number = 0; number < 4 * words; ++number) {
      bytes[number] = static_cast<std::uint32_t>(random() % 256);
      operands[number / 4] |= bytes[number] << 8 * (number % 4);
    }
    operands[words] = static_cast<std::uint32_t>(random());
    for (std::size_t place = 0; place < 4; ++place) {
      const std::uint32_t digit = operands[words] >> 4 * place & 0xf;
      const std::uint32_t byte = bytes[digit % 8];
      drawn.results[lane * kMatrixResultWords] |= (digit < 8 ? byte : byte < 128 ? 0u : 0xffu) << 8 * place;
    }
  }
  return drawn;
}

inline MatrixInstructionCase draw_words(std::mt19937& random) {
  MatrixInstructionCase drawn;
  std::generate(drawn.operands.begin(), drawn.operands.end(), [&] { return static_cast<std::uint32_t>(random()); });
  return drawn;
}

/// A word of a lane's first four, another one for each of four lanes.
inline MatrixInstructionCase draw_load_of_a_word(std::mt19937& random) {
  MatrixInstructionCase drawn = draw_words(random);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    drawn.results[lane * kMatrixResultWords] = drawn.operands[lane * kMatrixOperandWords + lane % 4];
  }
  return drawn;
}

/// Of the words of all lanes four for each, of which a number of the lane's own says how many bytes are copied.
inline MatrixInstructionCase draw_copy_of_a_piece(std::mt19937& random) {
  MatrixInstructionCase drawn = draw_words(random);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t bytes = drawn.operands[lane * kMatrixOperandWords + 12] % 17;
    std::memcpy(drawn.results.data() + lane * kMatrixResultWords, drawn.operands.data() + 4 * lane, bytes);
  }
  return drawn;
}

/// The sum of a number and of the products of bytes without signs.
inline MatrixInstructionCase draw_product_of_bytes(std::mt19937& random) {
  MatrixInstructionCase drawn = draw_words(random);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t* const operands = drawn.operands.data() + lane * kMatrixOperandWords;
    std::array<unsigned char, 8> bytes{};
    std::memcpy(bytes.data(), operands, bytes.size());
    std::uint32_t sum = operands[2];
    for (std::size_t place = 0; place < 4; ++place) {
      sum += std::uint32_t{bytes[place]} * bytes[place + 4];
    }
    drawn.results[lane * kMatrixResultWords] = sum;
  }
  return drawn;
}

inline MatrixInstructionCase draw_product_of_halves(std::mt19937& random) {
  MatrixInstructionCase drawn = draw_words(random);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t* const operands = drawn.operands.data() + lane * kMatrixOperandWords;
    std::array<std::uint16_t, 2> halves{};
    std::array<unsigned char, 2> bytes{};
    std::memcpy(halves.data(), operands, sizeof(halves));
    std::memcpy(bytes.data(), operands + 1, sizeof(bytes));
    drawn.results[lane * kMatrixResultWords] =
        operands[2] + std::uint32_t{halves[0]} * bytes[0] + std::uint32_t{halves[1]} * bytes[1];
  }
  return drawn;
}

/// The pattern of the nearest number of float16, by the default rounding of double; a NaN is the one of the hardware.
inline std::uint32_t rounded_to_float16(float value) {
  if (std::isnan(value)) {
    return 0x7fff;
  }
  if (std::isinf(value) || value == 0) {
    return pattern_of(0, static_cast<double>(value));
  }
  constexpr double kLargest = 65504;
  const int unit = std::max(std::ilogb(value), -14) - 10;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(value), -unit)), unit);
  return pattern_of(
      0, std::abs(rounded) > kLargest ? std::copysign(std::numeric_limits<double>::infinity(), rounded) : rounded);
}

/// A number that float16 has, or one in its range: a middle between two neighbours, or next to such a one; or any
/// pattern.
inline float draw_unrounded(MatrixValues values, std::mt19937& random) {
  if (values == MatrixValues::specials && random() % 2 != 0) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    bits |= random() % 4 == 0 ? 0x7f800000u : 0u;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (values != MatrixValues::fractions) {
    return static_cast<float>(draw_value(0, values, random));
  }
  constexpr int kLowest = -26;  // a quarter of the smallest number of float16
  constexpr int kHighest = 16;  // where the infinite begin
  const int exponent = kLowest + static_cast<int>(random() % (kHighest - kLowest + 1));
  const int unit = std::max(exponent, -14) - 10;
  const auto number = static_cast<float>(std::ldexp(1.0 + static_cast<double>(random() % 1024) / 1024, exponent));
  const auto middle =
      static_cast<float>((std::floor(std::ldexp(static_cast<double>(number), -unit)) + 0.5) * std::ldexp(1.0, unit));
  const std::array<float, 4> choice{number, middle, std::nextafter(middle, 0.F), std::nextafter(middle, 2 * middle)};
  return (random() % 2 != 0 ? 1.F : -1.F) * choice[random() % 4];
}

/// Of two numbers the first becomes the upper half of a word.
inline MatrixInstructionCase draw_conversion(MatrixValues values, std::mt19937& random) {
  MatrixInstructionCase drawn;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const float upper = draw_unrounded(values, random);
    const float lower = draw_unrounded(values, random);
    drawn.operands[lane * kMatrixOperandWords] = bits_of(upper);
    drawn.operands[lane * kMatrixOperandWords + 1] = bits_of(lower);
    drawn.results[lane * kMatrixResultWords] = rounded_to_float16(upper) << 16 | rounded_to_float16(lower);
  }
  return drawn;
}

/// Matrices, their product, and where their elements lie by the figures of the PTX ISA.
inline MatrixInstructionCase draw_product(int instruction, MatrixValues values, std::mt19937& random) {
  const ProductUnderTest product(instruction);
  const int type = product.type;
  std::vector<std::array<double, 16>> stored(16);  // what the instruction is given of them
  std::vector<std::array<int, 16>> places(16);     // which elements these are
  std::vector<std::array<double, 8>> b(32);
  std::vector<std::array<float, 8>> c(16);
  for (int row = 0; row < 16; ++row) {
    for (int at = 0; at < product.stored; ++at) {
      places[row][at] = at;
    }
    const int group = type == 2 ? 2 : 4;
    for (int first = 0; product.sparse && first < product.depth; first += group) {
      std::array<int, 4> choice = {0, 1, 2, 3};
      std::shuffle(choice.begin(), choice.begin() + group, random);
      if (product.ordered && choice[0] > choice[1]) {
        std::swap(choice[0], choice[1]);
      }
      for (int kept = 0; kept < group / 2; ++kept) {
        places[row][first / 2 + kept] = first + choice[kept];
      }
    }
    for (int at = 0; at < product.stored; ++at) {
      stored[row][at] = draw_value(type, values, random);
    }
    for (int column = 0; column < 8; ++column) {
      c[row][column] =
          static_cast<float>(values == MatrixValues::fractions ? static_cast<double>(random() % 65536) / 4096 - 8
                                                               : static_cast<double>(random() % 33) - 16);
    }
  }
  for (int k = 0; k < product.depth; ++k) {
    for (int column = 0; column < 8; ++column) {
      b[k][column] = draw_value(type, values, random);
    }
  }

  MatrixInstructionCase drawn;
  for (int lane = 0; lane < 32; ++lane) {
    std::uint32_t* const words = drawn.operands.data() + static_cast<std::size_t>(lane) * kMatrixOperandWords;
    const int group = lane / 4;
    const int in_group = lane % 4;
    if (type == 2) {
      for (int i = 0; i < 4; ++i) {
        words[i] = pattern_of(type, stored[i % 2 == 0 ? group : group + 8][i < 2 ? in_group : in_group + 4]);
      }
      for (int i = 0; i < product.depth / 4; ++i) {
        words[4 + i] = pattern_of(type, b[in_group + 4 * i][group]);
      }
    } else {
      for (int i = 0; i < 8; ++i) {
        const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
        const int column = 2 * in_group + i % 2 + (i < 4 ? 0 : 8);
        words[i / 2] |= pattern_of(type, stored[row][column]) << 16 * (i % 2);
      }
      for (int i = 0; i < product.depth / 4; ++i) {
        const int k = 2 * in_group + i % 2 + 8 * (i / 2);
        words[4 + i / 2] |= pattern_of(type, b[k][group]) << 16 * (i % 2);
      }
    }
    words[8] = static_cast<std::uint32_t>(random());  // nobody may look at it in the lanes that have no metadata
    if (product.sparse && in_group / 2 == product.selector) {
      words[8] = 0;
      for (int half = 0; half < 2; ++half) {
        const int row = group + 8 * half;
        const int first = product.stored / 2 * (in_group % 2);
        for (int at = 0; at < product.stored / 2; ++at) {
          const int place = places[row][first + at];
          const std::uint32_t index =
              static_cast<std::uint32_t>(type == 2 ? (place % 2 == 0 ? 0b0100 : 0b1110) : place % 4);
          words[8] |= index << (16 * half + at * (type == 2 ? 4 : 2));
        }
      }
    }
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? group : group + 8;
      const int column = 2 * in_group + i % 2;
      words[9 + i] = bits_of(c[row][column]);
      double sum = static_cast<double>(c[row][column]);
      double magnitude = std::abs(sum);
      for (int at = 0; at < product.stored; ++at) {
        const double term = stored[row][at] * b[places[row][at]][column];
        sum += term;
        magnitude += std::abs(term);
      }
      const std::size_t result = static_cast<std::size_t>(4 * lane + i);
      drawn.results[result] = std::isnan(sum) ? 0x7fffffffu : bits_of(static_cast<float>(sum));
      drawn.magnitudes[result] = values == MatrixValues::integers ? 0 : magnitude;
    }
  }
  return drawn;
}

inline MatrixInstructionCase draw_matrix_case(int instruction, MatrixValues values, std::uint32_t seed) {
  std::mt19937 random(seed);
  return instruction < kLoadInstructions    ? draw_load(instruction, random)
         : instruction == kTransposition    ? draw_transposition(random)
         : instruction == kPermutation      ? draw_permutation(1, random)
         : instruction == kConversion       ? draw_conversion(values, random)
         : instruction == kPermutationOfTwo ? draw_permutation(2, random)
         : instruction == kLoadOfAWord      ? draw_load_of_a_word(random)
         : instruction == kCopyOfAPiece     ? draw_copy_of_a_piece(random)
         : instruction == kProductOfBytes   ? draw_product_of_bytes(random)
         : instruction == kProductOfHalves  ? draw_product_of_halves(random)
                                            : draw_product(instruction, values, random);
}

}  // namespace esc::testing
