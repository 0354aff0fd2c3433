// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "generator/emulate/device.h"

namespace esc {

/// A buffer of the caller's that the device knows for as long as this object lives.
class RegisteredBuffer {
 public:
  RegisteredBuffer(EmulatedDevice& device, std::string name, const void* memory, std::size_t bytes, BufferUse use)
      : device_(device), name_(std::move(name)) {
    device_.add_buffer(name_, memory, bytes, use);
  }
  RegisteredBuffer(const RegisteredBuffer&) = delete;
  RegisteredBuffer& operator=(const RegisteredBuffer&) = delete;
  ~RegisteredBuffer() { device_.remove_buffer(name_); }

 private:
  EmulatedDevice& device_;
  std::string name_;
};

}  // namespace esc
