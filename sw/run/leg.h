// SPDX-License-Identifier: BSD-2-Clause-Patent
// The local leg: TCP of the kernel over its loopback network, between the program's own socket and one of the
// supervisor's. Two loopback addresses of this supervisor stand for the device and for its peers.
#pragma once

#include "endpoint.h"
#include "file.h"

namespace downbeat {

class Leg {
public:
  /// False: the loopback interface is down.
  bool open();

  std::uint32_t own() const { return own_; }
  std::uint32_t remote() const { return own_ + 1; }

  /// Begins to connect a program's socket: it is in SYN-SENT until `join`, and this
  /// EINPROGRESS. Otherwise 0 or an errno.
  int begin(int socket) const { return beginTo(socket, {remote(), port_}); }
  /// Likewise of one that has begun before: of a connection that is or has been the kernel has an error.
  int beginAgain(int socket) const { return beginAgainTo(socket, {remote(), port_}); }
  /// Likewise to a listener of the program itself; the kernel joins the two.
  int beginToOwn(int socket, std::uint16_t port) const { return beginTo(socket, {own_, port}); }
  int beginAgainToOwn(int socket, std::uint16_t port) const { return beginAgainTo(socket, {own_, port}); }
  /// The other end of a socket that has begun. The kernel knows it by `local`, its own name. The two open at the same
  /// time (RFC 9293, 3.5), so that no SYN has to come again.
  File join(Endpoint local) const;
  /// As join, and then a reset: the program's connect fails with ECONNRESET.
  void refuse(Endpoint local) const { join(local); }
  /// An end that connects to a program's listener.
  File connect(std::uint16_t port) const;

private:
  File end() const;
  int beginTo(int socket, Endpoint target) const;
  static int beginAgainTo(int socket, Endpoint target);

  std::uint32_t own_ = 0;
  std::uint16_t port_ = 0; // the port of the hold
  File hold_, filler_; // a listener whose queue is full, so that it drops each SYN; the connection in its queue
};

/// The TTL of what an end sends, and one that a deaf socket does not hear.
constexpr int heardTtl = 255, unheardTtl = 64;
/// From now on the socket hears nothing that is sent with a TTL below 255; or all.
void deafen(int socket, bool deaf = true);
/// Whether an end drops each segment with a FIN; it comes again.
void setDeafToEnd(int socket, bool deaf);

} // namespace downbeat
