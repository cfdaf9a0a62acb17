// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "wire.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "failure.h"

namespace downbeat::nic {

namespace {

[[noreturn]] void fail(const std::string &what) {
  if (errno == EPERM || errno == EACCES)
    throw Failure(DOWNBEAT_NO_PERMISSION, what + ": no permission: be root, or have CAP_NET_ADMIN and CAP_NET_RAW");
  throw Failure(DOWNBEAT_NO_DEVICE, what + ": " + std::strerror(errno));
}

/// Programs that hear "ready" may use the interface at once.
void setUp(const std::string &name) {
  const File socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(socket.get(), SIOCGIFFLAGS, &request) < 0) fail("interface " + name);
  if ((request.ifr_flags & IFF_UP) != 0) return;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(socket.get(), SIOCSIFFLAGS, &request) < 0) fail("interface " + name);
}

} // namespace

Wire Wire::tap(const std::string &name) {
  File file(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!file) fail("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(file.get(), TUNSETIFF, &request) < 0 || ioctl(file.get(), TUNSETOFFLOAD, 0) < 0) fail("TAP " + name);
  setUp(name);
  return Wire(std::move(file));
}

Wire Wire::interface(const std::string &name) {
  File file(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL)));
  if (!file) fail("interface " + name);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
  if (address.sll_ifindex == 0 || bind(file.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0)
    fail("interface " + name);
  packet_mreq every{};
  every.mr_ifindex = address.sll_ifindex;
  every.mr_type = PACKET_MR_PROMISC;
  const int one = 1;
  if (setsockopt(file.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &every, sizeof every) != 0 ||
      setsockopt(file.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) != 0)
    fail("interface " + name);
  setUp(name);
  return Wire(std::move(file));
}

Wire Wire::loop(const Addresses &own, std::uint32_t other) {
  Wire wire;
  wire.mirror_.emplace(own, other);
  return wire;
}

std::size_t Wire::read(std::span<std::uint8_t> frame) {
  if (!returned_.empty()) {
    const std::vector<std::uint8_t> next = std::move(returned_.front());
    returned_.pop_front();
    std::ranges::copy(next, frame.begin());
    return next.size();
  }
  if (!file_) return 0;
  const ssize_t length = ::read(file_.get(), frame.data(), frame.size());
  if (length >= 0) return static_cast<std::size_t>(length);
  if (errno == EAGAIN || errno == EINTR || errno == ENETDOWN) return 0;
  fail("reading the wire");
}

void Wire::write(std::span<const std::uint8_t> frame) {
  if (mirror_) {
    returned_.emplace_back(frame.begin(), frame.end());
    mirror_->reflect(returned_.back().data(), returned_.back().size());
    return;
  }
  if (file_ && ::write(file_.get(), frame.data(), frame.size()) < 0 && errno == EBADFD) fail("writing the wire");
}

} // namespace downbeat::nic
