// SPDX-License-Identifier: BSD-2-Clause-Patent
// One file over a dumbbell of ns-3, from the Verilated core or from ns-3's own TCP, to ns-3's TCP.
//
// Writes events.csv, series.csv, received.bin and result.json into --out; progress goes to stderr as lines
// "progress BYTES SECONDS". Exit status 0: all bytes arrived and both sides closed; 2: it stalled or failed;
// result.json says how.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <ns3/simulator.h>

#include "core_sender.h"
#include "dumbbell.h"
#include "options.h"
#include "recorder.h"
#include "reno_sender.h"
#include "taps.h"

using namespace ns3;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto progressInterval = std::chrono::milliseconds(100);
constexpr int samplesPerRtt = 4;
constexpr double stallSeconds = 130; // virtual, without a byte or a frame: twice the largest RTO

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Watches the transfer and ends the simulation. A sender that backs off decides itself when it gives up (RFC
/// 9293 3.8.3).
class Run {
public:
  Run(const Options &options, Dumbbell &path, Sender &sender, std::uint64_t size)
      : options_(options),
        path_(path),
        sender_(sender),
        size_(size),
        series_(std::filesystem::path(options.out) / "series.csv", header),
        received_(std::filesystem::path(options.out) / "received.bin", std::ios::binary) {
    path_.sink()->TraceConnectWithoutContext(
        "Rx", Callback<void, Ptr<const Packet>, const Address &>(
                  [this](Ptr<const Packet> packet, const Address &) { receive(packet); }));
  }

  int go(std::vector<std::uint8_t> file) {
    wallStart_ = Clock::now();
    sender_.start(std::move(file));
    sample();
    if (!sender_.failure()) Simulator::Run();
    if (failure_.empty() && sender_.failure()) failure_ = *sender_.failure();
    if (failure_.empty() && bytes_ < size_)
      failure_ = "nothing is left to happen: no event in ns-3, no deadline in the core";
    wallSeconds_ = secondsSince(wallStart_);
    progress();
    received_.close();
    writeResult();
    return failure_.empty() ? 0 : 2;
  }

private:
  static constexpr const char *header = "time_ns,received_bytes,queue_bytes,drops,losses";

  void receive(Ptr<const Packet> packet) {
    buffer_.resize(packet->GetSize());
    packet->CopyData(buffer_.data(), packet->GetSize());
    received_.write(reinterpret_cast<const char *>(buffer_.data()), packet->GetSize());
    const std::uint64_t before = bytes_;
    bytes_ += packet->GetSize();
    lastProgress_ = Simulator::Now();
    if (before < size_ / 2 && bytes_ >= size_ / 2) halfTime_ = lastProgress_, halfBytes_ = bytes_;
    if (before < size_ && bytes_ >= size_) finished();
  }

  void finished() {
    finishTime_ = Simulator::Now();
    transferWallSeconds_ = secondsSince(wallStart_);
    // The receiver closes too, and the sender is to end orderly; FIN and its answers need a round trip.
    Simulator::Schedule(MilliSeconds(1), [this] {
      for (const auto &socket : path_.sink()->GetAcceptedSockets()) socket->Close();
    });
  }

  void sample() {
    const Time now = Simulator::Now();
    series_.row("%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", now.GetNanoSeconds(), bytes_,
                path_.queueBytes(), path_.queueDrops, path_.randomLosses);
    if (Clock::now() - lastReport_ > progressInterval) progress();
    if (bytes_ >= size_ && sender_.closed()) return Simulator::Stop();
    if (const std::uint64_t sent = sender_.sent(); sent != sent_) sent_ = sent, lastSent_ = now;
    if (sender_.failure())
      failure_ = *sender_.failure();
    else if ((now - std::max(lastProgress_, lastSent_)).GetSeconds() > stallSeconds)
      failure_ = bytes_ < size_ ? "for " + std::to_string(static_cast<int>(stallSeconds)) +
                                      " virtual seconds no byte arrived and nothing was sent"
                                : "all bytes arrived, but the connection does not close";
    else if (secondsSince(wallStart_) > options_.wallLimit)
      failure_ = "not done within " + std::to_string(static_cast<int>(options_.wallLimit)) + " s of wall time";
    if (!failure_.empty()) return Simulator::Stop();
    Simulator::Schedule(NanoSeconds(static_cast<std::int64_t>(options_.rtt / samplesPerRtt)), &Run::sample, this);
  }

  void progress() {
    lastReport_ = Clock::now();
    std::fprintf(stderr, "progress %" PRIu64 " %.3f\n", bytes_, Simulator::Now().GetSeconds());
  }

  void writeResult() {
    const SenderReport report = sender_.report();
    std::ofstream out(std::filesystem::path(options_.out) / "result.json");
    out << "{\n  \"failure\": \"" << failure_ << "\",\n  \"bytes\": " << bytes_ << ",\n  \"half_bytes\": " << halfBytes_
        << ",\n  \"half_time_ns\": " << halfTime_.GetNanoSeconds()
        << ",\n  \"finish_time_ns\": " << finishTime_.GetNanoSeconds() << ",\n  \"queue_drops\": " << path_.queueDrops
        << ",\n  \"random_losses\": " << path_.randomLosses << ",\n  \"segments\": " << report.segments
        << ",\n  \"retransmissions\": " << report.retransmissions << ",\n  \"wall_seconds\": " << wallSeconds_
        << ",\n  \"transfer_wall_seconds\": " << transferWallSeconds_
        << ",\n  \"core_wall_seconds\": " << report.wallSeconds << ",\n  \"rtt_ms\": [";
    for (std::size_t i = 0; i < report.rttSamples.size(); ++i) out << (i != 0 ? "," : "") << report.rttSamples[i];
    out << "],\n  \"sender\": {";
    const char *separator = "";
    for (const auto &[name, value] : report.details)
      out << std::exchange(separator, ", ") << '"' << name << "\": \"" << value << '"';
    out << "},\n  \"settings\": {";
    separator = "";
    for (const auto &[name, value] : path_.settings())
      out << std::exchange(separator, ", ") << '"' << name << "\": \"" << value << '"';
    out << "}\n}\n";
  }

  const Options &options_;
  Dumbbell &path_;
  Sender &sender_;
  std::uint64_t size_;
  TextFile series_;
  std::ofstream received_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t bytes_ = 0, halfBytes_ = 0;
  std::uint64_t sent_ = 0;
  Time lastProgress_, lastSent_, halfTime_, finishTime_;
  Clock::time_point wallStart_, lastReport_;
  double wallSeconds_ = 0, transferWallSeconds_ = 0;
  std::string failure_;
};

} // namespace

int main(int count, char **arguments) {
  const Options options = Options::parse(count, arguments);
  std::ifstream in(options.file, std::ios::binary);
  std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(in), {}};
  if (file.empty()) return std::cerr << "downbeat_sim: --file=" << options.file << ": cannot be read, or is empty\n", 1;
  const bool core = options.sender == "core";
  TextFile events(std::filesystem::path(options.out) / "events.csv",
                  core ? CoreSender::eventsHeader : RenoSender::eventsHeader);
  if (!events) return std::cerr << "downbeat_sim: --out=" << options.out << ": cannot be written\n", 1;

  Dumbbell path(options);
  std::unique_ptr<Taps> taps;
  if (core && !options.pcap.empty()) taps = std::make_unique<Taps>(options.pcap, options, path);
  if (taps && !*taps) return std::cerr << "downbeat_sim: --pcap=" << options.pcap << ": cannot be written\n", 1;
  std::unique_ptr<Sender> sender;
  if (core)
    sender = std::make_unique<CoreSender>(options, path, events, taps.get());
  else
    sender = std::make_unique<RenoSender>(options, path, events);
  Run run(options, path, *sender, file.size());
  const int status = run.go(std::move(file));
  Simulator::Destroy();
  return status;
}
