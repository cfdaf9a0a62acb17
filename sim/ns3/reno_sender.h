// SPDX-License-Identifier: BSD-2-Clause-Patent
// ns-3's own TCP as the sending host, for comparison: TcpLinuxReno, or the TCP that the dumbbell sets.
#pragma once

#include <ns3/socket.h>
#include <ns3/tcp-socket-base.h>

#include "dumbbell.h"
#include "options.h"
#include "recorder.h"
#include "sender.h"

class RenoSender : public Sender {
public:
  RenoSender(const Options &options, Dumbbell &path, TextFile &events);

  void start(std::vector<std::uint8_t> file) override;
  std::optional<std::string> failure() const override { return failure_; }
  bool closed() const override { return closed_; }
  std::uint64_t sent() const override { return sent_; }
  SenderReport report() const override { return report_; }

  static constexpr const char *eventsHeader = "time_ns,event,cwnd,ssthresh,flight,rtt_ns";

private:
  void fill();
  void row(const char *event, const std::string &rtt = "");

  TextFile &events_;
  ns3::Ptr<ns3::Node> node_;
  ns3::Ptr<ns3::TcpSocketBase> socket_;
  std::vector<std::uint8_t> file_;
  std::size_t accepted_ = 0;
  bool shutDown_ = false, closed_ = false;
  std::optional<std::string> failure_;
  std::uint32_t cwnd_ = 0, ssthresh_ = 0, flight_ = 0;
  std::uint32_t highest_ = 0;
  std::uint64_t sent_ = 0;
  SenderReport report_;
};
