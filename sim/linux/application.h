// SPDX-License-Identifier: BSD-2-Clause-Patent
// An application on the core: it takes a step whenever the device has moved.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "downbeat_sim_core.h"

class Application {
public:
  explicit Application(downbeat_device *device) : device_(device) {}
  virtual ~Application() = default;

  /// Takes the steps that the device allows at this time.
  void step();

  /// True when all bytes have arrived and both sides of every connection have closed.
  bool finished() const { return finished_; }
  /// The reason why it cannot go on; empty while it can.
  const std::string &failure() const { return failure_; }
  /// Payload bytes accepted by the core, or received from it.
  std::uint64_t bytes() const { return bytes_; }
  /// Figures of this application, for the result; null: none.
  virtual nlohmann::json details() const;
  /// Reads the connection that matters most after a failure. False before there is one.
  bool info(downbeat_sim_info &info) const;

protected:
  virtual void advance() = 0;
  /// True unless `result` is an error, which ends the application.
  bool check(std::int64_t result, const char *what);
  /// Sends `contents` from `position` on; true once the core has all of it.
  bool send(downbeat_sim_connection connection, const std::string &contents, std::size_t &position);
  /// Appends received bytes; true at the end of the peer's stream.
  bool receive(downbeat_sim_connection connection, std::string &contents);

  downbeat_device *device_;
  downbeat_sim_connection shown_ = 0; // names start at 1
  std::uint64_t bytes_ = 0;
  bool finished_ = false;
  std::string failure_;
};

/// Contents of a file.
std::string contentsOf(const std::string &path);
