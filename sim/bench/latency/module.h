// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated DownbeatGmii, or DownbeatXgmii: its clocks, its registers, and its pins as wire and application see
// them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <verilated.h>

#include "Vlatency.h"
#include "phy.h"

namespace latency {

using Time = std::uint64_t; // femtoseconds
using Pins = Vlatency;

using Phy = wire::Phy<Pins>;
inline constexpr Time byteTime = Phy::byteTime;

class Module {
public:
  /// The core's clock lasts `corePeriod`; the far end's is `receivePpm` faster than the transmit clock.
  Module(Time corePeriod, double receivePpm);
  ~Module() { top_->final(); }

  Time now() const { return now_; }
  std::uint64_t simulatedClocks() const { return clocks_; }
  std::uint32_t readRegister(std::uint32_t address);

  /// Over all edges of the clocks until the core's next one, and over that.
  void step();

  /// The next frame to the core, if there is one now; its SFD would come to the pins at `sfd`.
  std::function<std::optional<wire::Bytes>(Time sfd)> nextFrame = [](Time) { return std::nullopt; };
  /// A frame has left the core; `sfd` is when its SFD's byte came to the pins.
  std::function<void(std::span<const std::uint8_t> frame, Time sfd)> left = [](std::span<const std::uint8_t>, Time) {};
  /// The core's clock rises: what stands at the pins is what it takes. Then what is driven for the next rise.
  std::function<void(const Pins &, Time now)> sample = [](const Pins &, Time) {};
  std::function<void(Pins &)> drive = [](Pins &) {};

private:
  void writeRegister(std::uint32_t address, std::uint32_t value);
  void setUp();
  void receiveEdge();
  void transmitEdge();

  VerilatedContext context_;
  std::unique_ptr<Vlatency> top_;
  Time corePeriod_, receivePeriod_;
  Time now_ = 0, nextCore_ = 0, nextTransmit_ = 0, nextReceive_ = 0;
  std::uint64_t clocks_ = 0, transmitEdges_ = 0;
  Phy phy_{*top_};
  wire::Serialiser arriving_;
  wire::Deserialiser outgoing_;
};

} // namespace latency
