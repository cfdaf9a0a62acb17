// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "reno_sender.h"

#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-factory.h>

using namespace ns3;

namespace {
template <typename... Arguments, typename Function> Callback<void, Arguments...> callback(Function function) {
  return Callback<void, Arguments...>(function);
}
} // namespace

RenoSender::RenoSender(const Options &options, Dumbbell &path, TextFile &events) : events_(events) {
  node_ = CreateObject<Node>();
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(node_);
  PointToPointHelper access;
  access.DisableFlowControl();
  access.SetDeviceAttribute("DataRate", StringValue(std::to_string(options.linkRate) + "bps"));
  access.SetChannelAttribute("Delay", TimeValue(path.linkDelay()));
  access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
  Ipv4AddressHelper("10.0.1.0", "255.255.255.0").Assign(access.Install(path.routerA(), node_));
  Ipv4StaticRoutingHelper().GetStaticRouting(node_->GetObject<Ipv4>())->SetDefaultRoute("10.0.1.1", 1);
}

void RenoSender::start(std::vector<std::uint8_t> file) {
  file_ = std::move(file);
  socket_ = DynamicCast<TcpSocketBase>(Socket::CreateSocket(node_, TcpSocketFactory::GetTypeId()));
  socket_->TraceConnectWithoutContext("CongestionWindow",
                                      callback<std::uint32_t, std::uint32_t>([this](std::uint32_t, std::uint32_t now) {
                                        cwnd_ = now;
                                        row("cwnd");
                                      }));
  socket_->TraceConnectWithoutContext("SlowStartThreshold",
                                      callback<std::uint32_t, std::uint32_t>([this](std::uint32_t, std::uint32_t now) {
                                        ssthresh_ = now;
                                        row("ssthresh");
                                      }));
  socket_->TraceConnectWithoutContext("BytesInFlight",
                                      callback<std::uint32_t, std::uint32_t>([this](std::uint32_t, std::uint32_t now) {
                                        flight_ = now;
                                        row("flight");
                                      }));
  socket_->TraceConnectWithoutContext("LastRTT", callback<Time, Time>([this](Time, Time now) {
                                        report_.rttSamples.push_back(now.GetSeconds() * 1e3);
                                        row("rtt", std::to_string(now.GetNanoSeconds()));
                                      }));
  socket_->TraceConnectWithoutContext(
      "Tx", callback<Ptr<const Packet>, const TcpHeader &, Ptr<const TcpSocketBase>>(
                [this](Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
                  ++sent_;
                  if (packet->GetSize() == 0) return;
                  const std::uint32_t end = header.GetSequenceNumber().GetValue() + packet->GetSize();
                  ++report_.segments;
                  const bool fresh = report_.segments == 1 || static_cast<std::int32_t>(end - highest_) > 0;
                  if (fresh) highest_ = end;
                  report_.retransmissions += !fresh;
                }));
  socket_->SetConnectCallback(callback<Ptr<Socket>>([this](Ptr<Socket>) { fill(); }),
                              callback<Ptr<Socket>>([this](Ptr<Socket>) { failure_ = "connect: no answer"; }));
  socket_->SetSendCallback(callback<Ptr<Socket>, std::uint32_t>([this](Ptr<Socket>, std::uint32_t) { fill(); }));
  socket_->SetCloseCallbacks(callback<Ptr<Socket>>([this](Ptr<Socket>) { closed_ = true; }),
                             callback<Ptr<Socket>>([this](Ptr<Socket>) { failure_ = "closed by an error"; }));
  socket_->Bind();
  socket_->Connect(InetSocketAddress(Ipv4Address(Dumbbell::receiverIp), Dumbbell::port));
}

void RenoSender::fill() {
  while (accepted_ < file_.size()) {
    const auto space = std::min<std::size_t>(socket_->GetTxAvailable(), file_.size() - accepted_);
    if (space == 0) return;
    const int sent = socket_->Send(Create<Packet>(file_.data() + accepted_, static_cast<std::uint32_t>(space)), 0);
    if (sent <= 0) return;
    accepted_ += static_cast<std::size_t>(sent);
  }
  if (!shutDown_) socket_->Close();
  shutDown_ = true;
}

void RenoSender::row(const char *event, const std::string &rtt) {
  events_.row("%lld,%s,%u,%u,%u,%s\n", static_cast<long long>(Simulator::Now().GetNanoSeconds()), event, cwnd_,
              ssthresh_, flight_, rtt.c_str());
}
