// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "address.h"

namespace downbeat::gateway {
namespace {

const std::string numeric = R"(: use HOST:PORT with a numeric host, as "127.0.0.1:4780")";
const std::string tooLong = ": longer than a Unix socket's path may be (107 bytes)";

std::string reason(const std::string &what) { return what + ": " + std::strerror(errno); }

bool fill(const std::string &text, sockaddr_storage &storage, socklen_t &size) {
  std::string host;
  std::uint16_t port = 0;
  if (!splitAddress(text, host, port)) return false;
  auto &four = reinterpret_cast<sockaddr_in &>(storage);
  auto &six = reinterpret_cast<sockaddr_in6 &>(storage);
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    size = sizeof four;
    return true;
  }
  if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) return false;
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  size = sizeof six;
  return true;
}

void largeBuffers(int socket) {
  constexpr int bytes = 8 << 20;
  for (int which : {SO_RCVBUF, SO_SNDBUF}) setsockopt(socket, SOL_SOCKET, which, &bytes, sizeof bytes);
}

bool fill(const std::string &path, sockaddr_un &address) {
  address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

} // namespace

Opened listenInternet(const std::string &address, int type) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (!fill(address, storage, size)) return address + numeric;
  Descriptor socket(::socket(storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return reason(address);
  const int on = 1, four = storage.ss_family == AF_INET;
  if (type == SOCK_STREAM) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (type == SOCK_DGRAM) { // a wildcard's datagrams come with the address that they were sent to
    setsockopt(socket.get(), four ? IPPROTO_IP : IPPROTO_IPV6, four ? IP_PKTINFO : IPV6_RECVPKTINFO, &on, sizeof on);
    largeBuffers(socket.get());
  }
  if (bind(socket.get(), reinterpret_cast<const sockaddr *>(&storage), size) != 0) return reason(address);
  if (type == SOCK_STREAM && listen(socket.get(), 16) != 0) return reason(address);
  return socket;
}

Opened listenUnix(const std::string &path, int type) {
  sockaddr_un address{};
  if (!fill(path, address)) return path + tooLong;
  Descriptor socket(::socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return reason(path);
  const auto *name = reinterpret_cast<const sockaddr *>(&address);
  if (bind(socket.get(), name, sizeof address) != 0) {
    if (errno != EADDRINUSE) return reason(path);
    struct stat found{};
    if (lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) return path + ": what is there is not a socket";
    if (connect(socket.get(), name, sizeof address) == 0 || errno == EAGAIN)
      return path + ": another gateway listens there";
    if (errno != ECONNREFUSED) return reason(path + ": another's socket is there");
    unlink(path.c_str());
    socket = Descriptor(::socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (bind(socket.get(), name, sizeof address) != 0) return reason(path);
  }
  chmod(path.c_str(), 0660);
  if (type == SOCK_STREAM && listen(socket.get(), 16) != 0) return reason(path);
  return socket;
}

std::variant<Peer, std::string> Peer::open(const std::string &uri) {
  constexpr std::string_view udp = "udp://", local = "unix://";
  Peer peer;
  if (uri.starts_with(udp)) {
    const std::string address = uri.substr(udp.size());
    if (!fill(address, peer.address_, peer.size_)) return address + numeric;
  } else if (uri.starts_with(local)) {
    const std::string path = uri.substr(local.size());
    peer.size_ = sizeof(sockaddr_un);
    if (!fill(path, reinterpret_cast<sockaddr_un &>(peer.address_))) return path + tooLong;
  } else {
    return uri + ": use udp://HOST:PORT or unix:///PATH";
  }
  const auto family = peer.address_.ss_family;
  peer.socket_ = Descriptor(socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!peer.socket_) return reason(uri);
  largeBuffers(peer.descriptor());
  const sockaddr_un any{.sun_family = AF_UNIX, .sun_path = {}};
  // A bind without a name lets the kernel choose one (unix(7), autobind), so that the gateway can respond.
  if (family == AF_UNIX && bind(peer.descriptor(), reinterpret_cast<const sockaddr *>(&any), sizeof(sa_family_t)) != 0)
    return reason(uri);
  return peer;
}

bool Peer::send(std::span<const std::uint8_t> datagram) const {
  return sendto(descriptor(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL, address(), size_) >= 0;
}

} // namespace downbeat::gateway
