// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "server.h"

#include <csignal>
#include <cstring>
#include <sodium.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

namespace downbeat::gateway {
namespace {

constexpr int idleWait = 50;     // ms; while a snapshot is under way nobody waits, a step of it is short
constexpr std::size_t relayedAtOnce = 64; // messages
constexpr unsigned endLimit = 10;         // s from a signal to the end; what has not been written then is lost
constexpr int batchesAtOnce = 8;           // of one socket, before the others have their turn

// The response leaves by the route to the host, not by the interface of the request.
void anyInterface(msghdr &header) {
  for (cmsghdr *each = CMSG_FIRSTHDR(&header); each; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_PKTINFO)
      reinterpret_cast<in_pktinfo *>(CMSG_DATA(each))->ipi_ifindex = 0;
    if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_PKTINFO)
      reinterpret_cast<in6_pktinfo *>(CMSG_DATA(each))->ipi6_ifindex = 0;
  }
}

std::uint64_t random() {
  std::uint64_t value;
  randombytes_buf(&value, sizeof value);
  return value;
}

} // namespace

Server::Server(Config config) : config_(std::move(config)), log_(config_.log) {}

std::string Server::start() {
  auto keys = Keys::read(config_.keys);
  if (const auto *reason = std::get_if<std::string>(&keys)) return *reason;
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr); // before any thread, so that all inherit it
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  std::vector<Descriptor> own;
  for (int descriptor : {signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC), eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)})
    if (const auto reason = watch(Descriptor(descriptor), own); !reason.empty()) return reason;
  signals_ = std::move(own[0]);
  wake_ = std::move(own[1]);
  return open(std::move(std::get<Keys>(keys)));
}

std::string Server::open(Keys keys) {
  gateway_ = std::make_unique<Gateway>(keys, config_.limits, config_.store, random, counters_);
  restore();
  // Sockets come after the snapshot: each response has all that is known.
  if (!config_.udp.empty())
    if (const auto reason = watch(listenInternet(config_.udp, SOCK_DGRAM), sockets_); !reason.empty())
      return "listen.udp " + reason;
  if (!config_.unixSocket.empty())
    if (const auto reason = watch(listenUnix(config_.unixSocket, SOCK_DGRAM), sockets_); !reason.empty())
      return "listen.unix " + reason;
  admin_ = std::make_unique<Admin>(Pages(*gateway_, counters_, config_, read(CLOCK_BOOTTIME)), epoll_.get());
  for (const auto &[name, place, serves] : {std::tuple("listen.admin ", config_.admin, Serves::all),
                                            std::tuple("listen.health ", config_.health, Serves::health),
                                            std::tuple("listen.metrics ", config_.metrics, Serves::metrics)}) {
    if (place.empty()) continue;
    auto opened = serves == Serves::all ? listenUnix(place, SOCK_STREAM) : listenInternet(place, SOCK_STREAM);
    if (const auto *reason = std::get_if<std::string>(&opened)) return name + *reason;
    admin_->listen(std::move(std::get<Descriptor>(opened)), serves);
  }
  saver_ = std::make_unique<Saver>(config_.snapshot, config_.snapshotSeconds * second, counters_, log_);
  if (!config_.redis.host.empty()) {
    const auto wake = [this] { eventfd_write(wake_.get(), 1); };
    const std::uint64_t self = random();
    relay_ = std::make_unique<Relay>(config_.redis, std::move(keys), self, counters_, log_, wake);
    gateway_->onReport([this, self](auto reporter, const auto &reports, auto now) {
      gateway_->store().counted().take(self, relay_->send(reporter, reports, now));
    });
  }
  log_.write(Log::info, "listening", "udp", config_.udp, "unix", config_.unixSocket, "store",
             config_.redis.host.empty() ? "embedded" : config_.redis.text(), "keys", gateway_->keys().size());
  return {};
}

std::string Server::watch(Opened opened, std::vector<Descriptor> &to) {
  if (const auto *reason = std::get_if<std::string>(&opened)) return *reason;
  Descriptor &descriptor = std::get<Descriptor>(opened);
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor.get()}};
  if (!descriptor || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor.get(), &event) != 0) return std::strerror(errno);
  to.push_back(std::move(descriptor));
  return {};
}

void Server::run() {
  bool more = false;
  for (Nanoseconds expired = 0;;) {
    std::array<epoll_event, 16> events;
    const int ready = epoll_wait(epoll_.get(), events.data(), events.size(), more ? 0 : idleWait);
    const Nanoseconds now = read(CLOCK_BOOTTIME);
    for (int at = 0; at < ready; ++at) {
      const int descriptor = events[static_cast<std::size_t>(at)].data.fd;
      if (descriptor == signals_.get()) {
        if (!signalled()) return saver_->saveAll(gateway_->store(), now);
      } else if (descriptor == wake_.get()) {
        eventfd_t count;
        eventfd_read(wake_.get(), &count);
        const auto taken = relay_->taken(relayedAtOnce);
        if (taken.size() == relayedAtOnce) eventfd_write(wake_.get(), 1); // the rest after those who wait
        for (const auto &[message, atStart] : taken) gateway_->relayed(message, atStart, now);
      } else if (admin_->owns(descriptor)) {
        admin_->ready(descriptor, now);
      } else {
        for (int left = batchesAtOnce; left && serve(descriptor); --left) {}
      }
    }
    more = saver_->step(gateway_->store(), now);
    if (now - expired > second) {
      admin_->expire(expired = now);
      gateway_->expire(now);
    }
  }
}

bool Server::serve(int socket) {
  std::array<mmsghdr, batch> messages{};
  std::array<iovec, batch> places;
  for (std::size_t at = 0; at < batch; ++at) {
    places[at] = {in_[at].data(), in_[at].size()};
    messages[at].msg_hdr = {&from_[at], sizeof from_[at], &places[at], 1, at_[at].data(), at_[at].size(), 0};
  }
  const int count = recvmmsg(socket, messages.data(), batch, MSG_DONTWAIT, nullptr);
  if (count <= 0) return false;
  const Nanoseconds now = read(CLOCK_BOOTTIME);
  out_.clear();
  std::array<mmsghdr, batch> responses{};
  std::array<std::size_t, batch + 1> ends{};
  unsigned responded = 0;
  for (std::size_t at = 0; at < static_cast<std::size_t>(count); ++at) {
    const msghdr &header = messages[at].msg_hdr;
    const Bytes source(reinterpret_cast<const std::uint8_t *>(&from_[at]), header.msg_namelen);
    gateway_->receive(Bytes(in_[at].data(), messages[at].msg_len), source, now, out_);
    if (out_.size() == ends[responded]) continue;
    responses[responded].msg_hdr = header; // with its control message: from the address that the host has spoken to
    anyInterface(responses[responded].msg_hdr);
    ends[++responded] = out_.size();
  }
  for (unsigned at = 0; at < responded; ++at) {
    places[at] = {out_.data() + ends[at], ends[at + 1] - ends[at]};
    responses[at].msg_hdr.msg_iov = &places[at];
    responses[at].msg_hdr.msg_flags = 0;
  }
  for (unsigned sent = 0; sent < responded;) {
    const int taken = sendmmsg(socket, responses.data() + sent, responded - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (taken > 0)
      sent += static_cast<unsigned>(taken);
    else
      counters_.unsent.add(), ++sent; // gone or full: the host asks again, nobody else waits
  }
  return static_cast<std::size_t>(count) == batch;
}

bool Server::signalled() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGHUP) {
      log_.write(Log::info, "stopping", "signal", info.ssi_signo);
      alarm(endLimit);
      return false;
    }
    reload();
  }
  return true;
}

void Server::restore() {
  if (config_.snapshot.empty()) return;
  auto bytes = readFile(config_.snapshot);
  if (const auto *reason = std::get_if<std::string>(&bytes)) return log_.write(Log::info, "fresh", "reason", *reason);
  const auto restored = gateway::restore(std::get<std::vector<std::uint8_t>>(bytes), Moment::read(), gateway_->store());
  if (const auto *reason = std::get_if<std::string>(&restored))
    return log_.write(Log::error, "not_restored", "reason", *reason);
  gateway_->forgetDenied();
  const auto &[prefixes, age] = std::get<Restored>(restored);
  counters_.restoredPrefixes.set(prefixes);
  // What was accepted after the snapshot is lost: at most the time since it was begun.
  log_.write(Log::info, "restored", "prefixes", prefixes, "lost_at_most_s", double(age) / double(second));
}

void Server::reload() {
  auto keys = Keys::read(config_.keys);
  if (const auto *reason = std::get_if<std::string>(&keys))
    return log_.write(Log::error, "keys_not_reloaded", "reason", *reason);
  log_.write(Log::info, "keys_reloaded", "keys", std::get<Keys>(keys).size());
  if (relay_) relay_->replaceKeys(std::get<Keys>(keys));
  gateway_->replaceKeys(std::move(std::get<Keys>(keys)));
}

} // namespace downbeat::gateway
