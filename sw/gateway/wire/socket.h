// SPDX-License-Identifier: BSD-2-Clause-Patent
// Descriptors with an owner, and the sockets of the gateway. A reason is empty where something succeeded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <sys/socket.h>
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

/// A datagram socket towards a gateway that may be unreachable for now: each datagram finds its own way, so that a
/// route, another address of this host or another socket at the path serves the next. What comes may be from anybody.
class Peer {
public:
  /// udp://HOST:PORT or unix:///PATH. An error is of the text or of this host.
  static std::variant<Peer, std::string> open(const std::string &uri);

  int descriptor() const { return socket_.get(); }
  const sockaddr *address() const { return reinterpret_cast<const sockaddr *>(&address_); }
  socklen_t size() const { return size_; }
  /// False: the kernel does not take it; it is lost, as on the way.
  bool send(std::span<const std::uint8_t> datagram) const;

private:
  Descriptor socket_;
  sockaddr_storage address_{};
  socklen_t size_ = 0;
};

} // namespace downbeat::gateway
