// SPDX-License-Identifier: BSD-2-Clause-Patent
// Big endian numbers in bytes. A reader never goes beyond its bytes: what is not there reads as zero and is remembered.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace downbeat::gateway {

class Reader {
public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t size) {
    if (size > bytes_.size()) {
      failed_ = true;
      bytes_ = {};
      return 0;
    }
    std::uint64_t value = 0;
    for (std::uint8_t byte : bytes_.first(size)) value = value << 8 | byte;
    bytes_ = bytes_.subspan(size);
    return value;
  }
  template <typename Number> Number number() { return static_cast<Number>(number(sizeof(Number))); }
  double real() { return std::bit_cast<double>(number(8)); }
  void copy(std::span<std::uint8_t> to) {
    for (std::uint8_t &byte : to) byte = number<std::uint8_t>();
  }
  bool empty() const { return bytes_.empty(); }
  bool failed() const { return failed_; }

private:
  std::span<const std::uint8_t> bytes_;
  bool failed_ = false;
};

class Writer {
public:
  explicit Writer(std::vector<std::uint8_t> &out) : out_(out), begin_(out.size()) {}

  void number(std::uint64_t value, std::size_t size) {
    while (size--) out_.push_back(static_cast<std::uint8_t>(value >> 8 * size));
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value), 8); }
  void copy(std::span<const std::uint8_t> from) { out_.insert(out_.end(), from.begin(), from.end()); }
  std::size_t size() const { return out_.size() - begin_; }
  std::uint8_t &operator[](std::size_t at) { return out_[begin_ + at]; }

private:
  std::vector<std::uint8_t> &out_;
  std::size_t begin_;
};

} // namespace downbeat::gateway
