// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "uart_registers.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>

namespace downbeat {

namespace {

constexpr std::uint8_t writeWords = 1, readWords = 2;
constexpr int timeout = 1000; // ms for a response
constexpr int silence = 120; // ms; the bridge forgets a request that stops for 100 ms
constexpr int attempts = 5;

using Request = std::array<std::uint8_t, 6>;

/// One word at a byte address; the bus counts in words. Numbers are big-endian.
Request requestOf(std::uint8_t command, std::uint32_t address) {
  Request request{command, 1};
  const std::uint32_t word = htonl(address / 4);
  std::memcpy(&request[2], &word, sizeof word);
  return request;
}

} // namespace

UartRegisters::UartRegisters(const std::string &path)
    : path_(path), line_(::open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  termios settings;
  if (!line_ && errno == EACCES)
    throw Failure(DOWNBEAT_NO_PERMISSION, path + ": no permission: join the group that owns it (dialout)");
  if (!line_ || tcgetattr(line_.get(), &settings) != 0)
    throw Failure(DOWNBEAT_NO_DEVICE, path + ": no serial device (ls /dev/ttyACM* /dev/ttyUSB*)");
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL;
  cfsetspeed(&settings, B115200);
  tcsetattr(line_.get(), TCSAFLUSH, &settings);
}

void UartRegisters::put(const std::uint8_t *bytes, std::size_t length) {
  while (length > 0) {
    const ssize_t count = ::write(line_.get(), bytes, length);
    if (count < 0 && errno != EINTR) throw Failure(DOWNBEAT_DEVICE_GONE, path_ + ": the line takes nothing");
    if (count <= 0) continue;
    bytes += count;
    length -= static_cast<std::size_t>(count);
  }
}

std::size_t UartRegisters::take(std::uint8_t *bytes, std::size_t length, int milliseconds) {
  for (std::size_t got = 0;;) {
    pollfd state{line_.get(), POLLIN, 0};
    const int ready = got < length ? ::poll(&state, 1, milliseconds) : 0;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t count = ready > 0 ? ::read(line_.get(), bytes + got, length - got) : 0;
    if (count <= 0) return got;
    got += static_cast<std::size_t>(count);
  }
}

bool UartRegisters::fallsSilent() {
  std::array<std::uint8_t, 256> late;
  return take(late.data(), late.size(), silence) == 0;
}

std::uint32_t UartRegisters::request(std::uint32_t address) {
  const Request request = requestOf(readWords, address);
  put(request.data(), request.size());
  std::uint32_t response;
  if (take(reinterpret_cast<std::uint8_t *>(&response), sizeof response, timeout) != sizeof response)
    throw Failure(DOWNBEAT_NO_DEVICE, path_ + ": the board does not answer; is it programmed (make bitstream "
                                              "PROGRAM=1), are RX and TX crossed?");
  return ntohl(response);
}

void UartRegisters::begin() {
  for (int left = attempts; !inStep_; --left) {
    if (left == 0) throw Failure(DOWNBEAT_NO_DEVICE, path_ + ": bytes come that no request asked for");
    if (!fallsSilent()) continue;
    request(0);
    inStep_ = fallsSilent();
  }
  tcflush(line_.get(), TCIFLUSH);
}

std::uint32_t UartRegisters::read(std::uint32_t address) {
  const std::lock_guard lock(mutex_);
  begin();
  inStep_ = false;
  const std::uint32_t value = request(address);
  inStep_ = true;
  return value;
}

void UartRegisters::write(std::uint32_t address, std::uint32_t value) {
  const std::lock_guard lock(mutex_);
  begin();
  const Request head = requestOf(writeWords, address);
  const std::uint32_t word = htonl(value);
  std::array<std::uint8_t, 10> request;
  std::memcpy(request.data(), head.data(), head.size());
  std::memcpy(&request[head.size()], &word, sizeof word);
  inStep_ = false;
  put(request.data(), request.size());
  inStep_ = true;
}

} // namespace downbeat
