// SPDX-License-Identifier: BSD-2-Clause-Patent
// An application's bytes on their way to the core or from it.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace downbeat {

/// Bytes of a stream, in at the back and out at the front.
class ByteQueue {
public:
  std::size_t size() const { return bytes_.size() - head_; }
  const std::uint8_t *front() const { return bytes_.data() + head_; }
  void copyTo(std::uint8_t *data, std::size_t length) const { std::memcpy(data, front(), length); }

  void append(const std::uint8_t *data, std::size_t length) { bytes_.insert(bytes_.end(), data, data + length); }

  void drop(std::size_t length) {
    head_ += length;
    if (head_ == bytes_.size()) {
      bytes_.clear();
      head_ = 0;
    } else if (head_ >= compactAt) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  /// Keeps the first `length` bytes.
  void cut(std::size_t length) { bytes_.resize(head_ + length); }

private:
  static constexpr std::size_t compactAt = 1 << 20;
  std::vector<std::uint8_t> bytes_;
  std::size_t head_ = 0;
};

} // namespace downbeat
