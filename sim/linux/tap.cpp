// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tap.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const std::string &what) { throw std::system_error(errno, std::generic_category(), what); }

} // namespace

Tap::Tap(const std::string &name) : descriptor_(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
  if (descriptor_ < 0) fail("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (ioctl(descriptor_, TUNSETIFF, &request) < 0 || ioctl(descriptor_, TUNSETOFFLOAD, 0) < 0) {
    const int error = errno;
    close(descriptor_);
    errno = error;
    fail(name);
  }
}

Tap::~Tap() { close(descriptor_); }

std::size_t Tap::read(std::span<std::uint8_t> frame) {
  const ssize_t length = ::read(descriptor_, frame.data(), frame.size());
  if (length >= 0) return static_cast<std::size_t>(length);
  if (errno == EAGAIN || errno == EINTR) return 0;
  fail("reading the TAP");
}

void Tap::write(std::span<const std::uint8_t> frame) {
  if (::write(descriptor_, frame.data(), frame.size()) != static_cast<ssize_t>(frame.size())) fail("writing the TAP");
}
