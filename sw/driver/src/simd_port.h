// SPDX-License-Identifier: BSD-2-Clause-Patent
// simd: a port of a NIC process. Doorbells go through a mailbox, the rings are the process's memory.
#pragma once

#include <mutex>

#include "mapping.h"
#include "nic_protocol.h"

namespace downbeat {

class SimdPort : public Port {
public:
  /// `path` of the process's Unix socket.
  explicit SimdPort(const std::string &path);
  ~SimdPort() override;

  const Geometry &geometry() const override { return geometry_; }
  const Rings &rings() const override { return rings_; }
  void ring(std::uint32_t offset, std::uint32_t value) override;
  void ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) override;
  std::uint32_t commandHead() override;
  int descriptor() const override { return socket_.get(); }
  void clearInterrupt() override;
  void started(std::uint32_t reference, std::uint32_t source) override;
  bool alive() const override;

private:
  void put(std::uint32_t offset, std::uint32_t value);
  void wake();

  std::mutex mutex_;
  File socket_; // its wake-ups from the process are the interrupt
  Geometry geometry_;
  Mapping memory_, mailboxMemory_;
  nic::Mailbox *mailbox_ = nullptr;
  Rings rings_;
};

/// A connection to a NIC process of root or of this user: others' do with its memory what they like. Throws NO_DEVICE,
/// NO_PERMISSION or INVALID_ARGUMENT.
File connectToNic(const std::string &path);

} // namespace downbeat
