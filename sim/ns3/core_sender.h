// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core as the sending host.
#pragma once

#include <chrono>
#include <memory>

#include <ns3/event-id.h>

#include "core_link.h"
#include "dumbbell.h"
#include "options.h"
#include "recorder.h"
#include "sender.h"
#include "taps.h"

class CoreSender : public Sender {
public:
  /// `taps`: hears the core's wire; may be nullptr.
  CoreSender(const Options &options, Dumbbell &path, TextFile &events, Taps *taps);

  void start(std::vector<std::uint8_t> file) override;
  std::optional<std::string> failure() const override { return failure_; }
  bool closed() const override;
  SenderReport report() const override;

  static constexpr const char *eventsHeader =
      "time_ns,flow,event,state,cwnd,ssthresh,flight,rtt_ns,reason,congestion,uninflated,acked,segment_size,initial_window,initial_ssthresh,"
      "startup,steady,cwnd_fixed,ssthresh_fixed,acknowledged,next_send,send_window,sent_sequence,sent_length,retransmission,live";

private:
  using Clock = std::chrono::steady_clock;
  struct Destroy {
    void operator()(downbeat_device *device) const { downbeat_destroy(device); }
  };

  /// Gives the core all that it may know by now, takes all that it has sent, and comes back when it next does something.
  ///
  /// The core runs ahead of ns-3 by the delay of its link: what it sends until then arrives later than now, and so does what is
  /// sent to it. Without that, ns-3 would be woken for each clock of a busy core.
  void pump();
  void wakeAt(ns3::Time time);
  void application();
  void record(const downbeat_event &event);
  bool check(std::int64_t result, const char *what);

  Dumbbell &path_;
  TextFile &events_;
  Taps *taps_;
  Options options_;
  std::unique_ptr<downbeat_device, Destroy> device_;
  ns3::Ptr<CoreLink> link_;
  ns3::Ptr<ns3::SimpleNetDevice> router_;
  ns3::EventId wake_;
  std::vector<std::uint8_t> file_;
  std::size_t accepted_ = 0;
  downbeat_connection connection_ = 0;
  bool shutDown_ = false;
  std::optional<std::string> failure_;
  downbeat_event last_{};
  SenderReport report_;
  Clock::duration wall_{};
};
