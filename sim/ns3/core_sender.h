// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core as the sending host.
#pragma once

#include "core_host.h"
#include "dumbbell.h"
#include "options.h"
#include "recorder.h"
#include "sender.h"
#include "taps.h"

class CoreSender : public Sender {
public:
  /// `taps` captures the core's wire; may be nullptr.
  CoreSender(const Options &options, Dumbbell &path, TextFile &events, Taps *taps);

  void start(std::vector<std::uint8_t> file) override;
  std::optional<std::string> failure() const override { return failure_; }
  bool closed() const override;
  std::uint64_t sent() const override;
  SenderReport report() const override;

  static constexpr const char *eventsHeader =
      "time_ns,flow,event,state,cwnd,ssthresh,flight,rtt_ns,reason,congestion,"
      "uninflated,acked,segment_size,initial_window,initial_ssthresh,"
      "startup,steady,cwnd_fixed,ssthresh_fixed,acknowledged,next_send,send_"
      "window,sent_sequence,sent_length,retransmission,live,"
      "sent_probe,sent_ahead,probe,departure_gap,arrival_gap,probe_round_trip,requested,"
      "estimates,arrival,repeated,bwe,ere,"
      "inline_updated,inline_opens,inline_forgets,inline_completes,inline_missed,capacity,available,"
      "growth_limited,rtt_full,rtt_first,recovering,"
      "app_limited,cwnd_limited,selective,delivered,prior_delivered,lost,prior_lost,tx_in_flight,in_flight,delivery_"
      "interval";

private:
  void application();
  void record(const downbeat_event &event);
  bool check(std::int64_t result, const char *what);

  CoreHost host_;
  TextFile &events_;
  Options options_;
  std::vector<std::uint8_t> file_;
  std::size_t accepted_ = 0;
  downbeat_sim_connection connection_ = 0;
  bool shutDown_ = false;
  std::optional<std::string> failure_;
  downbeat_event last_{};
  SenderReport report_;
};
