// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "peer.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/global-value.h>
#include <ns3/inet-socket-address.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-factory.h>

using namespace ns3;

namespace {

using SegmentTrace = Callback<void, Ptr<const Packet>, const TcpHeader &, Ptr<const TcpSocketBase>>;

template <typename... Arguments, typename Function> Callback<void, Arguments...> callback(Function function) {
  return Callback<void, Arguments...>(function);
}

Segment segmentOf(const Ptr<const Packet> &packet, const TcpHeader &header) {
  const std::uint8_t flags = header.GetFlags();
  const bool syn = (flags & TcpHeader::SYN) != 0, fin = (flags & TcpHeader::FIN) != 0;
  return {header.GetSequenceNumber().GetValue(), header.GetAckNumber().GetValue(), packet->GetSize() + syn + fin,
          (flags & TcpHeader::ACK) != 0, (flags & TcpHeader::RST) != 0};
}

} // namespace

std::map<std::string, std::string> Peer::configure() {
  // ns-3 announces no MSS and does not count options: 12 bytes of timestamps must fit beside a segment.
  const std::map<std::string, std::string> attributes{
      {"ns3::TcpL4Protocol::SocketType", "ns3::TcpLinuxReno"},
      {"ns3::TcpL4Protocol::RecoveryType", "ns3::TcpPrrRecovery"},
      {"ns3::TcpSocket::SegmentSize", "1448"},
      {"ns3::TcpSocket::InitialCwnd", "10"},
      {"ns3::TcpSocket::RcvBufSize", std::to_string(4 << 20)},
      {"ns3::TcpSocket::SndBufSize", std::to_string(2 << 20)},
      {"ns3::TcpSocket::DelAckCount", "2"},
      {"ns3::TcpSocket::DelAckTimeout", "200ms"},
      {"ns3::TcpSocket::ConnTimeout", "1s"},
      {"ns3::TcpSocket::ConnCount", "15"},
      {"ns3::TcpSocket::DataRetries", "15"},
      {"ns3::TcpSocketBase::WindowScaling", "true"},
      {"ns3::TcpSocketBase::Sack", "true"},
      {"ns3::TcpSocketBase::Timestamp", "true"},
      {"ns3::TcpSocketBase::MinRto", "1s"},
      {"ns3::TcpSocketBase::ClockGranularity", "1ms"},
      {"ns3::TcpSocketBase::ReTxThreshold", "3"},
      {"ns3::TcpSocketBase::LimitedTransmit", "true"},
      {"ns3::TcpSocketBase::UseEcn", "Off"},
  };
  for (const auto &[name, value] : attributes) Config::SetDefault(name, StringValue(value));
  // Without it IP and TCP checksums are zero, and the core drops such frames as it must.
  GlobalValue::Bind("ChecksumEnabled", StringValue("true"));
  return attributes;
}

Peer::Peer(Ptr<Node> node)
    : socket_(DynamicCast<TcpSocketBase>(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()))) {}

void Peer::watchEnd(const Ptr<Socket> &socket) {
  using States = TcpSocket::TcpStates_t;
  socket->TraceConnectWithoutContext("State", callback<States, States>([this](States, States now) {
                                       if (now == TcpSocket::TIME_WAIT || now == TcpSocket::CLOSED)
                                         overSince = Simulator::Now();
                                     }));
  socket->SetCloseCallbacks(
      callback<Ptr<Socket>>([](Ptr<Socket> ended) { ended->Close(); }),
      callback<Ptr<Socket>>([this](Ptr<Socket>) { failure = "ns-3's connection ended by an error"; }));
}

PeerSink::PeerSink(Ptr<Node> node, const std::string &path) : Peer(node), file_(path, std::ios::binary) {
  if (!file_) failure = "cannot write " + path;
  socket_->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
  socket_->Listen();
  socket_->SetAcceptCallback(
      MakeNullCallback<bool, Ptr<Socket>, const Address &>(),
      callback<Ptr<Socket>, const Address &>([this](Ptr<Socket> connection, const Address &) { accept(connection); }));
}

void PeerSink::accept(Ptr<Socket> connection) {
  watchEnd(connection);
  connection->TraceConnectWithoutContext(
      "Rx", SegmentTrace([this](Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase> socket) {
        const auto begin = header.GetSequenceNumber(), next = socket->GetRxBuffer()->NextRxSequence();
        const bool known = begin < next && begin + packet->GetSize() <= next;
        if (known && (header.GetFlags() & TcpHeader::FIN) != 0) overSince = Simulator::Now();
      }));
  connection->SetRecvCallback(callback<Ptr<Socket>>([this](Ptr<Socket> readable) {
    while (const Ptr<Packet> packet = readable->Recv()) {
      if (packet->GetSize() == 0) return;
      std::vector<std::uint8_t> part(packet->GetSize());
      packet->CopyData(part.data(), packet->GetSize());
      file_.write(reinterpret_cast<const char *>(part.data()), static_cast<std::streamsize>(part.size()));
      bytes += part.size();
      lastByte = Simulator::Now();
    }
  }));
}

PeerSource::PeerSource(Ptr<Node> node, const std::string &path) : Peer(node) {
  // ns-3's TcpTxBuffer reads SACK before the ACK takes its head away: a D-SACK (RFC 2883) ends it by an assertion.
  socket_->SetAttribute("Sack", BooleanValue(false));
  std::ifstream file(path, std::ios::binary);
  contents_.assign(std::istreambuf_iterator<char>(file), {});
  if (contents_.empty()) failure = "cannot read " + path;
  watchEnd(socket_);
  watchTraces();
  socket_->SetConnectCallback(
      callback<Ptr<Socket>>([this](Ptr<Socket>) { fill(); }),
      callback<Ptr<Socket>>([this](Ptr<Socket>) { failure = "ns-3 cannot connect: no answer"; }));
  socket_->SetSendCallback(callback<Ptr<Socket>, std::uint32_t>([this](Ptr<Socket>, std::uint32_t) { fill(); }));
  socket_->Bind();
  Simulator::Schedule(MilliSeconds(1), [this] { socket_->Connect(InetSocketAddress(Ipv4Address(coreIp), port)); });
}

void PeerSource::watchTraces() {
  socket_->TraceConnectWithoutContext(
      "Tx", SegmentTrace([this](Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
        watch.departed(Simulator::Now(), segmentOf(packet, header));
      }));
  socket_->TraceConnectWithoutContext(
      "Rx", SegmentTrace([this](Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
        watch.arrived(Simulator::Now(), segmentOf(packet, header));
      }));
  // A new RTO in the instant of an ACK comes from its sample; at any other time the timer has expired.
  socket_->TraceConnectWithoutContext("RTO", callback<Time, Time>([this](Time, Time rto) {
                                        Simulator::Now() == watch.lastMove() ? watch.sampled(rto) : watch.expired(rto);
                                      }));
}

void PeerSource::fill() {
  while (bytes < contents_.size()) {
    const auto space = std::min<std::size_t>(socket_->GetTxAvailable(), contents_.size() - bytes);
    if (space == 0) return;
    const auto *data = reinterpret_cast<const std::uint8_t *>(contents_.data()) + bytes;
    const int sent = socket_->Send(Create<Packet>(data, static_cast<std::uint32_t>(space)), 0);
    if (sent <= 0) return;
    bytes += static_cast<std::size_t>(sent);
  }
  if (!shutDown_) socket_->Close();
  shutDown_ = true;
}
