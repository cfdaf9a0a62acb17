// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "site.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>

#include "wire/start.h"

namespace downbeat::gateway {
namespace {

constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}; // RFC 4291, 2.5.5.2
constexpr double fixedPoint = 65536;
constexpr Nanoseconds farewell = 200 * millisecond; // for the reports of a program that ends

std::uint64_t random64() {
  std::uint64_t value;
  randombytes_buf(&value, sizeof value);
  return value;
}

double seconds(std::uint64_t nanoseconds) { return double(nanoseconds) / double(second); }

} // namespace

Site::Site(const downbeat_estimator_options &options)
    : options_(options), estimator_(downbeat_estimator_create(&options, nullptr)) {
  if (!estimator_) return;
  const auto callback = [](void *self, const downbeat_learned *learned) {
    static_cast<Site *>(self)->learned(*learned);
  };
  downbeat_estimator_observe(estimator_.get(), callback, this);
}

std::string Site::connect(const std::string &uri, const std::string &key, Nanoseconds flush) {
  if (!startCrypto()) return "libsodium cannot start";
  auto peer = Peer::open(uri);
  if (const auto *reason = std::get_if<std::string>(&peer)) return *reason;
  auto parsed = HostKey::parse(key);
  if (const auto *reason = std::get_if<std::string>(&parsed)) return *reason;
  peer_ = std::move(std::get<Peer>(peer));
  client_ = std::make_unique<Client>(std::get<HostKey>(parsed), random64, ClientOptions{.flush = flush});
  run();
  return "";
}

void Site::run() {
  if (!client_) return;
  std::array<std::uint8_t, maxBytes + 1> bytes;
  for (ssize_t size; (size = recv(peer_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT)) >= 0;)
    client_->receive(Bytes(bytes).first(static_cast<std::size_t>(size)), read(CLOCK_BOOTTIME));
  for (const auto &datagram : client_->due(read(CLOCK_BOOTTIME))) peer_.send(datagram);
}

void Site::serve(Nanoseconds timeout, const std::function<bool()> &done) {
  const Nanoseconds end = read(CLOCK_BOOTTIME) + timeout;
  for (run(); !done(); run()) {
    const Nanoseconds left = end - read(CLOCK_BOOTTIME);
    if (left <= 0) return;
    const timespec limit{static_cast<time_t>(left / second), static_cast<long>(left % second)};
    pollfd response{peer_.descriptor(), POLLIN, 0};
    if (ppoll(&response, 1, &limit, nullptr) < 0 && errno != EINTR) return;
  }
}

Prefix Site::prefixOf(const downbeat_address &remote) const {
  Prefix prefix;
  const bool four = std::equal(mapped.begin(), mapped.end(), remote.bytes);
  prefix.family = four ? 4 : 6;
  const std::uint32_t bits = four ? std::min(options_.prefix_bits, 32u) : std::min(options_.prefix_bits_v6, 128u);
  prefix.length = static_cast<std::uint8_t>(std::max<std::uint32_t>(bits, Prefix::shortest));
  const std::uint8_t *bytes = remote.bytes + (four ? mapped.size() : 0);
  for (unsigned bit = 0; bit < prefix.length; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80 >> bit % 8);
    prefix.address[bit / 8] |= bytes[bit / 8] & mask;
  }
  return prefix;
}

void Site::learned(const downbeat_learned &learned) {
  if (!client_) return;
  const Prefix prefix = prefixOf(learned.remote);
  const double ratio = learned.saved ? 1 : segmentsPerAck(prefix, learned);
  Report report{.prefix = prefix,
                .kind = learned.saved ? Kind::saved : Kind::transfer,
                .window = std::clamp(double(learned.window), 1.0, maxWindow),
                .rtt = std::clamp(seconds(learned.round_trip), minRtt, maxRtt),
                .acked = std::clamp(ratio, 1.0, maxAcked)};
  if (learned.saved) report.acked = 0;
  client_->report(report, read(CLOCK_BOOTTIME));
}

// The gateway takes the mean of a host's reports; a host takes all segments by all ACKs. So a report says what makes
// the mean of this host's reports its own number.
double Site::segmentsPerAck(const Prefix &prefix, const downbeat_learned &learned) {
  downbeat_prefix_state state;
  if (!downbeat_estimator_prefix(estimator_.get(), learned.time, &learned.remote, &state)) return 2;
  if (acked_.size() >= options_.prefixes) acked_.clear();
  Acked &before = acked_[prefix];
  const double own = double(state.acks_ratio) / 256;
  if (state.spand_reports != before.reports + 1) before.sum = own * (state.spand_reports - 1.0); // some are too old
  const double reported = std::clamp(own * state.spand_reports - before.sum, 1.0, maxAcked);
  before = {state.spand_reports, before.sum + reported};
  return reported;
}

void Site::tellState(std::uint64_t now, const Open &open) {
  downbeat_prefix_state state;
  if (!client_ || !open.segmentSize || !downbeat_estimator_prefix(estimator_.get(), now, &open.remote, &state)) return;
  const double size = open.segmentSize;
  const ReportedState reported{.steady = std::min(double(state.steady), maxSteady),
                               .slow = std::min(double(state.starting_sum) / fixedPoint * size, maxWindow),
                               .window = std::clamp(double(state.oldest_window) / fixedPoint * size, 1.0, maxWindow)};
  const Prefix prefix = prefixOf(open.remote);
  if (reported_.size() >= options_.prefixes) reported_.clear();
  if (ReportedState &before = reported_[prefix]; before == reported)
    return;
  else
    before = reported;
  client_->report({.prefix = prefix,
                   .kind = Kind::state,
                   .window = reported.window,
                   .steady = reported.steady,
                   .slow = reported.slow},
                  read(CLOCK_BOOTTIME));
}

downbeat_cause Site::open(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote) {
  const downbeat_cause cause = downbeat_estimator_open(estimator_.get(), now, connection, &remote);
  if (cause == DOWNBEAT_CAUSE_NONE) opened_[connection] = {remote, 0};
  run();
  return cause;
}

downbeat_cause Site::report(std::uint64_t now, std::uint64_t connection, const downbeat_address &remote,
                            const downbeat_path_report &report) {
  const downbeat_cause cause = downbeat_estimator_report(estimator_.get(), now, connection, &remote, &report);
  if (const auto open = opened_.find(connection); cause == DOWNBEAT_CAUSE_NONE && open != opened_.end()) {
    open->second.segmentSize = report.segment_size;
    tellState(now, open->second);
  }
  run();
  return cause;
}

downbeat_cause Site::close(std::uint64_t now, std::uint64_t connection) {
  const downbeat_cause cause = downbeat_estimator_close(estimator_.get(), now, connection);
  if (const auto open = opened_.find(connection); open != opened_.end()) {
    tellState(now, open->second);
    opened_.erase(open);
  }
  run();
  return cause;
}

bool Site::expect(const downbeat_address &remote, Nanoseconds timeout) {
  if (!client_) return false;
  const Prefix prefix = prefixOf(remote);
  if (client_->request(prefix, read(CLOCK_BOOTTIME))) return true;
  serve(timeout, [&] { return client_->hasResponse(prefix); });
  return client_->request(prefix, read(CLOCK_BOOTTIME)).has_value();
}

void Site::finish() {
  if (!client_) return;
  client_->hurry();
  serve(farewell, [this] { return !client_->hasReports(); });
}

downbeat_source Site::request(std::uint64_t now, const downbeat_start_request &request, downbeat_host_start &start) {
  const auto response = client_ ? client_->request(prefixOf(request.remote), read(CLOCK_BOOTTIME)) : std::nullopt;
  downbeat_source source = DOWNBEAT_SOURCE_GATEWAY;
  if (!response || !startBy(*response, options_, now, request, start)) {
    downbeat_estimator_request(estimator_.get(), now, &request, &start);
    source = start.known ? DOWNBEAT_SOURCE_OWN : DOWNBEAT_SOURCE_NONE;
  }
  ++starts_[source];
  run();
  return source;
}

downbeat_site_status Site::status() const {
  downbeat_site_status status{};
  status.none = starts_[DOWNBEAT_SOURCE_NONE];
  status.own = starts_[DOWNBEAT_SOURCE_OWN];
  status.gateway = starts_[DOWNBEAT_SOURCE_GATEWAY];
  if (!client_) return status;
  const ClientCounters &counters = client_->counters();
  status.connected = client_->connected();
  status.reports = counters.reportsSent;
  status.reports_dropped = counters.reportsDropped;
  status.queries = counters.queriesSent;
  status.answers = counters.responses;
  status.refused = counters.refused;
  return status;
}

} // namespace downbeat::gateway
