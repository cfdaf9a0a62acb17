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

Opened internet(const std::string &address, int type, int (*join)(int, const sockaddr *, socklen_t)) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (!fill(address, storage, size)) return address + R"(: use HOST:PORT with a numeric host, as "127.0.0.1:4780")";
  Descriptor socket(::socket(storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return reason(address);
  const int on = 1, bufferBytes = 8 << 20;
  if (type == SOCK_STREAM) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &bufferBytes, sizeof bufferBytes);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &bufferBytes, sizeof bufferBytes);
  if (type == SOCK_DGRAM) { // a wildcard's datagrams come with the address that they were sent to
    const bool four = storage.ss_family == AF_INET;
    setsockopt(socket.get(), four ? IPPROTO_IP : IPPROTO_IPV6, four ? IP_PKTINFO : IPV6_RECVPKTINFO, &on, sizeof on);
  }
  if (join(socket.get(), reinterpret_cast<const sockaddr *>(&storage), size) != 0) return reason(address);
  if (type == SOCK_STREAM && listen(socket.get(), 16) != 0) return reason(address);
  return socket;
}

bool fill(const std::string &path, sockaddr_un &address) {
  address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return true;
}

} // namespace

Opened listenInternet(const std::string &address, int type) { return internet(address, type, ::bind); }
Opened connectInternet(const std::string &address) { return internet(address, SOCK_DGRAM, ::connect); }

Opened listenUnix(const std::string &path, int type) {
  sockaddr_un address{};
  if (!fill(path, address)) return path + ": longer than a Unix socket's path may be (107 bytes)";
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

Opened connectUnix(const std::string &path) {
  sockaddr_un address{};
  if (!fill(path, address)) return path + ": longer than a Unix socket's path may be (107 bytes)";
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return reason(path);
  const sockaddr_un any{.sun_family = AF_UNIX, .sun_path = {}};
  // A bind without a name lets the kernel choose one (unix(7), autobind).
  if (bind(socket.get(), reinterpret_cast<const sockaddr *>(&any), sizeof(sa_family_t)) != 0) return reason(path);
  if (connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0) return reason(path);
  return socket;
}

} // namespace downbeat::gateway
