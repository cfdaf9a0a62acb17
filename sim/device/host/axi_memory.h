// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's memory behind one AXI4 master of 64 bits: INCR bursts, answers in order.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "device/core/model.h"

namespace downbeat {

/// Memory that both masters share.
struct HostMemory {
  std::uint8_t *bytes = nullptr;
  std::uint64_t size = 0;
  /// How often of 256 clocks each channel waits. Then a write is in memory no earlier than its response.
  std::uint32_t stalls = 0;
  std::minstd_rand draw;

  bool waits() { return stalls != 0 && (draw() >> 8 & 0xff) < stalls; }
};

/// `Port` has references to one master's pins.
template <typename Port> class AxiMemory {
public:
  AxiMemory(Port port, HostMemory &memory) : port_(port), memory_(memory) {}

  void drive() {
    port_.awready = !memory_.waits();
    port_.arready = !memory_.waits();
    port_.wready = !writes_.empty() && !memory_.waits();
    // A valid output stays valid until it is taken.
    if (!port_.bvalid || responded_) port_.bvalid = !responses_.empty() && !memory_.waits();
    if (!port_.rvalid || given_) port_.rvalid = !reads_.empty() && !memory_.waits();
    responded_ = given_ = false;
    if (port_.bvalid) {
      responses_.front().apply(memory_);
      port_.bid = responses_.front().id;
      port_.bresp = responses_.front().response;
    }
    if (!port_.rvalid) return;
    const Burst &burst = reads_.front();
    const bool good = within(burst.address);
    port_.rid = burst.id;
    port_.rresp = good ? okay : decodeError;
    port_.rlast = burst.left == 1;
    // Writes of a program before its doorbell are visible: the doorbell was acquired.
    port_.rdata = good ? std::atomic_ref(wordAt(memory_, burst.address)).load(std::memory_order_relaxed) : 0;
  }

  /// True if anything was handed over.
  bool sample() {
    bool moved = false;
    if (port_.bvalid && port_.bready) {
      responses_.pop_front();
      responded_ = moved = true;
    }
    if (port_.rvalid && port_.rready) {
      given_ = moved = true;
      reads_.front().address += beatBytes;
      if (--reads_.front().left == 0) reads_.pop_front();
    }
    if (port_.wvalid && port_.wready) moved = true, write();
    if (port_.arvalid && port_.arready) moved = true, reads_.push_back(burst(port_.araddr, port_.arid, port_.arlen));
    if (port_.awvalid && port_.awready) moved = true, writes_.push_back(burst(port_.awaddr, port_.awid, port_.awlen));
    return moved;
  }

  bool active() const { return !writes_.empty() || !reads_.empty() || !responses_.empty(); }
  void reset() {
    writes_.clear();
    reads_.clear();
    responses_.clear();
    port_.bvalid = port_.rvalid = 0;
  }

private:
  static constexpr std::uint8_t okay = 0, decodeError = 3;

  struct Beat {
    std::uint64_t address, data;
    std::uint8_t strobe;
  };
  struct Burst {
    std::uint64_t address;
    std::uint32_t id, left;
    std::uint8_t response;
    std::vector<Beat> late; // with stalls: what its response puts into memory

    void apply(HostMemory &memory) {
      for (const Beat &beat : late) store(memory, beat);
      late.clear();
    }
  };

  static Burst burst(std::uint64_t address, std::uint32_t id, std::uint32_t length) {
    return {address & ~std::uint64_t{beatBytes - 1}, id, length + 1, okay, {}};
  }
  bool within(std::uint64_t address) const { return address < memory_.size && memory_.size - address >= beatBytes; }
  static std::uint64_t &wordAt(HostMemory &memory, std::uint64_t address) {
    return *reinterpret_cast<std::uint64_t *>(memory.bytes + address);
  }

  static void store(HostMemory &memory, const Beat &beat) {
    if (beat.strobe == 0xff) {
      // A notification's phase is in its last beat: who sees it sees the beats before.
      std::atomic_ref(wordAt(memory, beat.address)).store(beat.data, std::memory_order_release);
      return;
    }
    for (unsigned byte = 0; byte < beatBytes; ++byte)
      if ((beat.strobe >> byte & 1) != 0)
        memory.bytes[beat.address + byte] = static_cast<std::uint8_t>(beat.data >> (8 * byte));
  }

  void write() {
    Burst &burst = writes_.front();
    const Beat beat{burst.address, port_.wdata, port_.wstrb};
    if (!within(burst.address))
      burst.response = decodeError;
    else if (memory_.stalls != 0)
      burst.late.push_back(beat);
    else
      store(memory_, beat);
    burst.address += beatBytes;
    if (--burst.left != 0) return;
    responses_.push_back(std::move(burst));
    writes_.pop_front();
  }

  Port port_;
  HostMemory &memory_;
  std::deque<Burst> writes_, reads_, responses_;
  bool responded_ = false, given_ = false; // the response, the data of the last clock was taken
};

/// The pins of the master whose names begin with `prefix`, by reference.
#define DOWNBEAT_AXI_PORT(Name, prefix)                                                                                \
  struct Name {                                                                                                        \
    explicit Name(Pins &pins)                                                                                          \
        : awready(pins.prefix##_awready),                                                                              \
          arready(pins.prefix##_arready),                                                                              \
          wready(pins.prefix##_wready),                                                                                \
          bvalid(pins.prefix##_bvalid),                                                                                \
          bid(pins.prefix##_bid),                                                                                      \
          bresp(pins.prefix##_bresp),                                                                                  \
          rvalid(pins.prefix##_rvalid),                                                                                \
          rid(pins.prefix##_rid),                                                                                      \
          rresp(pins.prefix##_rresp),                                                                                  \
          rlast(pins.prefix##_rlast),                                                                                  \
          rdata(pins.prefix##_rdata),                                                                                  \
          bready(pins.prefix##_bready),                                                                                \
          rready(pins.prefix##_rready),                                                                                \
          wvalid(pins.prefix##_wvalid),                                                                                \
          wstrb(pins.prefix##_wstrb),                                                                                  \
          wdata(pins.prefix##_wdata),                                                                                  \
          arvalid(pins.prefix##_arvalid),                                                                              \
          araddr(pins.prefix##_araddr),                                                                                \
          arid(pins.prefix##_arid),                                                                                    \
          arlen(pins.prefix##_arlen),                                                                                  \
          awvalid(pins.prefix##_awvalid),                                                                              \
          awaddr(pins.prefix##_awaddr),                                                                                \
          awid(pins.prefix##_awid),                                                                                    \
          awlen(pins.prefix##_awlen) {}                                                                                \
    CData &awready, &arready, &wready, &bvalid, &bid, &bresp, &rvalid, &rid, &rresp, &rlast;                           \
    QData &rdata;                                                                                                      \
    const CData &bready, &rready, &wvalid, &wstrb;                                                                     \
    const QData &wdata;                                                                                                \
    const CData &arvalid;                                                                                              \
    const QData &araddr;                                                                                               \
    const CData &arid, &arlen, &awvalid;                                                                               \
    const QData &awaddr;                                                                                               \
    const CData &awid, &awlen;                                                                                         \
  }

DOWNBEAT_AXI_PORT(PayloadPort, m_axi);
DOWNBEAT_AXI_PORT(RingPort, m_axi_host);

} // namespace downbeat
