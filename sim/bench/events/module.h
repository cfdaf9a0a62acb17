// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated FlowEngine at its ports: a load offers events and sees what leaves.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <verilated.h>

#include "Vevents.h"
#include "downbeat_layout.h"

namespace events {

using Pins = Vevents;

constexpr std::uint64_t clockNs = 8;
constexpr unsigned flows = DOWNBEAT_FLOWS;
constexpr unsigned spacing = 8; // clocks, DownbeatConfig.flowSpacing
constexpr unsigned kinds = 1u << DOWNBEAT_TRACE_RECORD_KIND_WIDTH; // each number of an event, used or not

/// The engine did what it must not.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

enum Port { directory, placed, application, grants, departed, timers, ports };

/// Values at the ports.
class Load {
public:
  virtual ~Load() = default;
  /// Puts the port's next event on its payload; false: it has none now.
  virtual bool offer(Port port, Pins &pins, std::uint64_t now) = 0;
  /// A clock's end: what is at the outputs is taken.
  virtual void see(const Pins &pins, std::uint64_t now) = 0;
};

/// Events that came through the engine.
struct Line {
  std::uint64_t clocks = 0, events = 0;
  std::array<std::uint64_t, kinds> ofKind{};
  std::uint64_t calculations = 0; // events that asked for a long one
};

class Module {
public:
  explicit Module(Load &load);
  ~Module() { top_->final(); }

  /// Clocks until so many more events have come out, counted from the first of them.
  Line run(std::uint64_t events);
  /// Nothing is offered any more; throws unless every event that was taken has come out.
  void drain();

private:
  void clock(bool offering);
  void record();

  VerilatedContext context_;
  std::unique_ptr<Pins> top_;
  Load &load_;
  std::uint64_t now_ = 1'000'000, clocks_ = 0;
  std::array<std::uint64_t, ports> taken_{};
  std::array<std::uint64_t, flows> last_{};
  Line line_;
};

} // namespace events
