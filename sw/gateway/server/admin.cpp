// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "admin.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace downbeat::gateway {
namespace {

constexpr Nanoseconds visit = 2 * second;
constexpr std::size_t maxVisitors = 32, maxRequest = 2048;

std::string response(const char *status, const std::string &body) {
  return std::string("HTTP/1.0 ") + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

void watch(int epoll, int descriptor, std::uint32_t events, int how) {
  epoll_event event{.events = events, .data = {.fd = descriptor}};
  epoll_ctl(epoll, how, descriptor, &event);
}

} // namespace

void Admin::listen(Descriptor socket, bool healthOnly) {
  const int descriptor = socket.get();
  watch(epoll_, descriptor, EPOLLIN, EPOLL_CTL_ADD);
  listeners_.emplace(descriptor, std::pair(std::move(socket), healthOnly));
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

void Admin::accept(int listener, bool healthOnly, Nanoseconds now) {
  Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket || visitors_.size() >= maxVisitors) return;
  const int descriptor = socket.get();
  watch(epoll_, descriptor, EPOLLIN, EPOLL_CTL_ADD);
  visitors_.emplace(descriptor, Visitor{std::move(socket), healthOnly, now + visit, {}, {}});
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
    const bool allowed = !visitor.healthOnly || target == "/health";
    const bool found = get && allowed && pages_.response(target, now, body);
    visitor.out = found ? response("200 OK", body)
                        : response("404 Not Found", R"({"error":"use GET /health, /show, /top or /explain"})");
    watch(epoll_, descriptor, EPOLLOUT, EPOLL_CTL_MOD);
  }
  const ssize_t sent = send(descriptor, visitor.out.data(), visitor.out.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno != EAGAIN;
  visitor.out.erase(0, static_cast<std::size_t>(sent));
  return visitor.out.empty();
}

} // namespace downbeat::gateway
