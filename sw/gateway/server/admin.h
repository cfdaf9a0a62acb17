// SPDX-License-Identifier: BSD-2-Clause-Patent
// Requests of people: HTTP/1.0 GET with JSON, on a Unix socket; health and Prometheus's counters on ports of their own.
// A connection has two seconds, a request 2 KiB, a response 1,000 rows, and each listener 16 connections, of which the
// oldest makes place for a new one: nobody who looks, or is silent, holds up others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config.h"
#include "gateway.h"
#include "wire/socket.h"

namespace downbeat::gateway {

enum class Serves { all, health, metrics };

/// The responses, without sockets. `target` is "/explain?prefix=192.0.2.0/24&bytes=30000"; false: no such page.
class Pages {
public:
  Pages(Gateway &gateway, const Counters &counters, const Config &config, Nanoseconds start)
      : gateway_(gateway), counters_(counters), config_(config), start_(start) {}

  bool response(Serves serves, const std::string &target, Nanoseconds now, std::string &body) const;
  std::string health(Nanoseconds now) const;

private:
  std::string show(std::size_t max, Nanoseconds now) const;
  std::string top(std::size_t max, Nanoseconds now) const;
  std::string explain(const std::map<std::string, std::string> &query, Nanoseconds now) const;

  Gateway &gateway_;
  const Counters &counters_;
  const Config &config_;
  Nanoseconds start_;
};

/// The connections. The server's loop calls it when one of its descriptors is ready.
class Admin {
public:
  Admin(Pages pages, int epoll) : pages_(std::move(pages)), epoll_(epoll) {}

  void listen(Descriptor socket, Serves serves);
  bool owns(int descriptor) const { return listeners_.contains(descriptor) || visitors_.contains(descriptor); }
  void ready(int descriptor, Nanoseconds now);
  void expire(Nanoseconds now);

private:
  struct Visitor {
    Descriptor socket;
    Serves serves = Serves::all; // each has one listener
    Nanoseconds until = 0;
    std::string in, out;
  };

  void accept(int listener, Serves serves, Nanoseconds now);
  bool serve(Visitor &visitor, Nanoseconds now); // true: it is done

  Pages pages_;
  int epoll_;
  std::map<int, std::pair<Descriptor, Serves>> listeners_;
  std::map<int, Visitor> visitors_;
};

} // namespace downbeat::gateway
