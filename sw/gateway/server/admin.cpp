// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "admin.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace downbeat::gateway {
namespace {

constexpr Nanoseconds visit = 2 * second;
constexpr std::ptrdiff_t maxVisitors = 16; // per listener
constexpr std::size_t maxRequest = 2048;

std::string response(const char *status, const char *type, const std::string &body) {
  return std::string("HTTP/1.0 ") + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

void watch(int epoll, int descriptor, std::uint32_t events, int how) {
  epoll_event event{.events = events, .data = {.fd = descriptor}};
  epoll_ctl(epoll, how, descriptor, &event);
}

} // namespace

void Admin::listen(Descriptor socket, Serves serves) {
  const int descriptor = socket.get();
  watch(epoll_, descriptor, EPOLLIN, EPOLL_CTL_ADD);
  listeners_.emplace(descriptor, std::pair(std::move(socket), serves));
}

void Admin::ready(int descriptor, Nanoseconds now) {
  if (const auto listener = listeners_.find(descriptor); listener != listeners_.end())
    return accept(descriptor, listener->second.second, now);
  const auto visitor = visitors_.find(descriptor);
  if (visitor != visitors_.end() && serve(visitor->second, now)) visitors_.erase(visitor);
}

void Admin::expire(Nanoseconds now) {
  std::erase_if(visitors_, [&](const auto &each) { return each.second.until < now; });
}

void Admin::accept(int listener, Serves serves, Nanoseconds now) {
  Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) return;
  const auto of = [&](const auto &each) { return each.second.serves == serves; };
  if (std::ranges::count_if(visitors_, of) >= maxVisitors) {
    auto oldest = std::ranges::find_if(visitors_, of);
    for (auto each = oldest; each != visitors_.end(); ++each)
      if (of(*each) && each->second.until < oldest->second.until) oldest = each;
    visitors_.erase(oldest);
  }
  const int descriptor = socket.get();
  watch(epoll_, descriptor, EPOLLIN, EPOLL_CTL_ADD);
  visitors_.emplace(descriptor, Visitor{std::move(socket), serves, now + visit, {}, {}});
}

bool Admin::serve(Visitor &visitor, Nanoseconds now) {
  const int descriptor = visitor.socket.get();
  if (visitor.out.empty()) {
    char buffer[512];
    const ssize_t size = recv(descriptor, buffer, sizeof buffer, 0);
    if (size <= 0) return size == 0 || errno != EAGAIN;
    visitor.in.append(buffer, static_cast<std::size_t>(size));
    if (visitor.in.size() > maxRequest) return true;
    if (visitor.in.find("\r\n\r\n") == std::string::npos) return false;
    const auto end = visitor.in.find(' ', 4);
    const bool get = visitor.in.starts_with("GET /") && end != std::string::npos;
    const std::string target = get ? visitor.in.substr(4, end - 4) : "";
    std::string body;
    const bool found = get && pages_.response(visitor.serves, target, now, body);
    const char *type = visitor.serves == Serves::metrics ? "text/plain; version=0.0.4" : "application/json";
    visitor.out = found ? response("200 OK", type, body)
                        : response("404 Not Found", "application/json",
                                   R"({"error":"use GET /health, /show, /top or /explain"})");
    watch(epoll_, descriptor, EPOLLOUT, EPOLL_CTL_MOD);
  }
  const ssize_t sent = send(descriptor, visitor.out.data(), visitor.out.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno != EAGAIN;
  visitor.out.erase(0, static_cast<std::size_t>(sent));
  return visitor.out.empty();
}

} // namespace downbeat::gateway
