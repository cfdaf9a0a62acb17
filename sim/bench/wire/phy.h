// SPDX-License-Identifier: BSD-2-Clause-Patent
// The PHY at a Verilated module's pins, a byte at a time: GMII, or XGMII (IEEE 802.3 clause 46) where the module has
// it.
#pragma once

#include <stdexcept>

#include "ethernet.h"

namespace wire {

template <class Pins>
concept HasXgmii = requires(Pins &pins) { pins.xgmii_txd; };

template <class Pins> class Phy {
public:
  static constexpr unsigned lanes = HasXgmii<Pins> ? 8 : 1;
  static constexpr std::uint64_t period = HasXgmii<Pins> ? 6'400'000 : 8'000'000; // fs, of the wire's clocks
  static constexpr std::uint64_t byteTime = period / lanes;                       // fs
  static constexpr std::uint64_t increment = (period << 32) / 1'000'000;          // ns, 8.32, cut
  /// A frame starts at a multiple of so many bytes.
  static constexpr unsigned slotBytes = HasXgmii<Pins> ? 4 : 1;

  explicit Phy(Pins &pins) : pins_(pins) {}

  void receiveClock(bool level) {
    if constexpr (HasXgmii<Pins>)
      pins_.xgmii_rx_clk = level;
    else
      pins_.gmii_rx_clk = level;
  }
  void transmitClock(bool level) {
    if constexpr (HasXgmii<Pins>)
      pins_.xgmii_tx_clk = level;
    else
      pins_.gmii_gtx_clk = level;
  }

  /// Drives a clock's bytes.
  void drive(Serialiser &source) {
    if constexpr (HasXgmii<Pins>) {
      std::uint64_t data = 0;
      std::uint8_t control = 0;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const Symbol symbol = source.next();
        const bool isControl = !symbol.valid || !inArriving_;
        const std::uint8_t byte = symbol.valid ? (inArriving_ ? symbol.data : start) : inArriving_ ? terminate : idle;
        inArriving_ = symbol.valid;
        data |= std::uint64_t{byte} << 8 * lane;
        control = static_cast<std::uint8_t>(control | isControl << lane);
      }
      pins_.xgmii_rxd = data;
      pins_.xgmii_rxc = control;
    } else {
      const Symbol symbol = source.next();
      pins_.gmii_rxd = symbol.data;
      pins_.gmii_rx_dv = symbol.valid;
    }
  }

  /// Takes a clock's bytes, which came to the pins at edge `clock`; `ended()` is called when a frame has ended.
  template <class Ended> void take(Deserialiser &sink, std::uint64_t clock, Ended ended) {
    if constexpr (HasXgmii<Pins>) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto byte = static_cast<std::uint8_t>(pins_.xgmii_txd >> 8 * lane);
        Symbol symbol{byte, !pins_.reset}; // before it the pins are no column
        if ((pins_.xgmii_txc >> lane & 1) != 0) {
          const bool starts = byte == start && lane % slotBytes == 0 && !inDeparting_;
          if (!starts && byte != (inDeparting_ ? terminate : idle) && !pins_.reset)
            throw std::runtime_error("a control character at the wrong place");
          symbol = starts ? Symbol{preamble, true} : Symbol{};
        }
        inDeparting_ = symbol.valid;
        if (sink.take(symbol, clock * lanes + lane)) ended();
      }
    } else if (sink.take({pins_.gmii_txd, pins_.gmii_tx_en != 0}, clock))
      ended();
  }

private:
  static constexpr std::uint8_t idle = 0x07, start = 0xfb, terminate = 0xfd, preamble = 0x55;
  Pins &pins_;
  bool inArriving_ = false; // the byte before was a frame's, of those that are driven
  bool inDeparting_ = false; // the same of those that are taken
};

} // namespace wire
