// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ns3_flow.h"

#include <algorithm>

#include <ns3/tcp-header.h>
#include <ns3/tcp-l4-protocol.h>
#include <ns3/uinteger.h>

using namespace ns3;

Ns3Flow::Ns3Flow(const FlowPlan &plan, const Marks &marks, Ptr<Node> node, std::uint32_t remote, std::uint16_t port)
    : Flow(plan, marks), node_(node), remote_(remote), port_(port) {}

void Ns3Flow::start() {
  const FlowPlan &plan = record.plan();
  const auto tcp = node_->GetObject<TcpL4Protocol>();
  socket_ = DynamicCast<TcpSocketBase>(tcp->CreateSocket(TypeId::LookupByName("ns3::" + plan.tcp)));
  socket_->SetAttribute("InitialCwnd", UintegerValue(plan.initialWindow));
  if (plan.ssthresh != 0) socket_->SetAttribute("InitialSlowStartThreshold", UintegerValue(plan.ssthresh));
  watch();
  socket_->SetConnectCallback(callback<Ptr<Socket>>([this](Ptr<Socket>) {
                                record.established(now());
                                fill();
                              }),
                              callback<Ptr<Socket>>([this](Ptr<Socket>) { record.failure = "connect: no response"; }));
  socket_->SetSendCallback(callback<Ptr<Socket>, std::uint32_t>([this](Ptr<Socket>, std::uint32_t) { fill(); }));
  socket_->Bind();
  record.opened(now());
  socket_->Connect(InetSocketAddress(Ipv4Address(remote_), port_));
}

void Ns3Flow::watch() {
  UintegerValue size;
  socket_->GetAttribute("SegmentSize", size);
  record.segmentSize = static_cast<double>(size.Get());
  socket_->TraceConnectWithoutContext(
      "CongestionWindow", callback<std::uint32_t, std::uint32_t>([this](std::uint32_t before, std::uint32_t bytes) {
        const double segments = bytes / record.segmentSize;
        if (record.isEstablished() && !record.hasLeftStartup() && ssthresh_ > 0 && segments >= ssthresh_)
          record.exit(now(), "policy", before / record.segmentSize, segments);
        record.window(now(), segments);
      }));
  socket_->TraceConnectWithoutContext(
      "SlowStartThreshold", callback<std::uint32_t, std::uint32_t>([this](std::uint32_t, std::uint32_t bytes) {
        ssthresh_ = bytes / record.segmentSize;
        record.ssthresh = ssthresh_;
      }));
  using State = TcpSocketState::TcpCongState_t;
  socket_->TraceConnectWithoutContext("CongState", callback<State, State>([this](State before, State after) {
                                        const bool timeout = after == TcpSocketState::CA_LOSS;
                                        if (!timeout && after != TcpSocketState::CA_RECOVERY) return;
                                        if (timeout && before == TcpSocketState::CA_LOSS) return;
                                        const double window = record.windowNow();
                                        record.loss(now(), static_cast<std::uint64_t>(window * record.segmentSize),
                                                    timeout);
                                        if (!record.hasLeftStartup())
                                          record.exit(now(), timeout ? "timeout" : "loss", window, ssthresh_);
                                      }));
  socket_->TraceConnectWithoutContext(
      "LastRTT", callback<Time, Time>([this](Time, Time rtt) { record.sample(rtt.GetSeconds()); }));
  socket_->TraceConnectWithoutContext(
      "Tx", callback<Ptr<const Packet>, const TcpHeader &, Ptr<const TcpSocketBase>>(
                [this](Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
                  if (packet->GetSize() == 0) return;
                  const std::uint32_t end = header.GetSequenceNumber().GetValue() + packet->GetSize();
                  const bool fresh = !sentAny_ || static_cast<std::int32_t>(end - highest_) > 0;
                  sentAny_ = true;
                  if (fresh) highest_ = end;
                  ++record.segments;
                  record.retransmissions += !fresh;
                }));
}

void Ns3Flow::fill() {
  if (over_ || !record.isEstablished()) return;
  const bool endless = record.plan().writes.empty();
  while (endless || given_ < wanted_) {
    const std::uint64_t left = endless ? 1 << 16 : wanted_ - given_;
    const auto space = static_cast<std::uint32_t>(std::min<std::uint64_t>(socket_->GetTxAvailable(), left));
    if (space == 0) return;
    const int sent = socket_->Send(Create<Packet>(space), 0);
    if (sent <= 0) return;
    given_ += static_cast<std::uint64_t>(sent);
  }
  if (record.plan().finish && given_ == wanted_) socket_->Close();
}

void Ns3Flow::write(std::uint64_t bytes) {
  wanted_ += bytes;
  record.wrote(now());
  fill();
}

/// Data in its buffer are still sent.
void Ns3Flow::stop() {
  if (over_) return;
  over_ = true;
  record.over(now());
  if (socket_) socket_->Close();
}
