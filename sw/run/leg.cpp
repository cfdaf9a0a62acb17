// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "leg.h"

#include <cerrno>
#include <random>

#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace downbeat {

namespace {

constexpr std::uint32_t firstAddress = 0x7f40'0000, addresses = 0x0040'0000; // 127.64.0.0/10
constexpr int windowBytes = 1 << 18; // bytes that a side has not taken

} // namespace

void deafen(int socket, bool deaf) { setOption(socket, IPPROTO_IP, IP_MINTTL, deaf ? heardTtl : 0); }

void setDeafToEnd(int socket, bool deaf) {
  constexpr std::uint32_t flagsByte = 13, fin = 1, whole = 0xffff'ffff; // TCP's header
  sock_filter rule[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, flagsByte), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, fin, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, whole)};
  const sock_fprog program{sizeof rule / sizeof rule[0], rule};
  setsockopt(socket, SOL_SOCKET, deaf ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &program, sizeof program);
}

bool Leg::open() {
  std::random_device random;
  own_ = firstAddress + std::uniform_int_distribution<std::uint32_t>(0, addresses / 2 - 1)(random) * 2;
  hold_ = end();
  if (bindTo(hold_.get(), {remote(), 0}) != 0 || listen(hold_.get(), 0) != 0) return false;
  port_ = localEndpoint(hold_.get()).value_or(Endpoint{}).port;
  // One connection fills its queue. Without a way to the loopback network it is unreachable at once.
  filler_ = end();
  return connectTo(filler_.get(), {remote(), port_}) == EINPROGRESS;
}

File Leg::end() const {
  File made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // An end of the supervisor, an end by its death too, that does not follow FIN is a reset.
  const linger reset{1, 0};
  setsockopt(made.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  setOption(made.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  setOption(made.get(), SOL_SOCKET, SO_OOBINLINE, 1);
  for (const int queue : {SO_RCVBUF, SO_SNDBUF}) setOption(made.get(), SOL_SOCKET, queue, windowBytes);
  setOption(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  setOption(made.get(), IPPROTO_IP, IP_TTL, heardTtl);
  return made;
}

int Leg::beginTo(int socket, Endpoint target) const {
  if (option(socket, IPPROTO_IPV6, IPV6_V6ONLY) != 0) return ENETUNREACH;
  const auto before = localEndpoint(socket);
  if (before && before->ip != 0 && before->ip != own_) return EINVAL; // another interface's address
  if (!before || before->port == 0) {
    // The port is found by the connect, which may share it among destinations.
    if (const int error = bindToAddress(socket, own_); error != 0) return error;
  }
  return beginAgainTo(socket, target);
}

int Leg::beginAgainTo(int socket, Endpoint target) {
  const int flags = fcntl(socket, F_GETFL);
  fcntl(socket, F_SETFL, flags | O_NONBLOCK);
  const int error = connectTo(socket, target);
  fcntl(socket, F_SETFL, flags);
  return error;
}

File Leg::join(Endpoint local) const {
  File made = end();
  bindTo(made.get(), {remote(), port_});
  connectTo(made.get(), local);
  return made;
}

File Leg::connect(std::uint16_t port) const {
  File made = end();
  bindTo(made.get(), {remote(), 0});
  connectTo(made.get(), {own_, port});
  return made;
}

} // namespace downbeat
