// SPDX-License-Identifier: BSD-2-Clause-Patent
// ns-3's TCP at the other end of the path: it takes a file or sends one.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include <ns3/node.h>
#include <ns3/tcp-socket-base.h>

#include "idle_watch.h"

class Peer {
public:
  static constexpr std::uint16_t port = 5001;
  static constexpr std::uint32_t coreIp = 0x0a000101, ip = 0x0a000102;

  /// Tells ns-3 what its TCPs are to be, once for the whole program; the names are ns-3's.
  static std::map<std::string, std::string> configure();

  explicit Peer(ns3::Ptr<ns3::Node> node);
  virtual ~Peer() = default;

  std::uint64_t bytes = 0; // handed to the socket, or read from it
  std::string failure;
  /// ns-3 has done its part: from then on it answers nothing. In TIME-WAIT it does not repeat an ACK that was lost, in
  /// LAST-ACK it sends its FIN once and goes after an RTO, and a FIN in a segment whose data it has it ignores, so the
  /// core may repeat its FIN, or wait for ns-3's, in vain.
  std::optional<ns3::Time> overSince;

protected:
  void watchEnd(const ns3::Ptr<ns3::Socket> &socket);
  ns3::Ptr<ns3::TcpSocketBase> socket_;
};

/// Keeps what comes on the first connection, and closes when the other side has.
class PeerSink : public Peer {
public:
  PeerSink(ns3::Ptr<ns3::Node> node, const std::string &path);

  /// When the newest byte came.
  ns3::Time lastByte;

private:
  void accept(ns3::Ptr<ns3::Socket> connection);
  std::ofstream file_;
};

/// Connects to the core, sends a file and closes.
class PeerSource : public Peer {
public:
  PeerSource(ns3::Ptr<ns3::Node> node, const std::string &path);
  IdleWatch watch;

private:
  void watchTraces();
  void fill();
  std::string contents_;
  bool shutDown_ = false;
};
