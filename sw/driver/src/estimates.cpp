// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "estimates.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include <dlfcn.h>
#include <sys/stat.h>

#include "downbeat_parameters.h"
#include "failure.h"

namespace downbeat {

namespace {

constexpr std::uint64_t flush = 50'000'000; // ns that a report waits for others to go with

const std::map<std::string, std::uint32_t> methods = {
    {"liss", DOWNBEAT_LISS}, {"js", DOWNBEAT_JS}, {"spand", DOWNBEAT_SPAND}, {"resume", DOWNBEAT_RESUME}};

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

downbeat_address addressOf(std::uint32_t ip) {
  downbeat_address address{};
  address.bytes[10] = address.bytes[11] = 0xff;
  for (int byte = 0; byte < 4; ++byte) address.bytes[12 + byte] = static_cast<std::uint8_t>(ip >> (24 - 8 * byte));
  return address;
}

template <typename Function> void find(void *library, const char *name, Function &place) {
  place = reinterpret_cast<Function>(dlsym(library, name));
  if (place == nullptr) throw Failure(DOWNBEAT_WRONG_VERSION, std::string("libdownbeat_site has no ") + name);
}

void *loaded() {
  const char *named = std::getenv("DOWNBEAT_SITE");
  void *library = dlopen(named != nullptr ? named : "libdownbeat_site.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Failure(DOWNBEAT_NOT_SUPPORTED, std::string("gateway= needs libdownbeat_site.so: make gateway, or set "
                                                      "DOWNBEAT_SITE to its path: ") +
                                              dlerror());
  decltype(&downbeat_site_abi) abi;
  find(library, "downbeat_site_abi", abi);
  if (abi() != DOWNBEAT_SITE_ABI)
    throw Failure(DOWNBEAT_WRONG_VERSION, "libdownbeat_site has interface " + std::to_string(abi()) +
                                              ", this library needs " + std::to_string(DOWNBEAT_SITE_ABI));
  return library;
}

std::map<std::string, std::string> split(const std::string &options) {
  std::map<std::string, std::string> found{{"gateway", ""}, {"key", ""}, {"estimate", "spand"}, {"wait", "0"}};
  std::istringstream words(options);
  for (std::string word; std::getline(words, word, ',');) {
    const auto equals = word.find('=');
    const auto place = found.find(word.substr(0, equals));
    if (equals == std::string::npos || place == found.end())
      throw Failure(DOWNBEAT_INVALID_ARGUMENT,
                    "'" + word +
                        "': use gateway=udp://HOST:PORT, key=FILE, estimate=liss, js, spand or resume, wait=MS");
    place->second = word.substr(equals + 1);
  }
  return found;
}

/// As the gateway's own file: its group may read it.
std::string readKey(const std::string &path) {
  std::ifstream file(path);
  struct stat state{};
  std::string key;
  if (stat(path.c_str(), &state) == 0 && (state.st_mode & (S_IWGRP | S_IRWXO)) != 0)
    throw Failure(DOWNBEAT_INVALID_ARGUMENT, "key=" + path + ": others may read or write it: chmod 640 " + path);
  if (!std::getline(file, key))
    throw Failure(DOWNBEAT_INVALID_ARGUMENT,
                  "key=" + path + ": use a file with the line of downbeat gateway keys issue");
  return key;
}

std::uint64_t millisecondsOf(const std::string &text) {
  constexpr std::uint64_t limit = 1000;
  const bool isNumber = !text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos;
  if (isNumber && std::stoull(text) <= limit) return std::stoull(text);
  throw Failure(DOWNBEAT_INVALID_ARGUMENT,
                "wait=" + text + ": use whole milliseconds, at most " + std::to_string(limit));
}

} // namespace

Estimates::Estimates(const std::string &options) {
  auto given = split(options);
  const auto method = methods.find(given["estimate"]);
  if (method == methods.end())
    throw Failure(DOWNBEAT_INVALID_ARGUMENT, "estimate=" + given["estimate"] + ": use liss, js, spand or resume");
  method_ = method->second;
  wait_ = millisecondsOf(given["wait"]) * 1'000'000;
  const std::string key = readKey(given["key"]);
  void *library = loaded();
  find(library, "downbeat_site_create", call_.create);
  find(library, "downbeat_site_destroy", call_.destroy);
  find(library, "downbeat_site_run", call_.run);
  find(library, "downbeat_site_open", call_.open);
  find(library, "downbeat_site_report", call_.report);
  find(library, "downbeat_site_close", call_.close);
  find(library, "downbeat_site_expect", call_.expect);
  find(library, "downbeat_site_request", call_.request);
  decltype(&downbeat_site_defaults) defaults;
  find(library, "downbeat_site_defaults", defaults);
  downbeat_estimator_options own;
  defaults(&own);
  const char *problem = nullptr;
  site_ = call_.create(&own, given["gateway"].c_str(), key.c_str(), flush, &problem);
  if (site_ == nullptr) throw Failure(DOWNBEAT_INVALID_ARGUMENT, std::string("gateway: ") + problem);
}

Estimates::~Estimates() { call_.destroy(site_); }

void Estimates::await(std::uint32_t ip) {
  const downbeat_address remote = addressOf(ip);
  if (wait_ != 0) call_.expect(site_, &remote, wait_);
}

downbeat_host_start Estimates::start(std::uint64_t name, std::uint32_t ip, std::uint64_t transferBytes,
                                     std::uint32_t mss, std::uint64_t coreTime, downbeat_estimate &estimate) {
  downbeat_start_request request{};
  request.remote = addressOf(ip);
  request.transfer_bytes = transferBytes;
  request.method = method_;
  request.segment_size = static_cast<std::uint16_t>(mss);
  downbeat_host_start start{};
  estimate = {};
  const std::uint64_t time = now();
  estimate.source = call_.request(site_, time, &request, &start);
  if (start.saved_window != 0 && !resumes_.try_emplace(ip, name).second) { // one at a time (RFC 9959 3.2)
    estimate.source = DOWNBEAT_SOURCE_NONE;
    start = {.initial_window = start.initial_window, .reason = "another connection uses the saved parameters"};
  }
  if (start.until != 0) {
    if (coreTime == 0 && coreTime_ != 0) coreTime = coreTime_ + (time - coreTimeAt_);
    const auto ofCore = [&](std::uint64_t then) { return (coreTime + (then - time)) & coreTimeMask; };
    start.until = coreTime != 0 ? ofCore(start.until) : 0;
    if (start.miss_rate != 0) start.miss_next = ofCore(start.miss_next);
    if (coreTime == 0) start.miss_rate = 0; // MISS without a clock of the core is LISS
  }
  std::memcpy(estimate.reason, start.reason, sizeof estimate.reason);
  estimate.initial_window = start.initial_window;
  estimate.ssthresh = start.ssthresh;
  estimate.gap = start.gap;
  estimate.bucket = start.pace == DOWNBEAT_PACE_BUCKET;
  return start;
}

void Estimates::report(std::uint64_t name, std::uint32_t ip, const downbeat_path_report &report) {
  const std::uint64_t time = now();
  const downbeat_address remote = addressOf(ip);
  coreTime_ = report.time;
  coreTimeAt_ = time;
  PathCounts &counts = open_[name];
  if (!counts.begun()) call_.open(site_, time, name, &remote);
  call_.report(site_, time, name, &remote, &counts.take(report, time));
}

void Estimates::closed(std::uint64_t name, std::uint32_t ip) {
  if (const auto found = resumes_.find(ip); found != resumes_.end() && found->second == name) resumes_.erase(found);
  if (open_.erase(name) != 0) call_.close(site_, now(), name);
}

} // namespace downbeat
