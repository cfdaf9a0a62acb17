// SPDX-License-Identifier: BSD-2-Clause-Patent
// simd: a port of a NIC process. Doorbells go through a mailbox, the rings are the process's memory.
#pragma once

#include <mutex>

#include "mapping.h"
#include "nic_protocol.h"

namespace downbeat {

class SimdPort : public Port {
public:
  /// `path` of the process's Unix socket; a leading '@' is the abstract name space.
  explicit SimdPort(const std::string &path);

  const Geometry &geometry() const override { return geometry_; }
  const Rings &rings() const override { return rings_; }
  void ring(std::uint32_t offset, std::uint32_t value) override;
  void ringPair(std::uint32_t offset, std::uint32_t low, std::uint32_t high) override;
  std::uint32_t commandHead() override;
  int descriptor() const override { return poll_.get(); }
  void clearInterrupt() override;
  void started(std::uint32_t reference, std::uint32_t source) override;
  bool alive() const override;

private:
  void put(std::uint32_t offset, std::uint32_t value);
  void wake();

  std::mutex mutex_;
  File socket_, wake_, interrupt_, poll_;
  Geometry geometry_;
  Mapping memory_, mailboxMemory_;
  nic::Mailbox *mailbox_ = nullptr;
  Rings rings_;
};

/// A connection to a NIC process. Throws NO_DEVICE or NO_PERMISSION.
File connectToNic(const std::string &path);

} // namespace downbeat
