// SPDX-License-Identifier: BSD-2-Clause-Patent
// The application on the core: sends a file on a connection that it opens, or keeps what comes on one that it accepts.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "downbeat_sim.h"
#include "options.h"

class FileTransfer {
public:
  /// Opens or listens.
  FileTransfer(downbeat_device *device, const Options &options);

  /// Does what the device now allows.
  void step();

  /// The file is through and both sides have closed.
  bool finished() const { return finished_; }
  /// Why it cannot go on; empty while it can.
  const std::string &failure() const { return failure_; }
  /// Bytes accepted by the core, or received from it.
  std::uint64_t bytes() const { return bytes_; }
  /// False before there is a connection.
  bool info(downbeat_info &info) const;

private:
  void sendFile(const downbeat_info &info);
  void receiveFile(const downbeat_info &info);
  /// True unless `result` is an error that ends the transfer.
  bool check(std::int64_t result, const char *what);

  downbeat_device *device_;
  std::uint16_t listening_ = 0;
  downbeat_connection connection_ = 0; // names start at 1
  std::vector<std::uint8_t> contents_; // sending
  std::ofstream file_;                 // receiving
  std::uint64_t bytes_ = 0;
  bool shutDown_ = false, finished_ = false;
  std::string failure_;
};
