// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "trace_log.h"

#include <cinttypes>
#include <cstdio>
#include <string_view>

void TraceLog::record(void *self, const downbeat_event *event) {
  auto &log = *static_cast<TraceLog *>(self);
  log.segments += event->sent && event->sent_length > 0;
  log.retransmissions += event->sent && event->retransmission;
  if (std::string_view(downbeat_sim_event_text(event->kind)) == "departed")
    return; // a stamp: as many as frames, and nothing else
  if (log.last_.size() == kept) log.last_.pop_front();
  log.last_.push_back(*event);
}

std::string TraceLog::line(const downbeat_event &event) {
  char text[400];
  int length = std::snprintf(text, sizeof text,
                             "%12.6f s  flow %" PRIu32 " %-9s%s %-11s una %" PRIu32 " next %" PRIu32 " highest %" PRIu32
                             " window %" PRIu32 " received %" PRIu32 " cwnd %" PRIu64 " ssthresh %" PRIu64
                             " flight %" PRIu32 " %s",
                             static_cast<double>(event.time) / 1e9, event.flow, downbeat_sim_event_text(event.kind),
                             event.live ? "" : " (stale)", downbeat_sim_state_text(event.state), event.acknowledged,
                             event.next_send, event.highest_sent, event.send_window, event.received, event.cwnd >> 16,
                             event.ssthresh >> 16, event.flight, downbeat_sim_congestion_text(event.congestion_kind));
  if (event.sent)
    std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), "; %s %" PRIu32 "+%u",
                  event.retransmission ? "retransmits" : "sends", event.sent_sequence, event.sent_length);
  return text;
}
