// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "machine.h"

#include <array>

namespace downbeat::bench {

namespace {

constexpr Addresses own{ownIp, 0xffffff00, 0, 0x020000000001};
constexpr std::uint64_t guard = 1 << 16;
constexpr std::uint32_t secret[4] = {1, 2, 3, 4};

} // namespace

HostPort::HostPort(Model &model, const Geometry &geometry, std::uint8_t *memory, std::uint32_t port)
    : number(port), port(model, geometry, memory, port), commands(this->port), notifications(this->port) {}

void HostPort::poll() {
  const std::uint32_t before = notifications.head();
  while (const auto notification = notifications.take()) {
    if (notification->kind != format::Kind::pathReport) commands.advanceTo(notification->commandHead);
    if (notification->kind == format::Kind::status)
      statuses[notification->flow] = *notification;
    else if (notification->kind != format::Kind::pathReport && notification->kind != format::Kind::stamp)
      reported.push_back(*notification);
  }
  if (notifications.head() != before) notifications.release();
  if (commands.waits()) commands.flush();
}

const format::Notification *HostPort::opened(std::uint16_t request) const {
  for (const auto &[flow, status] : statuses)
    if ((status.flags & format::passive) == 0 && status.request == request) return &status;
  return nullptr;
}

const format::Notification *HostPort::accepted(std::uint16_t localPort) const {
  for (const auto &[flow, status] : statuses)
    if ((status.flags & format::passive) != 0 && status.localPort == localPort) return &status;
  return nullptr;
}

Machine::Machine(const std::string &library, std::uint64_t linkRate, std::uint32_t stalls, std::uint32_t seed)
    : model(library, linkRate),
      geometry(identify(model)),
      guardBytes(guard),
      memory(sharedMemory("downbeat-bench", memoryBytes(geometry, geometry.ports) + guard).get(),
             memoryBytes(geometry, geometry.ports) + guard),
      mirror_(own, peerIp) {
  model.setMemory(memory.base(), memory.bytes());
  model.setStalls(stalls, seed);
  configure(model, own, secret, {memory.base(), 0});
  for (std::uint32_t each = 0; each < geometry.ports; ++each) {
    startPort(model, geometry, each, {memory.base(), 0}, 0);
    ports_.push_back(std::make_unique<HostPort>(model, geometry, memory.base(), each));
  }
}

void Machine::start(std::uint32_t port) {
  startPort(model, geometry, port, {memory.base(), 0}, 0);
  ports_[port] = std::make_unique<HostPort>(model, geometry, memory.base(), port);
}

void Machine::step() {
  model.advance(model.now() + wireDelay);
  std::array<std::uint8_t, 9018> frame;
  std::uint64_t departure = 0;
  for (std::int64_t length; (length = model.getFrame(frame.data(), frame.size(), &departure)) > 0;) {
    reflect(frame.data(), static_cast<std::size_t>(length), departure + wireDelay);
  }
  for (const auto &port : ports_) port->poll();
}

void Machine::reflect(std::uint8_t *frame, std::size_t length, std::uint64_t arrival) {
  mirror_.reflect(frame, length);
  model.putFrame(frame, length, arrival);
}

void Machine::until(const std::string &what, const std::function<bool()> &holds, std::uint64_t limit) {
  const std::uint64_t end = model.now() + limit;
  while (!holds()) {
    if (model.now() > end) throw std::runtime_error("did not happen in time: " + what);
    step();
  }
}

format::Command openCommand(format::Opcode opcode, std::uint16_t localPort) {
  format::Command command;
  command.opcode = opcode;
  command.localPort = localPort;
  command.initialWindow = 10;
  command.ssthresh = 1 << 30;
  return command;
}

void Machine::listen(std::uint32_t to, std::uint16_t number) {
  format::Command command = openCommand(format::Opcode::listen, number);
  command.request = request_++;
  HostPort &host = port(to);
  host.command(command);
  until("a listener", [&] { return !host.reported.empty(); });
  if (host.reported.front().kind != format::Kind::response || host.reported.front().reason != 0)
    throw std::runtime_error("a listen was refused");
  host.reported.pop_front();
}

std::pair<format::Notification, format::Notification>
Machine::connect(std::uint32_t from, std::uint32_t to, std::uint16_t localPort, std::uint16_t remotePort) {
  format::Command command = openCommand(format::Opcode::open, localPort);
  command.request = request_++;
  command.remoteIp = peerIp;
  command.remotePort = remotePort;
  port(from).command(command);
  const auto established = [](const format::Notification *status) {
    return status != nullptr && status->state == DOWNBEAT_ESTABLISHED;
  };
  until("a connection",
        [&] { return established(port(from).opened(command.request)) && established(port(to).accepted(remotePort)); });
  return {*port(from).opened(command.request), *port(to).accepted(remotePort)};
}

} // namespace downbeat::bench
