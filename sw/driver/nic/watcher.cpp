// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "watcher.h"

#include <atomic>
#include <bit>

namespace downbeat::nic {

void Watcher::commands(std::uint32_t tail) {
  if (tail - commandHead_ > rings_.commands.size()) return; // the core refuses it
  for (; commandHead_ != tail; ++commandHead_) {
    const format::Command command = rings_.commands[commandHead_ % rings_.commands.size()];
    switch (command.opcode) {
    case format::Opcode::listen: listeners.insert(command.localPort); break;
    case format::Opcode::unlisten: listeners.erase(command.localPort); break;
    case format::Opcode::close:
    case format::Opcode::abort:
      if (const auto found = flows.find(command.flow);
          found != flows.end() && found->second.generation == command.generation)
        found->second.letGo = true;
      break;
    default: break;
    }
  }
}

void Watcher::notifications() {
  for (std::size_t left = rings_.notifications.size(); left > 0;
       --left, ++notificationHead_) { // it may write beside us
    format::Notification &entry = rings_.notifications[notificationHead_ % rings_.notifications.size()];
    const std::uint8_t lap = notificationHead_ / rings_.notifications.size() % 2 == 0 ? 1 : 0;
    if ((std::atomic_ref(entry.phase).load(std::memory_order_acquire) & 1) != lap) return;
    const format::Notification status = entry;
    if (status.kind == format::Kind::pathReport) report(std::bit_cast<format::PathReport>(status));
    if (status.kind != format::Kind::status || status.flow >= flowCount_) continue;
    const auto [place, isNew] = flows.try_emplace(status.flow);
    Seen &seen = place->second;
    if (isNew || seen.generation != status.generation)
      seen = {.generation = status.generation, .past = status.commandHead == 0};
    seen.state = status.state;
    seen.remoteIp = status.remoteIp;
    seen.remotePort = status.remotePort;
    seen.localPort = status.localPort;
  }
}

void Watcher::report(const format::PathReport &report) {
  const auto found = flows.find(report.flow);
  if (found == flows.end() || found->second.generation != report.generation) return;
  Seen &seen = found->second;
  seen.losses += static_cast<std::uint8_t>(report.losses - seen.lossesReported);
  seen.lossesReported = report.losses;
  seen.roundTrip = format::wide(report.smoothedRtt);
}

void Watcher::started(std::uint32_t note) {
  notifications();
  const auto found = flows.find(note & 0xffff);
  if (found != flows.end() && found->second.generation == (note >> 16 & 0xff))
    found->second.source = static_cast<std::uint8_t>(note >> 24);
}

} // namespace downbeat::nic
