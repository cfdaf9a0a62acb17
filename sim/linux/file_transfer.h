// SPDX-License-Identifier: BSD-2-Clause-Patent
// Transfer of one file in one direction.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "application.h"

/// Sends a file on a connection that it opens; `parameters`: nullptr for the library's.
class FileSender : public Application {
public:
  FileSender(downbeat_device *device, const std::string &path, std::uint32_t peerIp, std::uint16_t port,
             const downbeat_parameters *parameters = nullptr);

protected:
  void advance() override;

private:
  std::string contents_;
  std::size_t position_ = 0;
  bool shutDown_ = false;
};

/// Keeps the bytes of the first connection that it accepts.
class FileReceiver : public Application {
public:
  FileReceiver(downbeat_device *device, const std::string &path, std::uint16_t port);

protected:
  void advance() override;

private:
  std::uint16_t port_;
  std::ofstream file_;
  bool shutDown_ = false;
};
