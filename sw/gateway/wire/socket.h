// SPDX-License-Identifier: BSD-2-Clause-Patent
// Descriptors with an owner, and the sockets of the gateway. A reason is empty where something succeeded.
#pragma once

#include <string>
#include <unistd.h>
#include <utility>
#include <variant>

namespace downbeat::gateway {

class Descriptor {
public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor &&other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int get() const { return value_; }
  explicit operator bool() const { return value_ >= 0; }

private:
  int value_;
};

using Opened = std::variant<Descriptor, std::string>;

/// Non-blocking and bound; `type` is SOCK_DGRAM or SOCK_STREAM (that one listens). A path that a dead gateway has left
/// is taken over, one that a living one has is not.
Opened listenInternet(const std::string &address, int type);
Opened listenUnix(const std::string &path, int type);
Opened connectInternet(const std::string &address); // SOCK_DGRAM
Opened connectUnix(const std::string &path);        // SOCK_DGRAM, with an address of its own to be answered at

} // namespace downbeat::gateway
