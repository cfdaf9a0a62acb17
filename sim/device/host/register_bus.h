// SPDX-License-Identifier: BSD-2-Clause-Patent
// The AXI4-Lite master on s_axil: writes in order, one access at a time.
#pragma once

#include <cstdint>
#include <deque>

#include "device/core/model.h"

namespace downbeat {

class RegisterBus {
public:
  void write(std::uint32_t address, std::uint32_t value) { waiting_.push_back({true, address, value}); }
  void read(std::uint32_t address) { waiting_.push_back({false, address, 0}); }
  bool active() const { return !waiting_.empty(); }
  /// Value of the last read.
  std::uint32_t value() const { return value_; }
  bool failed() const { return failed_; }

  void drive(Pins &pins) const {
    const bool writes = active() && waiting_.front().writes, reads = active() && !writes;
    pins.s_axil_awvalid = writes && !addressTaken_;
    pins.s_axil_wvalid = writes && !dataTaken_;
    pins.s_axil_arvalid = reads && !addressTaken_;
    pins.s_axil_bready = pins.s_axil_rready = 1;
    if (!active()) return;
    pins.s_axil_awaddr = pins.s_axil_araddr = waiting_.front().address;
    pins.s_axil_wdata = waiting_.front().value;
    pins.s_axil_wstrb = 0xf;
  }

  /// True if anything was handed over.
  bool sample(const Pins &pins) {
    bool moved = false;
    if ((pins.s_axil_awvalid && pins.s_axil_awready) || (pins.s_axil_arvalid && pins.s_axil_arready))
      addressTaken_ = moved = true;
    if (pins.s_axil_wvalid && pins.s_axil_wready) dataTaken_ = moved = true;
    const bool written = pins.s_axil_bvalid && pins.s_axil_bready, given = pins.s_axil_rvalid && pins.s_axil_rready;
    if (!active() || !(written || given)) return moved;
    if (given) {
      value_ = pins.s_axil_rdata;
      failed_ = pins.s_axil_rresp != 0;
    }
    waiting_.pop_front();
    addressTaken_ = dataTaken_ = false;
    return true;
  }

private:
  struct Access {
    bool writes;
    std::uint32_t address, value;
  };
  std::deque<Access> waiting_;
  bool addressTaken_ = false, dataTaken_ = false, failed_ = false;
  std::uint32_t value_ = 0;
};

} // namespace downbeat
