// SPDX-License-Identifier: BSD-2-Clause-Patent
// An application's bytes on their way to the core or from it, of which this tap knows the number alone: what comes out
// is zero.
#pragma once

#include <cstdint>
#include <cstring>

namespace downbeat {

/// As the frame tap's, without the bytes.
class ByteQueue {
public:
  std::size_t size() const { return size_; }
  void copyTo(std::uint8_t *data, std::size_t length) const { std::memset(data, 0, length); }
  void append(const std::uint8_t *, std::size_t length) { size_ += length; }
  void drop(std::size_t length) { size_ -= length; }
  /// Keeps the first `length` bytes.
  void cut(std::size_t length) { size_ = length; }

private:
  std::size_t size_ = 0;
};

} // namespace downbeat
