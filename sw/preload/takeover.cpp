// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "takeover.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <type_traits>
#include <unordered_map>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "control.h"
#include "peer.h"
#include "real.h"

namespace downbeat {

namespace {

std::mutex boundMutex;
std::unordered_map<int, Endpoint> bound;

int option(int descriptor, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return REAL(getsockopt)(descriptor, level, name, &value, &length) == 0 ? value : 0;
}

std::uint32_t keepAliveOf(int descriptor) {
  if (option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 0) return 0;
  return static_cast<std::uint32_t>(option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE));
}

/// A connection to the pump's control socket.
File control() {
  const Pump *pump = Pump::get();
  if (pump == nullptr) return {};
  File socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  const socklen_t length = fill(address, pump->socket);
  if (!socket || REAL(connect)(socket.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      !isOfSameUser(socket.get()))
    return {};
  return socket;
}

/// The answer's error; ENETDOWN: the pump has gone.
int ask(const Request &request, File *given = nullptr) {
  const File socket = control();
  Answer answer;
  std::vector<File> files;
  if (!socket || !sendMessage(socket.get(), &request, sizeof request) ||
      !receiveMessage(socket.get(), &answer, sizeof answer, &files))
    return ENETDOWN;
  if (given != nullptr && !files.empty()) *given = std::move(files.front());
  return answer.error;
}

/// Puts `socket` in the place of `descriptor`, with its flags.
int replace(int descriptor, const File &socket) {
  const int status = fcntl(descriptor, F_GETFL), flags = fcntl(descriptor, F_GETFD);
  if (status < 0 || flags < 0) return -1;
  fcntl(socket.get(), F_SETFL, (fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK) | (status & (O_NONBLOCK | O_ASYNC)));
  return dup3(socket.get(), descriptor, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) < 0 ? -1 : 0;
}

int fail(int error) {
  errno = error;
  return -1;
}

std::uint32_t drawn() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return static_cast<std::uint32_t>(generator());
}

} // namespace

const Pump *Pump::get() {
  static const std::optional<Pump> found = []() -> std::optional<Pump> {
    const char *text = std::getenv(environmentName);
    char name[64];
    Pump pump;
    if (text == nullptr || std::sscanf(text, "%63s %x %x %d", name, &pump.ip, &pump.netmask, &pump.segment) != 4)
      return std::nullopt;
    pump.socket = std::string(1, '\0') + name;
    return pump;
  }();
  return found ? &*found : nullptr;
}

bool isKernelTcp(int descriptor) {
  return option(descriptor, SOL_SOCKET, SO_DOMAIN) == AF_INET &&
         option(descriptor, SOL_SOCKET, SO_TYPE) == SOCK_STREAM &&
         option(descriptor, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP;
}

std::optional<Own> ownOf(int descriptor) {
  const int before = errno;
  sockaddr_un address;
  socklen_t length = sizeof address;
  const auto name = [&] { return reinterpret_cast<sockaddr *>(&address); };
  std::optional<Own> own;
  if (Pump::get() != nullptr && REAL(getsockname)(descriptor, name(), &length) == 0 && isOurs(address, length)) {
    own.emplace();
    own->listener = listenerOf(address, length);
    length = sizeof address;
    if (REAL(getpeername)(descriptor, name(), &length) == 0) own->connection = connectionOf(address, length);
  }
  errno = before;
  return own;
}

void rememberBound(int descriptor, Endpoint endpoint) {
  const std::lock_guard lock(boundMutex);
  bound[descriptor] = endpoint;
}

void forgetBound(int descriptor) {
  const std::lock_guard lock(boundMutex);
  bound.erase(descriptor);
}

std::optional<Endpoint> boundOf(int descriptor) {
  const std::lock_guard lock(boundMutex);
  const auto found = bound.find(descriptor);
  return found == bound.end() ? std::nullopt : std::optional(found->second);
}

int connectOverCore(int descriptor, Endpoint remote) {
  Request request;
  request.kind = RequestKind::connect;
  request.remote = remote;
  request.local = boundOf(descriptor).value_or(Endpoint{});
  request.noDelay = static_cast<std::uint32_t>(option(descriptor, IPPROTO_TCP, TCP_NODELAY));
  request.keepAlive = keepAliveOf(descriptor);
  request.nonBlocking = (fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0;
  File given;
  const int error = ask(request, &given);
  if (given) {
    forgetBound(descriptor);
    if (replace(descriptor, given) != 0) return -1;
  }
  return error == 0 ? 0 : fail(error);
}

int listenOverCore(int descriptor, Endpoint local, int backlog) {
  Request request;
  request.kind = RequestKind::listen;
  request.local = local;
  request.local.ip = Pump::get()->ip;
  request.noDelay = static_cast<std::uint32_t>(option(descriptor, IPPROTO_TCP, TCP_NODELAY));
  request.keepAlive = keepAliveOf(descriptor);
  request.backlog = static_cast<std::uint32_t>(backlog < 0 ? SOMAXCONN : backlog);
  request.serial = drawn();
  File socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  const socklen_t length = fill(address, nameOfListener(request.local, request.serial));
  if (!socket || REAL(bind)(socket.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      REAL(listen)(socket.get(), backlog) != 0)
    return -1;
  if (const int error = ask(request); error != 0) return fail(error);
  forgetBound(descriptor);
  return replace(descriptor, socket);
}

int errorOf(const ConnectionName &name) {
  Request request;
  request.kind = RequestKind::error;
  request.serial = name.serial;
  return ask(request);
}

int reasonOf(int descriptor, int error) {
  if (error != ECONNRESET) return error;
  const auto own = ownOf(descriptor);
  const int ended = own && own->connection ? errorOf(*own->connection) : 0;
  return ended == 0 || ended == ENETDOWN || ended == EINPROGRESS ? error : ended; // ENETDOWN: the pump does not say
}

void setOptions(const ConnectionName &name, bool noDelay) {
  Request request;
  request.kind = RequestKind::options;
  request.serial = name.serial;
  request.noDelay = noDelay;
  ask(request);
}

} // namespace downbeat
