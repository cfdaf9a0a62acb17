// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host format's rings, doorbells and checks without TCP, for tests of the driver that need no Verilator. A
// connection to the device's own address, or to 10.0.0.2, reaches the listener of that port; bytes move from one send
// ring into the other receive ring. What it does not have: the wire, loss, policies, TIME-WAIT.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "downbeat.h"
#include "downbeat_sim.h"
#include "format.h"

namespace downbeat::loopback {

using namespace downbeat::format;

constexpr std::uint32_t flows = 16, ports = 4, ringBytes = 1 << 14, version = 0x000100, mss = 1460, mtu = 1500;
constexpr std::uint32_t otherIp = 0x0a000002; // the device too: a core cannot connect to its own address
constexpr std::uint16_t silentPort = 5099; // it acknowledges nothing: who sends there is timed out
constexpr std::uint64_t payloadBytes = 2ull * flows * ringBytes;
constexpr std::uint32_t pathWindow = 25, pathRoundTrip = 1'000'000; // segments, ns: what its path reports say
constexpr std::uint32_t pathLossEach = 1 << 16; // bytes
constexpr std::uint64_t step = DOWNBEAT_NANOSECONDS(1000); // in which a segment's worth moves

struct Flow {
  bool used = false, open = false, owned = false, changed = false, passiveSide = false;
  std::uint8_t generation = 0, state = DOWNBEAT_CLOSED;
  CloseReason reason = CloseReason::none;
  std::uint32_t port = 0, peer = 0;
  std::uint16_t request = 0, remotePort = 0, localPort = 0;
  std::uint32_t acknowledged = 0, written = 0, reported = 0, consumed = 0, received = 0;
  bool announced = false; // its port has started: it is reported once more, also when it has ended
  bool stamped = false;
  bool finSent = false, finWanted = false, peerFin = false, endReported = false;
  std::uint32_t begin = 0; // of what it sends
  bool urgentWritten = false, urgentReceived = false; // not sent; not read
  std::uint32_t urgentEnd = 0, peerUrgentEnd = 0;
};

struct HostPort {
  std::array<std::uint32_t, portBlockBytes / 4> block{};
  std::uint32_t halves[4] = {};
  std::uint32_t head = 0, tail = 0; // of commands
  std::uint32_t written = 0, read = 0; // notifications
  bool armed = false, running = false;
  std::deque<Notification> waiting;
};

class Loopback {
public:
  int read(std::uint32_t address, std::uint32_t &value);
  void write(std::uint32_t address, std::uint32_t value);
  std::uint32_t interrupts() const;
  void advance(std::uint64_t until);
  bool busy() const;

  std::uint8_t *memory = nullptr;
  std::uint64_t bytes = 0, now = 0;
  /// Frames of an EtherType for experiments (0x88b5, IEEE 802) leave again at their arrival.
  std::deque<std::pair<std::uint64_t, std::vector<std::uint8_t>>> echoes;

private:
  std::uint64_t baseOf(const HostPort &port, std::uint32_t low) const {
    return port.block[low / 4] | std::uint64_t{port.block[low / 4 + 1]} << 32;
  }
  std::uint32_t sizeOf(const HostPort &port, std::uint32_t log2) const { return 1u << port.block[log2 / 4]; }

  void control(std::uint32_t number, bool enable);
  void doorbell(std::uint32_t number, std::uint32_t offset, std::uint32_t value);
  void data(std::uint32_t number, HostSource source, std::uint32_t sequence, std::uint32_t reference);
  /// Fetches and does one; they wait in the ring until time passes, as the core's do.
  void fetch(std::uint32_t number);
  void command(std::uint32_t number, const Command &command);
  void open(std::uint32_t number, const Command &command);
  Flow *flowOf(std::uint32_t number, HostSource source, std::uint32_t value, std::uint16_t request, std::uint32_t flow,
               std::uint32_t generation);
  void answer(std::uint32_t number, std::uint16_t request, CloseReason reason);
  void error(std::uint32_t number, HostSource source, HostError cause, std::uint32_t value, std::uint16_t request,
             std::uint32_t flow = 0, std::uint32_t generation = 0);
  void notify(std::uint32_t number, const Notification &notification);
  void flush(std::uint32_t number);
  void statuses();
  void pathReport(std::uint32_t number);
  /// A stamp of the segment that ends there, as its flow sends or receives it.
  void stamp(std::uint32_t number, std::uint32_t end, bool received);
  void end(Flow &flow, CloseReason reason);
  void settle(Flow &flow);
  bool move(std::uint32_t number);

  std::map<std::uint32_t, std::uint32_t> registers_;
  std::array<HostPort, ports> ports_;
  std::array<Flow, flows> flows_;
  std::map<std::uint16_t, std::uint32_t> listeners_; // the port of the host by TCP port
  std::uint32_t next_ = 0; // flow to look at first
  std::uint32_t sequence_ = 0xfffff000; // so that numbers wrap at once
};

} // namespace downbeat::loopback
