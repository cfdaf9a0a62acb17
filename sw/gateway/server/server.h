// SPDX-License-Identifier: BSD-2-Clause-Patent
// The gateway on sockets: one thread serves datagrams in batches, in between saves a little and responses people.
#pragma once

#include <array>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "admin.h"
#include "config.h"
#include "gateway.h"
#include "log.h"
#include "relay.h"
#include "saver.h"

namespace downbeat::gateway {

class Server {
public:
  explicit Server(Config config);

  std::string start(); // empty: listening; otherwise the reason
  void run();          // until SIGTERM or SIGINT; SIGHUP reads the key file again

private:
  static constexpr std::size_t batch = 64;

  std::string open(Keys keys);
  std::string watch(Opened opened, std::vector<Descriptor> &to);
  bool serve(int socket); // a batch; true: there may be more
  bool signalled();       // false: the end
  void restore();
  void reload();

  Config config_;
  Log log_;
  Counters counters_;
  Descriptor epoll_, signals_, wake_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Admin> admin_;
  std::vector<Descriptor> sockets_;

  /// One batch's buffers.
  std::array<std::array<std::uint8_t, maxBytes + 1>, batch>
      in_; // one more byte, so that a long datagram is seen as one
  std::array<sockaddr_storage, batch> from_;
  std::array<std::array<std::uint8_t, CMSG_SPACE(sizeof(in6_pktinfo))>, batch> at_; // addresses they came to
  std::vector<std::uint8_t> out_;
};

} // namespace downbeat::gateway
