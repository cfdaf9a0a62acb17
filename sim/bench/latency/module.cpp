// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "module.h"

#include <algorithm>
#include <stdexcept>

#include "downbeat_registers.h"
#include "peer.h"

namespace latency {

Module::Module(Time corePeriod, double receivePpm)
    : top_(std::make_unique<Vlatency>(&context_)),
      corePeriod_(corePeriod),
      receivePeriod_(static_cast<Time>(Phy::period / (1 + receivePpm * 1e-6) + 0.5)),
      arriving_(Phy::slotBytes) {
  auto &pins = *top_;
  pins.link_up = 1;
  pins.m_axis_bypass_rx_tready = 1;
  pins.reset = 1;
  constexpr int resetClocks = 64, settled = 4096; // memories that are swept, one word a clock
  for (int i = 0; i < resetClocks; ++i) step();
  pins.reset = 0;
  for (int i = 0; i < settled; ++i) step();
  setUp();
  for (int i = 0; i < settled; ++i) step();
  clocks_ = 0;
}

void Module::setUp() {
  writeRegister(DOWNBEAT_REG_LOCAL_MAC_HIGH, numberOf(coreStation.mac) >> 32);
  writeRegister(DOWNBEAT_REG_LOCAL_MAC_LOW, static_cast<std::uint32_t>(numberOf(coreStation.mac)));
  writeRegister(DOWNBEAT_REG_LOCAL_IP, coreStation.ip);
  writeRegister(DOWNBEAT_REG_LOCAL_NETMASK, 0xffffff00);
  writeRegister(DOWNBEAT_REG_SECRET0, 0x01234567);
  writeRegister(DOWNBEAT_REG_CONTROL, DOWNBEAT_REG_CONTROL_ENABLE_MASK);
  writeRegister(DOWNBEAT_REG_NEIGHBOUR_IP, peerStation.ip);
  writeRegister(DOWNBEAT_REG_NEIGHBOUR_HIGH, numberOf(peerStation.mac) >> 32);
  writeRegister(DOWNBEAT_REG_NEIGHBOUR_MAC_LOW, static_cast<std::uint32_t>(numberOf(peerStation.mac)));
}

void Module::writeRegister(std::uint32_t address, std::uint32_t value) {
  auto &pins = *top_;
  bool addressed = false, written = false, acknowledged = false;
  const auto before = sample;
  sample = [&](const Pins &at, Time) {
    addressed = addressed || (at.s_axil_awvalid && at.s_axil_awready);
    written = written || (at.s_axil_wvalid && at.s_axil_wready);
    acknowledged = acknowledged || (at.s_axil_bvalid && at.s_axil_bready);
  };
  pins.s_axil_awaddr = static_cast<std::uint16_t>(address);
  pins.s_axil_wdata = value;
  pins.s_axil_wstrb = 0xf;
  pins.s_axil_bready = 1;
  constexpr int timeLimit = 1000;
  for (int i = 0; i < timeLimit && !acknowledged; ++i) {
    pins.s_axil_awvalid = !addressed;
    pins.s_axil_wvalid = !written;
    step();
  }
  pins.s_axil_awvalid = pins.s_axil_wvalid = pins.s_axil_bready = 0;
  sample = before;
  if (!acknowledged) throw std::runtime_error("no response to a write of register " + std::to_string(address));
}

std::uint32_t Module::readRegister(std::uint32_t address) {
  auto &pins = *top_;
  bool addressed = false;
  std::optional<std::uint32_t> value;
  const auto before = sample;
  sample = [&](const Pins &at, Time now) {
    addressed = addressed || (at.s_axil_arvalid && at.s_axil_arready);
    if (at.s_axil_rvalid && at.s_axil_rready) value = at.s_axil_rdata;
    before(at, now);
  };
  pins.s_axil_araddr = static_cast<std::uint16_t>(address);
  pins.s_axil_rready = 1;
  constexpr int timeLimit = 1000;
  for (int i = 0; i < timeLimit && !value; ++i) {
    pins.s_axil_arvalid = !addressed;
    step();
  }
  pins.s_axil_arvalid = pins.s_axil_rready = 0;
  sample = before;
  if (!value) throw std::runtime_error("no response to a read of register " + std::to_string(address));
  return *value;
}

void Module::step() {
  auto &pins = *top_;
  for (bool core = false; !core;) {
    now_ = std::min({nextCore_, nextTransmit_, nextReceive_});
    core = nextCore_ == now_;
    const bool transmits = nextTransmit_ == now_, receives = nextReceive_ == now_;
    // The edge takes the values at the pins before it; the values that it drives go out behind it.
    if (core) pins.clk = 0;
    if (transmits) phy_.transmitClock(false);
    if (receives) phy_.receiveClock(false);
    pins.eval();
    if (core && !pins.reset) sample(pins, now_);
    if (core) pins.clk = 1;
    if (transmits) phy_.transmitClock(true);
    if (receives) phy_.receiveClock(true);
    pins.eval();
    if (receives) receiveEdge();
    if (transmits) transmitEdge();
    if (core) {
      drive(pins);
      ++clocks_;
      nextCore_ += corePeriod_;
    }
  }
}

void Module::receiveEdge() {
  nextReceive_ += receivePeriod_;
  constexpr unsigned preamble = 7;
  if (arriving_.size() < Phy::lanes && !top_->reset)
    if (const auto frame = nextFrame(now_ + (arriving_.size() + preamble) * receivePeriod_ / Phy::lanes))
      arriving_.put(*frame);
  phy_.drive(arriving_);
}

void Module::transmitEdge() {
  nextTransmit_ += Phy::period;
  ++transmitEdges_;
  phy_.take(outgoing_, transmitEdges_, [this] {
    if (!outgoing_.seen.right) throw std::runtime_error("a frame left the core damaged");
    left(outgoing_.frame(), now_ - (transmitEdges_ * Phy::lanes - outgoing_.seen.sfd) * byteTime);
  });
}

} // namespace latency
