// SPDX-License-Identifier: BSD-2-Clause-Patent
// uart: a board's registers over its UART, in the protocol of LiteX's uartbone.
//
// A response has no name: whatever is late or lost shifts all that follow. So each request begins with an empty line,
// and after a time-out the line must be silent around a read before it is used again.
#pragma once

#include <mutex>
#include <string>

#include "failure.h"
#include "file.h"
#include "port.h"

namespace downbeat {

class UartRegisters : public Registers {
public:
  /// 8N1 at 115,200 baud, as the boards have it.
  explicit UartRegisters(const std::string &path);

  std::uint32_t read(std::uint32_t address) override;
  void write(std::uint32_t address, std::uint32_t value) override;

private:
  void begin();
  bool fallsSilent();
  std::size_t take(std::uint8_t *bytes, std::size_t length, int milliseconds);
  std::uint32_t request(std::uint32_t address);
  void put(const std::uint8_t *bytes, std::size_t length);

  std::string path_;
  File line_;
  bool inStep_ = false; // the next bytes are the response to the next request
  std::mutex mutex_;
};

} // namespace downbeat
