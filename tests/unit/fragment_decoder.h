// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packed fragments decoded by the definition of mma.sp and mma alone, with no word of the packer's.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transformer/fragment_format.h"
#include "transformer/packed.h"

namespace esc::transformer {

/// Little-endian numbers at places of the packed bytes.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number(std::uint64_t at, int width) const {
    std::uint64_t number = 0;
    for (int i = 0; i < width; ++i) {
      number |= static_cast<std::uint64_t>(bytes_[at + static_cast<std::uint64_t>(i)]) << 8 * i;
    }
    return number;
  }

 private:
  std::span<const std::byte> bytes_;
};

using Places = std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t>;

/// Packed tiles as a kernel reads them: lane by lane and register by register, as PTX defines mma.sp.m16n8k16, or
/// mma.m16n8k8 where steps are dense.
class Decoder {
 public:
  Decoder(const Packed<FragmentFormat>& packed) : format_(packed.format), bytes_(packed.bytes.span()) {
    const FragmentShape& shape = format_.shape;
    dense_ = shape.dense != 0;
    placed_ = shape.placed != 0;
    place_bytes_ = shape.placed == 2 ? 2 : 4;
    lists_ = 4 * shape.height / 16;
    steps_ = shape.steps;
    m16_tiles_ = shape.height / 16;
    metadata_at_ = steps_ * m16_tiles_ * 512;
    columns_at_ = metadata_at_ + steps_ * m16_tiles_ * 64;
    ends_at_ = columns_at_ + steps_ * 16;
    room_ = shape.listed / 2 * 2;
    packed_tile_bytes_ = placed_             ? (32 + room_ * 6 + 31) / 32 * 32
                         : shape.listed != 0 ? (lists_ * 80 + shape.listed * 4 + 31) / 32 * 32
                         : dense_ ? 16 * m16_tiles_ * 512
                                  : (ends_at_ + (shape.residuals == 0 ? 0 : 8 + 8 * shape.residuals) + 31) / 32 * 32;
  }

  /// Everything that is stored, as bits. Records a problem where the bytes are not as the definition says.
  Places decode() {
    const FragmentShape& shape = format_.shape;
    const std::int64_t width = placed_ ? 32 : 128;
    const std::uint64_t k_tiles = static_cast<std::uint64_t>((shape.columns + width - 1) / width);
    const std::uint64_t row_tiles = (static_cast<std::uint64_t>(shape.rows) + 16 * m16_tiles_ - 1) / (16 * m16_tiles_);
    const std::uint64_t blocks = (row_tiles + shape.block_row_tiles - 1) / shape.block_row_tiles;
    const std::uint64_t rounds = format_.counts.rounds;
    const bool regular = rounds == blocks * k_tiles;
    const int k_tile_width = k_tiles <= 65536 ? 2 : 4;
    const std::uint64_t k_tiles_at = (256 + (blocks + 1) * 4 + 255) / 256 * 256;
    const std::uint64_t packed_tiles_at =
        regular ? 256 : (k_tiles_at + rounds * static_cast<std::uint64_t>(k_tile_width) + 255) / 256 * 256;
    const std::uint64_t packed_tiles = shape.block_row_tiles / shape.joined;
    expect(placed_ || (shape.joined == 1 && shape.shares == 1), "numbers of placed values");
    expect(format_.bytes == packed_tiles_at + rounds * packed_tiles * packed_tile_bytes_, "number of bytes");
    std::uint64_t next = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const std::uint64_t first = regular ? block * k_tiles : bytes_.number(256 + block * 4, 4);
      const std::uint64_t end = regular ? first + k_tiles : bytes_.number(256 + block * 4 + 4, 4);
      expect(first == next, "first round of a block");
      std::uint64_t expected = 0;
      for (std::uint64_t round = first; round < end; ++round) {
        const std::uint64_t k_tile =
            regular ? round - first
                    : bytes_.number(k_tiles_at + round * static_cast<std::uint64_t>(k_tile_width), k_tile_width);
        expect(k_tile == expected || (round > first && k_tile + 1 == expected), "K tile of a round");
        if (k_tile == expected) {
          expect_exponents();
          earlier_.assign(packed_tiles, {});
        }
        expected = k_tile + 1;
        for (std::uint64_t packed_tile = 0; packed_tile < packed_tiles; ++packed_tile) {
          at_ = packed_tiles_at + (round * packed_tiles + packed_tile) * packed_tile_bytes_;
          number_of_packed_tile_ = packed_tile;
          first_row_ =
              static_cast<std::int64_t>((block * shape.block_row_tiles + packed_tile * shape.joined) * 16 * m16_tiles_);
          first_column_ = static_cast<std::int64_t>(k_tile) * width;
          decode_packed_tile();
        }
      }
      expect(expected == k_tiles, "last K tile of a block");
      next = end;
    }
    expect(next == rounds, "number of rounds");
    expect_exponents();
    return found_;
  }

  const std::string& problem() const { return problem_; }

 private:
  void expect(bool holds, const char* words) {
    if (!holds && problem_.empty()) {
      problem_ = words;
    }
  }

  std::int64_t column_of(std::uint32_t step, std::uint32_t slot) const {
    return static_cast<std::int64_t>(bytes_.number(at_ + columns_at_ + step * 16 + slot % 4 * 4 + slot / 4, 1));
  }

  std::uint64_t metadata_of(std::uint64_t step, std::uint32_t m16_tile, std::uint32_t group_id,
                            std::uint32_t half) const {
    return at_ + metadata_at_ + (step * m16_tiles_ + m16_tile) * 64 + group_id * 8 + half * 4;
  }

  void add(std::int64_t row, std::int64_t column, std::uint64_t bits) {
    expect(found_.emplace(std::pair(first_row_ + row, first_column_ + column), static_cast<std::uint32_t>(bits)).second,
           "a non-zero twice");
  }

  /// The value of a lane's register, for the two columns of K that the lane's place says.
  void decode_register(std::uint32_t step, std::uint32_t m16_tile, std::uint32_t lane, std::uint32_t number) {
    const std::uint32_t group = lane % 4 + number / 2 * 4;
    const std::uint64_t word = bytes_.number(metadata_of(step, m16_tile, lane / 4, group / 4), 4);
    const std::uint64_t nibble = word >> (number % 2 * 16 + group % 4 * 4) & 15;
    const std::uint64_t bits = bytes_.number(at_ + ((step * m16_tiles_ + m16_tile) * 32 + lane) * 16 + number * 4, 4);
    expect(nibble == 4 || (nibble == 14 && bits != 0), "a place that the tensor core does not know");
    if (bits != 0) {
      add(m16_tile * 16 + lane / 4 + number % 2 * 8, column_of(step, 2 * group + (nibble == 14 ? 1 : 0)), bits);
    }
  }

  /// All elements of 8 columns, of which a lane has two, in two rows of an m16 tile.
  void decode_dense_packed_tile() {
    for (std::uint32_t step = 0; step < 16; ++step) {
      for (std::uint32_t m16_tile = 0; m16_tile < m16_tiles_; ++m16_tile) {
        for (std::uint32_t place = 0; place < 32 * 4; ++place) {
          const std::uint32_t lane = place / 4;
          const std::uint32_t number = place % 4;
          const std::uint64_t bits =
              bytes_.number(at_ + ((step * m16_tiles_ + m16_tile) * 32 + lane) * 16 + number * 4, 4);
          if (bits != 0) {
            add(m16_tile * 16 + lane / 4 + number % 2 * 8, step * 8 + lane % 4 + number / 2 * 4, bits);
          }
        }
      }
    }
  }

  /// A register of a lane of mma.m16n8k8.
  void add_listed(std::uint32_t step, std::uint32_t m16_tile, std::uint32_t lane, std::uint32_t number,
                  std::uint64_t bits) {
    const std::uint32_t group_id = lane / 4;
    const std::uint32_t row = number == 0 || number == 2 ? group_id : group_id + 8;
    add(m16_tile * 16 + row, step * 8 + lane % 4 + (number < 2 ? 0 : 4), bits);
  }

  /// What of 32 columns and an m16 tile each lane lists, of four steps of 8 columns.
  void decode_listed_packed_tile() {
    const std::uint64_t values_at = at_ + lists_ * 80;
    std::uint64_t next = 0;
    const auto read_next = [&] { return bytes_.number(values_at + 4 * next++, 4); };
    for (std::uint32_t list = 0; list < lists_; ++list) {
      const auto m16_tile = static_cast<std::uint32_t>(list % m16_tiles_);
      const auto part = static_cast<std::uint32_t>(list / m16_tiles_);
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        expect(bytes_.number(at_ + lists_ * 64 + list * 16 + lane / 4 * 2, 2) == next || lane % 4 != 0,
               "where the values of four lanes begin");
        const std::uint64_t listed = bytes_.number(at_ + list * 64 + lane * 2, 2);
        for (std::uint32_t bit = 0; bit < 16; ++bit) {
          if ((listed >> bit & 1) != 0) {
            expect(next < format_.shape.listed, "more values than a packed tile lists");
            const std::uint64_t bits = next < format_.shape.listed ? read_next() : 0;
            expect(bits != 0, "a zero that is listed");
            add_listed(part * 4 + bit / 4, m16_tile, lane, bit % 4, bits);
          }
        }
      }
    }
    while (lists_ * 80 + 4 * next < packed_tile_bytes_) {
      expect(read_next() == 0, "values after the last one");
    }
  }

  /// What a packed tile with placed values has in the rounds of a K tile.
  struct EarlierRounds {
    std::int64_t last_place = -1;
    bool is_full = true;
    std::vector<std::pair<int, int>> exponents =
        {};  ///< of each round the one that is there, and that of its greatest value
  };

  /// The exponent of a round is that of the greatest value that the rounds before it have left, and 14 at least.
  void expect_exponents() {
    for (const EarlierRounds& packed_tile : earlier_) {
      int greatest = 14;
      for (auto round = packed_tile.exponents.rbegin(); round != packed_tile.exponents.rend(); ++round) {
        greatest = std::max(greatest, round->second);
        expect(round->first == greatest, "the exponent of a packed tile");
      }
    }
  }

  /// Of values that are stored at once each one is of a bank that has been taken least often, and of those of the one
  /// that has most left.
  void expect_banks(std::uint64_t first, std::uint64_t behind, std::array<std::uint32_t, 32>& left) {
    std::array<std::uint32_t, 32> used = {};
    for (std::uint64_t number = first; number < behind; number += 2) {
      const std::uint64_t bank = bank_of(place_of(number));
      for (std::uint32_t other = 0; other < 32; ++other) {
        expect(left[other] == 0 || used[bank] < used[other] || (used[bank] == used[other] && left[bank] >= left[other]),
               "a bank that is not the next one");
      }
      ++used[bank];
      --left[bank];
    }
  }

  std::uint64_t place_at(std::uint64_t number) const { return bytes_.number(at_ + 32 + 4 * room_ + 2 * number, 2); }
  std::uint64_t place_of(std::uint64_t number) const { return place_at(number) / place_bytes_; }
  std::uint64_t bank_of(std::uint64_t place) const { return place_bytes_ == 2 ? place / 2 % 32 : place % 32; }

  /// A row has 16 bytes for each 4 columns, or for each 8, of which column 4 follows column 0.
  std::pair<std::int64_t, std::int64_t> element_at(std::uint64_t place) const {
    const std::uint64_t column =
        place_bytes_ == 2 ? place / 64 % 4 * 8 + place / 2 % 4 + place % 2 * 4 : place / 32 % 8 * 4 + place % 4;
    const std::uint64_t row = place / 256 * 8 + (place_bytes_ == 2 ? place / 8 : place / 4) % 8;
    return {static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)};
  }

  void decode_placed_packed_tile() {
    const FragmentShape& shape = format_.shape;
    const std::uint64_t places_of_share = std::uint64_t{shape.joined} * 16 * m16_tiles_ * 32 / shape.shares;
    const auto begin = [&](std::uint64_t share) { return bytes_.number(at_ + share * 2, 2); };
    const std::uint64_t used = begin(shape.shares);
    const auto exponent = static_cast<int>(bytes_.number(at_ + 20, 4));
    EarlierRounds& earlier = earlier_[number_of_packed_tile_];
    expect(begin(0) == 0 && used <= room_, "where the values of a packed tile begin and end");
    if (!problem_.empty()) {
      return;
    }
    std::set<std::uint64_t> taken;
    int greatest = 0;
    std::int64_t last_place = earlier.last_place;
    for (std::uint64_t share = 0; share < shape.shares; ++share) {
      const std::uint64_t first = begin(share), behind = begin(share + 1);
      expect(first % 2 == 0 && behind % 2 == 0 && first <= behind && behind <= used,
             "where the values of a share begin");
      std::array<std::uint32_t, 32> left = {};
      std::uint64_t count = 0;
      for (std::uint64_t number = first; number < behind && problem_.empty(); ++number) {
        const std::uint64_t bits = bytes_.number(at_ + 32 + number * 4, 4);
        const std::uint64_t place = place_of(number);
        expect(place_at(number) % place_bytes_ == 0, "a place between two others");
        expect(place / places_of_share == share, "a place of another share");
        expect(taken.insert(place).second, "a place twice");
        expect(bits != 0 || number + 1 == behind, "a zero before a value");
        if (bits == 0) {
          continue;
        }
        ++left[bank_of(place)];
        ++count;
        expect(earlier.is_full && static_cast<std::int64_t>(place) > earlier.last_place,
               "a value that an earlier round has room for");
        last_place = std::max(last_place, static_cast<std::int64_t>(place));
        const auto [row, column] = element_at(place);
        add(row, column, bits);
        const auto own = static_cast<int>(bits >> 23 & 0xff);
        greatest = std::max(greatest, own == 0xff ? 0 : own);
      }
      for (std::uint64_t at = 0; at < count && problem_.empty(); at += 64) {
        const std::uint64_t end = first + std::min(at + 64, count);
        expect_banks(first + at, end, left);
        expect_banks(first + at + 1, end, left);
      }
    }
    earlier.last_place = last_place;
    earlier.is_full = used == room_;
    earlier.exponents.emplace_back(exponent, greatest);
    const auto expect_nothing = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t at = from; at < to; ++at) {
        expect(bytes_.number(at_ + at, 1) == 0, "what is not used");
      }
    };
    expect_nothing(2 * (std::uint64_t{shape.shares} + 1), 20);
    expect_nothing(24, 32);
    expect_nothing(32 + 4 * used, 32 + 4 * room_);
    expect_nothing(32 + 4 * room_ + 2 * used, packed_tile_bytes_);
  }

  void decode_packed_tile() {
    if (placed_) {
      decode_placed_packed_tile();
      return;
    }
    if (format_.shape.listed != 0) {
      decode_listed_packed_tile();
      return;
    }
    if (dense_) {
      decode_dense_packed_tile();
      return;
    }
    for (std::uint32_t step = 0; step < steps_; ++step) {
      for (std::uint32_t slot = 0; slot < 16; ++slot) {
        expect(first_column_ + column_of(step, slot) < format_.shape.columns, "a column outside the matrix");
      }
      for (std::uint32_t m16_tile = 0; m16_tile < m16_tiles_; ++m16_tile) {
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          for (std::uint32_t number = 0; number < 4; ++number) {
            decode_register(step, m16_tile, lane, number);
          }
        }
      }
    }
    decode_residuals();
  }

  void decode_residuals() {
    std::uint64_t residual = 0;
    std::uint64_t value = 0;
    std::uint64_t place = 0;
    const auto read_next = [&] {
      const std::uint64_t at = at_ + ends_at_ + 8 + 8 * residual;
      value = bytes_.number(at, 4);
      place = bytes_.number(at + 4, 4);
    };
    for (std::uint32_t row_set = 0; row_set < 8 && format_.shape.residuals != 0; ++row_set) {
      const std::uint64_t end = bytes_.number(at_ + ends_at_ + row_set, 1);
      expect(residual <= end && end <= format_.shape.residuals, "where the residuals of a row set end");
      for (std::uint64_t least = 0; residual < end; ++residual) {
        read_next();
        const std::uint64_t of_set = place >> 8;
        const std::uint64_t order = (place & 0xff) * 4 + of_set;
        expect(of_set < 2 * m16_tiles_ && value != 0 && order >= least, "an extra");
        least = order + 1;
        add(static_cast<std::int64_t>(row_set + of_set * 8), static_cast<std::int64_t>(place & 0xff), value);
      }
    }
    for (; residual < format_.shape.residuals; ++residual) {
      read_next();
      expect(value == 0 && place == 0, "an extra after the last one");
    }
  }

  FragmentFormat format_;
  Bytes bytes_;
  bool dense_ = false;             ///< in dense steps
  bool placed_ = false;            ///< with two bytes that say where each is
  std::uint64_t place_bytes_ = 0;  ///< of each in its place
  std::uint64_t room_ = 0;         ///< for placed values, which go in pairs
  std::uint64_t lists_ = 0;        ///< of 32 columns and an m16 tile, where values are listed
  std::uint64_t steps_ = 0;
  std::uint64_t m16_tiles_ = 0;  ///< of 16 rows of a row tile
  std::uint64_t metadata_at_ = 0;
  std::uint64_t columns_at_ = 0;
  std::uint64_t ends_at_ = 0;
  std::uint64_t packed_tile_bytes_ = 0;
  std::uint64_t at_ = 0;
  std::int64_t first_row_ = 0;
  std::int64_t first_column_ = 0;
  std::uint64_t number_of_packed_tile_ = 0;  ///< of a round
  std::vector<EarlierRounds> earlier_;       ///< of the K tile, of each packed tile
  Places found_;
  std::string problem_;
};

}  // namespace esc::transformer
