// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "module.h"

namespace events {

namespace {

struct Handshake {
  CData *valid;
  const CData *ready;
};

Handshake handshake(Pins &pins, Port port) {
  switch (port) {
  case directory: return {&pins.directory_valid, &pins.directory_ready};
  case placed: return {&pins.placed_valid, &pins.placed_ready};
  case application: return {&pins.application_valid, &pins.application_ready};
  case grants: return {&pins.grants_valid, &pins.grants_ready};
  case departed: return {&pins.departed_valid, &pins.departed_ready};
  default: return {&pins.timers_valid, &pins.timers_ready};
  }
}

constexpr std::uint64_t timeLimit = 100'000; // clocks

} // namespace

Module::Module(Load &load) : top_(std::make_unique<Pins>(&context_)), load_(load) {
  top_->descriptors_ready = top_->placements_ready = 1;
  top_->reset = 1;
  for (int i = 0; i < 4; ++i) clock(false);
  top_->reset = 0;
  while (!top_->idle) clock(false); // the sweep after reset
}

void Module::clock(bool offering) {
  auto &pins = *top_;
  for (unsigned p = 0; p < ports; ++p) {
    const Port port = static_cast<Port>(p);
    if (CData &valid = *handshake(pins, port).valid; offering && !valid) valid = load_.offer(port, pins, now_);
  }
  pins.now_ns = now_;
  pins.clk = 0;
  pins.eval();
  std::array<bool, ports> fire;
  for (unsigned p = 0; p < ports; ++p) {
    const Handshake at = handshake(pins, static_cast<Port>(p));
    fire[p] = *at.valid && *at.ready && !pins.reset;
  }
  if (!pins.reset) {
    record();
    load_.see(pins, now_);
  }
  pins.clk = 1;
  pins.eval();
  for (unsigned p = 0; p < ports; ++p) {
    taken_[p] += fire[p];
    if (fire[p]) *handshake(pins, static_cast<Port>(p)).valid = 0;
  }
  pins.eval();
  now_ += clockNs;
  ++clocks_;
}

void Module::record() {
  const auto &pins = *top_;
  if (!pins.trace_valid) return;
  auto &last = last_[pins.trace_payload_reference_flow];
  if (last && clocks_ - last < spacing)
    throw Failure("events of flow " + std::to_string(pins.trace_payload_reference_flow) + " are " +
                  std::to_string(clocks_ - last) + " clocks apart");
  last = clocks_;
  ++line_.events;
  ++line_.ofKind[pins.trace_payload_kind];
  line_.calculations += pins.trace_payload_requested;
}

Line Module::run(std::uint64_t count) {
  const std::uint64_t before = line_.events;
  while (line_.events == before) clock(true);
  const Line begin = line_;
  const std::uint64_t start = clocks_;
  while (line_.events - begin.events < count) {
    if (clocks_ - start > spacing * count + timeLimit) throw Failure("the engine has stopped");
    clock(true);
  }
  Line taken{clocks_ - start, line_.events - begin.events, {}, line_.calculations - begin.calculations};
  for (unsigned kind = 0; kind < kinds; ++kind) taken.ofKind[kind] = line_.ofKind[kind] - begin.ofKind[kind];
  return taken;
}

void Module::drain() {
  const auto offered = [&] {
    for (unsigned p = 0; p < ports; ++p)
      if (*handshake(*top_, static_cast<Port>(p)).valid) return true;
    return false;
  };
  for (std::uint64_t end = clocks_ + timeLimit; !top_->idle || offered(); clock(false))
    if (clocks_ > end) throw Failure("the engine does not come to rest");
  const auto &of = line_.ofKind;
  const std::array<std::uint64_t, ports> came{of[DOWNBEAT_EVENT_KIND_SEGMENT] + of[DOWNBEAT_EVENT_KIND_OPEN],
                                              of[DOWNBEAT_EVENT_KIND_PLACED],
                                              of[DOWNBEAT_EVENT_KIND_WRITTEN],
                                              of[DOWNBEAT_EVENT_KIND_GRANT],
                                              of[DOWNBEAT_EVENT_KIND_DEPARTED],
                                              of[DOWNBEAT_EVENT_KIND_TIMER]};
  if (came != taken_) throw Failure("what was taken at a port has not come out");
}

} // namespace events
