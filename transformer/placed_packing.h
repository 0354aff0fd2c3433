// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing of placed values, one packed tile at a time. As in packed_bytes.h, the text between the markers is part of
// the generated transformers of kernels that read fragments.

#include "transformer/fragment_format.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing of placed values. All elements of a packed tile are put in their places first; then each share lists those
// that it has, in such an order that 32 which are stored at once are in different banks of shared memory as far as
// there are any.
// ---------------------------------------------------------------------------------------------------------------------

/// The elements of a packed tile, by their places.
struct PlacedElements {
  uint32_t bits[max_packed_tile_places];
  bool is_there[max_packed_tile_places] = {};

  void add(uint32_t place, uint32_t bits_of_value) {
    bits[place] = bits_of_value;
    is_there[place] = true;
  }
};

/// The values that are stored at once, by as many threads: places of a share, a bank beside the other.
struct BanksOfShare {
  PlaceOrder order;
  uint32_t left[banks] = {};                               ///< of each bank
  uint16_t places[banks][max_packed_tile_places / banks];  ///< of each bank the last one is the next

  explicit BanksOfShare(const PlaceOrder& given) : order(given) {}

  void add(uint32_t place) {
    const uint32_t bank = order.bank_of(place);
    places[bank][left[bank]++] = static_cast<uint16_t>(place);
  }
  /// Takes the places of `count` values out of as many banks as there are, in the order of banks that have most of
  /// them.
  void take(uint32_t count, uint32_t* taken) {
    uint32_t used[banks] = {};
    for (uint32_t number = 0; number < count; ++number) {
      uint32_t best = banks;
      for (uint32_t bank = 0; bank < banks; ++bank) {
        if (left[bank] != 0 &&
            (best == banks || used[bank] < used[best] || (used[bank] == used[best] && left[bank] > left[best]))) {
          best = bank;
        }
      }
      ++used[best];
      taken[number] = places[best][--left[best]];
    }
  }
};

/// The exponent of the greatest finite one of these floats, or the least one that is taken.
inline uint32_t greatest_exponent(const PlacedElements& elements, uint32_t places) {
  constexpr uint32_t none = 0xff;
  uint32_t greatest = least_exponent;
  for (uint32_t place = 0; place < places; ++place) {
    const uint32_t exponent = elements.is_there[place] ? elements.bits[place] >> 23 & none : 0;
    greatest = exponent != none && exponent > greatest ? exponent : greatest;
  }
  return greatest;
}

/// Writes the values of a packed tile whose bytes are zero, as far as there is room, and takes them out of its
/// elements.
inline void write_placed_values(const FragmentFormat& format, PlacedElements& elements, unsigned char* packed_tile) {
  const uint32_t exponent = greatest_exponent(elements, format.packed_tile_places());
  memcpy(packed_tile + exponent_at, &exponent, sizeof exponent);
  uint32_t used = 0;
  const auto write = [&](uint32_t number, uint32_t place, uint32_t bits) {
    const uint32_t at = place * format.place_order().place_bytes();
    memcpy(packed_tile + format.listed_at(number), &bits, sizeof bits);
    memcpy(packed_tile + format.place_at(number), &at, 2);  // the lower bytes come first
  };
  for (uint32_t share = 0; share < format.shape.shares; ++share) {
    memcpy(packed_tile + format.share_begin_at(share), &used, 2);
    const uint32_t first = share * format.share_places(), room = format.placed_room() - used;
    BanksOfShare found(format.place_order());
    uint32_t count = 0, free = first;
    for (uint32_t place = first; place < first + format.share_places() && count < room; ++place) {
      if (elements.is_there[place]) {
        found.add(place);
        ++count;
      } else {
        free = place;
      }
    }
    // A thread has two that are beside each other, and stores the first ones of all threads at once.
    constexpr uint32_t at_once = 2 * lanes;
    for (uint32_t begin = 0; begin < count; begin += at_once) {
      const uint32_t of_threads = count - begin < at_once ? count - begin : at_once;
      const uint32_t of_firsts = (of_threads + 1) / 2;
      uint32_t taken[at_once];
      found.take(of_firsts, taken);
      found.take(of_threads - of_firsts, taken + of_firsts);
      for (uint32_t i = 0; i < of_threads; ++i) {
        const uint32_t number = used + begin + (i < of_firsts ? 2 * i : 2 * (i - of_firsts) + 1);
        write(number, taken[i], elements.bits[taken[i]]);
        elements.is_there[taken[i]] = false;
      }
    }
    if (count % 2 != 0) {
      write(used + count, free, 0);  // there is one: a share has an even number of places, and so has the room
    }
    used += (count + 1) / 2 * 2;
  }
  memcpy(packed_tile + format.share_begin_at(format.shape.shares), &used, 2);
}

// [packing text ends]
}  // namespace esc::transformer
