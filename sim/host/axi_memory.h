// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host's memory behind one AXI4 master of 64 bits: INCR bursts, answers in order.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>

#include "model.h"

namespace downbeat {

/// What both masters share.
struct HostMemory {
  std::uint8_t *bytes = nullptr;
  std::uint64_t size = 0;
};

/// `Port` has references to one master's pins.
template <typename Port> class AxiMemory {
public:
  AxiMemory(Port port, const HostMemory &memory) : port_(port), memory_(memory) {}

  void drive() {
    port_.awready = port_.arready = 1;
    port_.wready = !writes_.empty();
    port_.bvalid = !answers_.empty();
    if (!answers_.empty()) {
      port_.bid = answers_.front().id;
      port_.bresp = answers_.front().response;
    }
    port_.rvalid = !reads_.empty();
    if (reads_.empty()) return;
    const Burst &burst = reads_.front();
    const bool good = within(burst.address);
    port_.rid = burst.id;
    port_.rresp = good ? okay : decodeError;
    port_.rlast = burst.left == 1;
    // What a program has written before its doorbell is seen: the doorbell was acquired.
    port_.rdata = good ? std::atomic_ref(wordAt(burst.address)).load(std::memory_order_relaxed) : 0;
  }

  /// True if anything was handed over.
  bool sample() {
    bool moved = false;
    if (port_.bvalid && port_.bready) answers_.pop_front(), moved = true;
    if (port_.rvalid && port_.rready) {
      moved = true;
      reads_.front().address += beatBytes;
      if (--reads_.front().left == 0) reads_.pop_front();
    }
    if (port_.wvalid && port_.wready) moved = true, write();
    if (port_.arvalid && port_.arready) moved = true, reads_.push_back(burst(port_.araddr, port_.arid, port_.arlen));
    if (port_.awvalid && port_.awready) moved = true, writes_.push_back(burst(port_.awaddr, port_.awid, port_.awlen));
    return moved;
  }

  bool active() const { return !writes_.empty() || !reads_.empty() || !answers_.empty(); }
  void reset() {
    writes_.clear();
    reads_.clear();
    answers_.clear();
  }

private:
  static constexpr std::uint8_t okay = 0, decodeError = 3;

  struct Burst {
    std::uint64_t address;
    std::uint32_t id, left;
    std::uint8_t response;
  };
  struct Answer {
    std::uint32_t id;
    std::uint8_t response;
  };

  static Burst burst(std::uint64_t address, std::uint32_t id, std::uint32_t length) {
    return {address & ~std::uint64_t{beatBytes - 1}, id, length + 1, okay};
  }
  bool within(std::uint64_t address) const { return address < memory_.size && memory_.size - address >= beatBytes; }
  std::uint64_t &wordAt(std::uint64_t address) const {
    return *reinterpret_cast<std::uint64_t *>(memory_.bytes + address);
  }

  void write() {
    Burst &burst = writes_.front();
    if (!within(burst.address)) {
      burst.response = decodeError;
    } else if (port_.wstrb == 0xff) {
      // A notification's phase is in its last beat: who sees it sees the beats before.
      std::atomic_ref(wordAt(burst.address)).store(port_.wdata, std::memory_order_release);
    } else {
      for (unsigned byte = 0; byte < beatBytes; ++byte)
        if ((port_.wstrb >> byte & 1) != 0)
          memory_.bytes[burst.address + byte] = static_cast<std::uint8_t>(port_.wdata >> (8 * byte));
    }
    burst.address += beatBytes;
    if (--burst.left != 0) return;
    answers_.push_back({burst.id, burst.response});
    writes_.pop_front();
  }

  Port port_;
  const HostMemory &memory_;
  std::deque<Burst> writes_, reads_;
  std::deque<Answer> answers_;
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
