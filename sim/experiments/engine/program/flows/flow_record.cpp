// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "flow_record.h"

#include <algorithm>

FlowRecord::FlowRecord(const FlowPlan &plan, const Marks &marks) : plan_(plan), marks_(marks) {}

void FlowRecord::established(double now) {
  established_ = since_ = now;
  begin_ = std::max(begin_, now);
}

void FlowRecord::progress(double now, std::uint64_t bytes) {
  // Bytes that are acknowledged at the very instant of a mark are within it.
  while (atMarks_.size() < marks_.times.size() &&
         now > established_ + static_cast<double>(marks_.times[atMarks_.size()]) / 1e9)
    atMarks_.push_back(total_);
  total_ += bytes;
  while (atSizes_.size() < marks_.sizes.size() && total_ >= marks_.sizes[atSizes_.size()])
    atSizes_.push_back(now - established_);
  counted_ += bytes;
  sinceLoss_ += bytes;
  toCover_ -= std::min(toCover_, bytes);
  while (done_.size() < begun_.size() && total_ >= due_ + plan_.writes[done_.size()].bytes) {
    due_ += plan_.writes[done_.size()].bytes;
    done_.push_back(now);
  }
}

void FlowRecord::window(double now, double segments) {
  account(now);
  window_ = segments;
}

void FlowRecord::sample(double seconds) {
  rttSum_ += seconds;
  smallestRtt_ = rtts_++ == 0 ? seconds : std::min(smallestRtt_, seconds);
}

void FlowRecord::loss(double, std::uint64_t flight, bool timeout) {
  timeouts += timeout;
  if (timeout && toCover_ != 0) return;
  ++losses;
  if (lossSeen_) intervals_.push_back(static_cast<double>(sinceLoss_) / segmentSize);
  lossSeen_ = true;
  sinceLoss_ = 0;
  toCover_ = flight;
}

void FlowRecord::exit(double now, const char *reason, double before, double after) {
  exitReason_ = reason;
  exitTime_ = now - established_;
  exitBefore_ = before;
  exitAfter_ = after;
}

void FlowRecord::estimated(double segments) {
  if (firstEstimate_ == 0) firstEstimate_ = segments;
  lastEstimate_ = segments;
}

void FlowRecord::measured(double now, double capacity, double available) {
  if (!capacities_.empty() && capacities_.back() == capacity && availables_.back() == available) return;
  measuredAt_.push_back(now - established_);
  capacities_.push_back(capacity);
  availables_.push_back(available);
}

void FlowRecord::sent(double now, std::uint64_t first, std::uint32_t bytes) {
  if (plan_.trace) trace_.sent.push_back({now - established_, static_cast<double>(first), static_cast<double>(bytes)});
}

void FlowRecord::acknowledged(double now) {
  if (plan_.trace) trace_.acks.push_back({now - established_, static_cast<double>(total_)});
}

void FlowRecord::gap(double departure, double arrival) {
  if (plan_.trace) trace_.gaps.push_back({departure, arrival});
}

void FlowRecord::rates(double now, double bwe, double ere, double window) {
  if (plan_.trace) trace_.rates.push_back({now - established_, bwe, ere, window});
}

bool FlowRecord::over(double now) {
  if (ended_ < 0) ended_ = now, account(now);
  return true;
}

void FlowRecord::begin(double now) {
  begin_ = since_ = now;
  windowSeconds_ = rttSum_ = 0;
  segmentsBefore_ += segments;
  received = segments = retransmissions = timeouts = losses = rtts_ = counted_ = 0;
  intervals_.clear();
}

void FlowRecord::account(double now) {
  if (established_ < 0 || now <= since_ || (ended_ >= 0 && now > ended_)) return;
  windowSeconds_ += window_ * (now - since_);
  since_ = now;
}

void FlowRecord::print(Json &json) const {
  const double seconds = std::max(since_ - begin_, 0.0);
  // The later marks of a connection that ended early have all that it sent.
  std::vector<std::uint64_t> marks = atMarks_;
  marks.resize(marks_.times.size(), total_);
  json.open('{');
  json.field("label", plan_.label);
  json.field("failure", failure);
  json.field("opened", opened_);
  json.field("established", established_);
  json.field("seconds", seconds);
  json.field("segment_size", segmentSize);
  json.field("acknowledged", counted_);
  json.field("total", total_);
  json.field("received", received);
  json.field("at_marks", marks);
  json.field("at_sizes", atSizes_);
  json.field("window", seconds > 0 ? windowSeconds_ / seconds : 0.0);
  json.field("rtt", rtts_ ? rttSum_ / static_cast<double>(rtts_) : 0.0);
  json.field("smallest_rtt", smallestRtt_);
  json.field("segments", segments);
  json.field("retransmissions", retransmissions);
  json.field("losses", losses);
  json.field("timeouts", timeouts);
  json.field("intervals", intervals_);
  json.field("exit", exitReason_);
  json.field("exit_time", exitTime_);
  json.field("exit_before", exitBefore_);
  json.field("exit_after", exitAfter_);
  json.field("estimate", firstEstimate_);
  json.field("last_estimate", lastEstimate_);
  json.field("measured_at", measuredAt_);
  json.field("capacities", capacities_);
  json.field("availables", availables_);
  json.field("begun", begun_);
  json.field("done", done_);
  json.field("start_reason", startReason);
  json.field("start_window", startWindow);
  json.field("start_ssthresh", startSsthresh);
  json.field("start_jump", startJump);
  if (plan_.trace) {
    json.name("trace");
    json.open('{');
    json.field("sent", trace_.sent);
    json.field("acks", trace_.acks);
    json.field("gaps", trace_.gaps);
    json.field("rates", trace_.rates);
    json.close('}');
  }
  json.close('}');
}
