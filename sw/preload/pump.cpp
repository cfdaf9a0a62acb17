// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "pump.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "errors.h"
#include "first_byte.h"
#include "peer.h"

namespace downbeat {

namespace {

constexpr int tick = 200; // ms between two looks at what no descriptor tells
constexpr std::chrono::seconds requestTimeout{5}; // with a process that has connected and says nothing
constexpr std::size_t mostFailed = 4096; // errors kept for programs that have not asked
// What epoll gives back: a serial of a bridge, or one of these, the last with the number of who asks.
constexpr std::uint64_t ofDevice = 1ull << 32, ofControl = 2ull << 32, ofProgram = 3ull << 32, ofAsking = 4ull << 32;

void watchDescriptor(const File &epoll, int descriptor, std::uint64_t who) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = who;
  epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void answer(const File &socket, int error, int passed = -1) {
  const Answer message{error};
  sendMessage(socket.get(), &message, sizeof message, passed < 0 ? std::span<const int>{} : std::span(&passed, 1));
}

bool setName(const File &socket, const std::string &name) {
  sockaddr_un address;
  const socklen_t length = fill(address, name);
  return bind(socket.get(), reinterpret_cast<sockaddr *>(&address), length) == 0;
}

/// Connects to a listening local socket; an errno.
int connectTo(const File &socket, const std::string &name) {
  sockaddr_un address;
  const socklen_t length = fill(address, name);
  return ::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), length) == 0 ? 0 : errno;
}

/// Ports that an ephemeral choice takes (RFC 6335: 49152 to 65535).
std::uint16_t ephemeralPort() {
  static std::mt19937 generator(std::random_device{}());
  return static_cast<std::uint16_t>(std::uniform_int_distribution<>(49152, 65535)(generator));
}

/// The abstract names of the kernel's local sockets, without the zero byte.
std::set<std::string> localNames() {
  std::set<std::string> names;
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);)
    if (const auto at = line.find("@downbeat/l/"); at != std::string::npos) names.insert(line.substr(at + 1));
  return names;
}

} // namespace

Pump::Pump(downbeat_device *device, File control, File program, const downbeat_options &options)
    : device_(device),
      control_(std::move(control)),
      program_(std::move(program)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      options_(options) {
  downbeat_device_info info;
  downbeat_device_info_of(device, &info);
  ip_ = info.ip;
  netmask_ = info.netmask;
  watchDescriptor(epoll_, downbeat_descriptor(device_), ofDevice);
  watchDescriptor(epoll_, control_.get(), ofControl);
  watchDescriptor(epoll_, program_.get(), ofProgram);
}

bool Pump::done() const { return programEnded_ && asking_.empty() && bridges_.empty() && listeners_.empty(); }

bool Pump::wanted() const {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (deviceGone_ || getsockname(control_.get(), reinterpret_cast<sockaddr *>(&address), &length) != 0) return false;
  // The name is abstract; a blank ends it in the environment.
  const std::string name(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  const std::string entry = std::string(environmentName) + "=" + name + " ";
  std::error_code gone; // a process may end while it is looked at
  for (const auto &each : std::filesystem::directory_iterator("/proc", gone)) {
    std::ifstream file(each.path() / "environ");
    const std::string environment(std::istreambuf_iterator<char>(file), {});
    if (environment.find(entry) != std::string::npos) return true;
  }
  return false;
}

void Pump::run() {
  while (!done() || wanted()) {
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), tick);
    for (int each = 0; each < count; ++each) {
      const std::uint64_t who = events[static_cast<std::size_t>(each)].data.u64;
      if (who == ofDevice) {
        news();
      } else if (who == ofControl) {
        hear();
      } else if (who == ofProgram) {
        programEnded_ = true;
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, program_.get(), nullptr);
      } else if (who >= ofAsking) {
        request(static_cast<std::uint32_t>(who));
      } else {
        step(static_cast<std::uint32_t>(who));
      }
    }
    tidy();
  }
}

downbeat_options Pump::optionsOf(const Request &request) const {
  downbeat_options options = options_;
  options.parameters.no_delay |= request.noDelay;
  if (request.keepAlive != 0) options.parameters.keep_alive = keepAliveUnits(request.keepAlive);
  return options;
}

void Pump::hear() {
  File socket(accept4(control_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || !isOfSameUser(socket.get())) return;
  const std::uint32_t number = ++asked_;
  watchDescriptor(epoll_, socket.get(), ofAsking | number);
  asking_.insert_or_assign(number, Asking{std::move(socket), Clock::now() + requestTimeout});
}

void Pump::request(std::uint32_t number) {
  auto node = asking_.extract(number);
  if (node.empty()) return;
  File socket = std::move(node.mapped().socket);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr); // it may wait for its answer
  Request request;
  if (!receiveMessage(socket.get(), &request, sizeof request)) return;
  int error = 0;
  switch (request.kind) {
  case RequestKind::connect: error = connect(request, socket); break;
  case RequestKind::listen: error = listen(request, socket); break;
  case RequestKind::error:
    if (const auto found = bridges_.find(request.serial); found != bridges_.end())
      error = found->second->error();
    else if (const auto gone = failed_.find(request.serial); gone != failed_.end())
      error = gone->second;
    break;
  case RequestKind::options: break; // the core has Nagle's choice with the open
  default: error = EINVAL;
  }
  if (socket) answer(socket, error);
}

int Pump::connect(const Request &request, File &socket) {
  const downbeat_options options = optionsOf(request);
  const std::uint16_t port = request.local.port != 0 ? request.local.port : ephemeralPort();
  const ConnectionName name{request.remote, {ip_, port}, ++serial_};
  // The program's end has a name of its own, and the pump's name as its peer.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return ENOBUFS;
  File end(ends[0]), program(ends[1]);
  if (!setName(end, nameOfConnection(name)) ||
      !setName(program, nameOfOwnEnd(static_cast<std::uint32_t>(getpid()) << 8 ^ name.serial)))
    return ENOBUFS;
  fcntl(end.get(), F_SETFL, O_NONBLOCK);
  sendFirstByte(program.get());

  downbeat_connection *connection = nullptr;
  if (const int error = downbeat_connect(device_, request.remote.ip, request.remote.port, port, &options, &connection);
      error != DOWNBEAT_OK)
    return errnoOf(error);
  auto bridge = std::make_unique<Bridge>(connection, std::move(end), name);
  downbeat_set_context(connection, bridge.get());
  if (request.nonBlocking != 0) {
    File kept(fcntl(program.get(), F_DUPFD_CLOEXEC, 0));
    bridge->holdBack(std::move(kept));
    answer(socket, EINPROGRESS, program.get());
  } else {
    waiting_.emplace(name.serial, Waiting{std::move(socket), std::move(program)});
  }
  socket.reset();
  Bridge &made = *bridge;
  bridges_.emplace(name.serial, std::move(bridge));
  watch(made);
  return 0;
}

int Pump::listen(const Request &request, File &socket) {
  if (const auto found = listeners_.find(request.local.port); found != listeners_.end()) {
    if (localNames().contains(nameOfListener(found->second->local, found->second->serial).substr(1))) return EADDRINUSE;
    downbeat_unlisten(found->second->listener);
    listeners_.erase(found);
  }
  auto made = std::make_unique<Listener>();
  made->local = request.local;
  made->serial = request.serial;
  const downbeat_options options = optionsOf(request);
  if (const int error =
          downbeat_listen(device_, request.local.port, request.backlog, &options, made.get(), &made->listener);
      error != DOWNBEAT_OK)
    return errnoOf(error);
  made->waiting = std::move(socket);
  listeners_.emplace(request.local.port, std::move(made));
  return 0;
}

bool Pump::give(Listener &listener, downbeat_connection *connection) {
  downbeat_connection_info_t info;
  downbeat_connection_info(connection, &info);
  const ConnectionName name{{info.remote_ip, info.remote_port}, {ip_, info.local_port}, ++serial_};
  File end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool named = end && setName(end, nameOfConnection(name));
  const int error = named ? connectTo(end, nameOfListener(listener.local, listener.serial)) : ENOBUFS;
  if (error == EAGAIN) return false;
  if (error != 0 || !isOfSameUser(end.get())) { // another may have taken the name since
    downbeat_abort(connection);
    return true;
  }
  auto bridge = std::make_unique<Bridge>(connection, std::move(end), name);
  downbeat_set_context(connection, bridge.get());
  bridges_.emplace(name.serial, std::move(bridge));
  step(name.serial);
  return true;
}

void Pump::accept(Listener &listener) {
  if (listener.waiting) {
    const int state = downbeat_listening(listener.listener);
    if (state == DOWNBEAT_WOULD_BLOCK) return;
    answer(listener.waiting, errnoOf(state));
    listener.waiting.reset();
    if (state != DOWNBEAT_OK) {
      downbeat_unlisten(listener.listener);
      listeners_.erase(listener.local.port);
      return;
    }
  }
  for (;;) {
    if (listener.next == nullptr && downbeat_accept(listener.listener, &listener.next) != DOWNBEAT_OK) return;
    if (!give(listener, listener.next)) return;
    listener.next = nullptr;
  }
}

void Pump::news() {
  std::array<downbeat_item, 64> items;
  std::int64_t count;
  do {
    count = downbeat_poll(device_, items.data(), items.size());
    for (std::int64_t each = 0; each < count; ++each) {
      const downbeat_item &item = items[static_cast<std::size_t>(each)];
      if (item.listener != nullptr)
        accept(*static_cast<Listener *>(item.context));
      else if (item.context != nullptr)
        step(static_cast<Bridge *>(item.context)->name().serial);
    }
  } while (count == static_cast<std::int64_t>(items.size()));
  if (count < 0) { // the device has gone: every program hears of it
    bridges_.clear();
    listeners_.clear();
    waiting_.clear();
    programEnded_ = deviceGone_ = true;
  }
}

void Pump::watch(Bridge &bridge) {
  epoll_event event{};
  event.events = bridge.wanted();
  event.data.u64 = bridge.name().serial;
  if (event.events == bridge.watched) return; // a change tells what is there once more
  epoll_ctl(epoll_.get(), bridge.watched != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, bridge.descriptor(), &event);
  bridge.watched = event.events;
}

void Pump::step(std::uint32_t serial) {
  const auto found = bridges_.find(serial);
  if (found == bridges_.end()) return;
  Bridge &bridge = *found->second;
  const bool goesOn = bridge.step();
  if (const auto waits = waiting_.find(serial); waits != waiting_.end() && bridge.error() != EINPROGRESS) {
    answer(waits->second.socket, bridge.error(), bridge.error() == 0 ? waits->second.given.get() : -1);
    waiting_.erase(waits);
  }
  if (goesOn) return watch(bridge);
  if (bridge.error() != 0) {
    failed_.emplace(serial, bridge.error());
    if (failed_.size() > mostFailed) failed_.erase(failed_.begin());
  }
  bridges_.erase(found);
}

void Pump::tidy() {
  std::erase_if(asking_, [now = Clock::now()](const auto &each) { return each.second.until < now; });
  if (listeners_.empty()) return;
  const std::set<std::string> names = localNames();
  for (auto each = listeners_.begin(); each != listeners_.end();) {
    Listener &listener = *each->second;
    ++each; // accept may end it
    if (listener.next != nullptr) accept(listener);
  }
  std::erase_if(listeners_, [&](auto &each) {
    Listener &listener = *each.second;
    if (listener.waiting || names.contains(nameOfListener(listener.local, listener.serial).substr(1))) return false;
    if (listener.next != nullptr) downbeat_abort(listener.next);
    downbeat_unlisten(listener.listener);
    return true;
  });
}

} // namespace downbeat
