// SPDX-License-Identifier: BSD-2-Clause-Patent
// uart: a board's registers over its UART, in the protocol of LiteX's uartbone.
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
  void put(const std::uint8_t *bytes, std::size_t length);

  std::string path_;
  File line_;
  std::mutex mutex_;
};

} // namespace downbeat
