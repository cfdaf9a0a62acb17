// SPDX-License-Identifier: BSD-2-Clause-Patent
// Notifications and the flow of bytes of the loopback model, and the interface that the driver loads it by.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "downbeat_model.h"
#include "downbeat_registers.h"
#include "loopback.h"

namespace downbeat::loopback {

void Loopback::answer(std::uint32_t number, std::uint16_t request, CloseReason reason) {
  Notification notification;
  notification.kind = Kind::response;
  notification.reason = static_cast<std::uint8_t>(reason);
  notification.request = request;
  notify(number, notification);
}

void Loopback::error(std::uint32_t number, HostSource source, HostError cause, std::uint32_t value,
                     std::uint16_t request, std::uint32_t flow, std::uint32_t generation) {
  ++ports_[number].block[portErrors / 4];
  Notification notification;
  notification.kind = Kind::error;
  notification.reason = static_cast<std::uint8_t>(cause);
  notification.state = static_cast<std::uint8_t>(source);
  notification.request = request;
  notification.flow = static_cast<std::uint16_t>(flow);
  notification.generation = static_cast<std::uint8_t>(generation);
  notification.value = value;
  notify(number, notification);
}

void Loopback::notify(std::uint32_t number, const Notification &notification) {
  ports_[number].waiting.push_back(notification);
  flush(number);
}

void Loopback::flush(std::uint32_t number) {
  HostPort &port = ports_[number];
  if (!port.running) return;
  const std::uint32_t size = sizeOf(port, notificationSizeLog2);
  for (; !port.waiting.empty() && port.written - port.read < size; port.waiting.pop_front(), ++port.written) {
    Notification &entry = port.waiting.front();
    if (entry.kind != Kind::pathReport) entry.commandHead = port.head;
    entry.phase = port.written / size % 2 == 0 ? 1 : 0;
    std::uint8_t *place = memory + baseOf(port, notificationBaseLow) + port.written % size * sizeof entry;
    std::memcpy(place, &entry, sizeof entry - 1);
    std::atomic_ref(place[sizeof entry - 1]).store(entry.phase, std::memory_order_release);
  }
}

void Loopback::statuses() {
  for (std::uint32_t each = 0; each < flows; ++each) {
    Flow &flow = flows_[each];
    if (!ports_[flow.port].waiting.empty()) continue; // the latest status goes when there is space
    const bool announced = std::exchange(flow.announced, false);
    if (!std::exchange(flow.changed, false) || !(flow.owned || announced)) continue;
    Notification status;
    status.kind = Kind::status;
    status.reason = static_cast<std::uint8_t>(flow.reason);
    status.request = flow.request;
    status.flow = static_cast<std::uint16_t>(each);
    // It counts on when it is let go and has ended.
    status.generation = static_cast<std::uint8_t>(flow.generation - (flow.open || flow.owned ? 0 : 1));
    status.state = flow.state;
    status.acknowledged = flow.acknowledged;
    status.written = flow.reported;
    status.consumed = flow.consumed;
    status.received = flow.received;
    status.flags = static_cast<std::uint8_t>((flow.passiveSide ? passive : 0) | (flow.peerFin ? peerFinished : 0) |
                                             (flow.urgentReceived ? urgent : 0));
    status.urgentEnd = flow.peerUrgentEnd;
    status.remoteIp = registers_[DOWNBEAT_REG_LOCAL_IP];
    status.remotePort = flow.remotePort;
    status.localPort = flow.localPort;
    notify(flow.port, status);
    if (flow.state != DOWNBEAT_CLOSED && flow.acknowledged != flow.begin) pathReport(each);
  }
}

/// A path of 1 ms whose window stands, though 64 KiB after each other lose a segment.
void Loopback::pathReport(std::uint32_t number) {
  const Flow &flow = flows_[number];
  const std::uint32_t acked = flow.acknowledged - flow.begin;
  PathReport report;
  report.kind = Kind::pathReport;
  report.flow = static_cast<std::uint16_t>(number);
  report.generation = flow.generation;
  report.cwnd = pathWindow * mss;
  report.ssthresh = 2 * report.cwnd;
  for (auto *roundTrip : {&report.smoothedRtt, &report.smallestRtt})
    std::memcpy(roundTrip, &pathRoundTrip, sizeof pathRoundTrip);
  report.segmentSize = mss;
  report.losses = static_cast<std::uint8_t>(acked / pathLossEach);
  std::memcpy(report.acked, &acked, sizeof acked);
  report.rttVariation = pathRoundTrip / 2;
  const std::uint64_t time = now >> 16;
  std::memcpy(report.time, &time, sizeof report.time);
  const std::uint32_t acks = (acked + mss - 1) / mss;
  std::memcpy(report.acks, &acks, sizeof report.acks);
  notify(flow.port, std::bit_cast<Notification>(report));
}

void Loopback::stamp(std::uint32_t number, std::uint32_t end, bool received) {
  const Flow &flow = flows_[number];
  if (!flow.stamped) return;
  Stamp stamp;
  stamp.kind = Kind::stamp;
  stamp.flow = static_cast<std::uint16_t>(number);
  stamp.generation = flow.generation;
  stamp.received = received ? 1 : 0;
  stamp.end = end;
  stamp.sfd = now;
  notify(flow.port, std::bit_cast<Notification>(stamp));
}

void Loopback::end(Flow &flow, CloseReason reason) {
  flow.open = false;
  flow.state = DOWNBEAT_CLOSED;
  flow.reason = reason;
  flow.changed = true;
  if (!flow.owned) ++flow.generation;
}

void Loopback::settle(Flow &flow) {
  if (!flow.open) return;
  const std::uint8_t state = flow.finSent   ? (flow.peerFin ? DOWNBEAT_CLOSED : DOWNBEAT_FIN_WAIT_2)
                             : flow.peerFin ? DOWNBEAT_CLOSE_WAIT
                                            : DOWNBEAT_ESTABLISHED;
  if (state == flow.state) return;
  flow.state = state;
  flow.changed = true;
  if (state != DOWNBEAT_CLOSED) return;
  end(flow, CloseReason::finished);
}

/// One segment of a flow to its peer; false: nothing can move.
bool Loopback::move(std::uint32_t number) {
  Flow &flow = flows_[number], &peer = flows_[flow.peer];
  if (!flow.open) return false;
  if (flow.remotePort == silentPort && flow.written != flow.acknowledged) {
    if (peer.open) end(peer, CloseReason::reset);
    end(flow, CloseReason::timedOut);
    return true;
  }
  const std::uint32_t space = ringBytes - (peer.received - peer.consumed);
  const std::uint32_t length = std::min({flow.written - flow.acknowledged, space, mss});
  const std::uint64_t payload = registers_[payloadBaseLow];
  for (std::uint32_t each = 0; each < length; ++each)
    memory[payload + payloadBytes / 2 + flow.peer * ringBytes + (peer.received + each) % ringBytes] =
        memory[payload + number * ringBytes + (flow.acknowledged + each) % ringBytes];
  if (length != 0) {
    if (std::exchange(flow.urgentWritten, false)) { // its first segment says so
      peer.urgentReceived = true;
      peer.peerUrgentEnd = peer.received + (flow.urgentEnd - flow.acknowledged);
    }
    flow.acknowledged += length;
    flow.reported = flow.acknowledged;
    peer.received += length;
    flow.changed = peer.changed = true;
    stamp(number, flow.acknowledged, false);
    stamp(flow.peer, peer.received, true);
    if (!peer.owned) { // closed: nobody reads it
      end(flow, CloseReason::reset);
      if (peer.open) end(peer, CloseReason::aborted);
    }
    return true;
  }
  if (!flow.finWanted || flow.finSent || flow.acknowledged != flow.written) return false;
  flow.finSent = true;
  peer.peerFin = true;
  ++peer.received;
  peer.changed = true;
  stamp(number, flow.acknowledged + 1, false);
  stamp(flow.peer, peer.received, true);
  settle(flow);
  settle(peer);
  return true;
}

bool Loopback::busy() const {
  for (const HostPort &port : ports_)
    if (port.head != port.tail) return true;
  for (const Flow &flow : flows_) {
    if (flow.changed && ports_[flow.port].waiting.empty()) return true;
    if (!flow.open) continue;
    const Flow &peer = flows_[flow.peer];
    if (flow.written != flow.acknowledged && peer.received - peer.consumed < ringBytes) return true;
    if (flow.finWanted && !flow.finSent && flow.written == flow.acknowledged) return true;
  }
  return false;
}

void Loopback::advance(std::uint64_t until) {
  const auto ahead = [&] { return static_cast<std::int64_t>(until - now); };
  while (ahead() > 0 && busy()) {
    now += std::min(until - now, step);
    for (std::uint32_t each = 0; each < ports; ++each) fetch(each);
    for (std::uint32_t each = 0; each < flows; ++each) move(each);
    statuses();
  }
  if (ahead() > 0) now = until;
}

std::uint32_t Loopback::interrupts() const {
  std::uint32_t raised = 0;
  for (std::uint32_t each = 0; each < ports; ++each)
    if (ports_[each].armed && ports_[each].written != ports_[each].read) raised |= 1u << each;
  return raised;
}

namespace {

Loopback &of(downbeat_model *model) { return *reinterpret_cast<Loopback *>(model); }
const Loopback &of(const downbeat_model *model) { return *reinterpret_cast<const Loopback *>(model); }

} // namespace

extern const downbeat_model_calls calls;
const downbeat_model_calls calls = {
    .abi = DOWNBEAT_MODEL_ABI,
    .preset = "loopback",
    .create = [](std::uint64_t) { return reinterpret_cast<downbeat_model *>(new Loopback); },
    .destroy = [](downbeat_model *model) { delete &of(model); },
    .set_memory =
        [](downbeat_model *model, std::uint8_t *memory, std::uint64_t bytes) {
          of(model).memory = memory;
          of(model).bytes = bytes;
        },
    .set_stalls = [](downbeat_model *, std::uint32_t, std::uint32_t) {},
    .read = [](downbeat_model *model, std::uint32_t address,
               std::uint32_t *value) { return of(model).read(address, *value); },
    .write = [](downbeat_model *model, std::uint32_t address, std::uint32_t value) { of(model).write(address, value); },
    .interrupts = [](const downbeat_model *model) { return of(model).interrupts(); },
    .now = [](const downbeat_model *model) { return of(model).now; },
    .next_deadline =
        [](const downbeat_model *model) {
          if (of(model).busy()) return of(model).now + step;
          return of(model).echoes.empty() ? UINT64_MAX : std::max(of(model).echoes.front().first, of(model).now);
        },
    .advance_to = [](downbeat_model *model, std::uint64_t until) { of(model).advance(until); },
    .put_frame =
        [](downbeat_model *model, const std::uint8_t *frame, std::size_t length, std::uint64_t arrival) {
          if (length < 14 || length > 1518) return -1;
          if (frame[12] == 0x88 && frame[13] == 0xb5)
            of(model).echoes.emplace_back(arrival, std::vector(frame, frame + length));
          return 0;
        },
    .get_frame =
        [](downbeat_model *model, std::uint8_t *frame, std::size_t capacity, std::uint64_t *departure) {
          auto &echoes = of(model).echoes;
          if (echoes.empty() || echoes.front().first > of(model).now) return std::int64_t{-1};
          const auto [arrival, bytes] = std::move(echoes.front());
          echoes.pop_front();
          *departure = arrival;
          std::copy_n(bytes.begin(), std::min(bytes.size(), capacity), frame);
          return static_cast<std::int64_t>(bytes.size());
        },
    .get_bypass = [](downbeat_model *, std::uint8_t *, std::size_t) { return std::int64_t{-1}; },
};

} // namespace downbeat::loopback

const downbeat_model_calls *downbeat_model_get(void) { return &downbeat::loopback::calls; }
