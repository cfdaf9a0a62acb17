// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Verilated core: its pins, its evaluation, its waves. The only file that knows Verilator's names.
#pragma once

#include <memory>
#include <string>

#include <verilated.h>
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

#include "Vdownbeat.h"
#include "Vdownbeat___024root.h"
#include "types.h"

/// Parts of Verilator's public eval(); not with threads or classes in the design, and after one eval() that
/// initialises. eval() itself takes mutexes and queues messages, and it settles the logic behind the inputs at the
/// clock's edge again, where no input but the clock has changed: the edge alone is its triggers (act) and what they set
/// going (nba).
void Vdownbeat___024root___eval(Vdownbeat___024root *);
bool Vdownbeat___024root___eval_phase__act(Vdownbeat___024root *);
bool Vdownbeat___024root___eval_phase__nba(Vdownbeat___024root *);

namespace downbeat {

using Pins = Vdownbeat___024root;

class Model {
public:
  /// `initialValues`: seed of what registers and memories hold before the reset, in a build that draws them; 0: zeros.
  explicit Model(std::uint32_t initialValues) : top_(make(context_, initialValues)), pins(*top_->rootp) {
    top_->eval();
  }
  ~Model() {
    endWaves();
    top_->final();
  }

  /// Combinational outputs follow the inputs; the clock is low.
  void settle(Stamp now) {
    pins.now = now;
    pins.clk = 0;
    evaluate();
    dump(halfPeriodBefore(now));
  }
  /// The rising edge. Outputs are those of the new state.
  void edge() {
    pins.clk = 1;
    evaluateEdge();
    dump(pins.now);
  }

  /// False: this build has no waves.
  bool startWaves(const std::string &path);
  void endWaves();

private:
  VerilatedContext context_;
  std::unique_ptr<Vdownbeat> top_;

public:
  Pins &pins;

private:
  /// Verilator draws while it constructs.
  static std::unique_ptr<Vdownbeat> make(VerilatedContext &context, std::uint32_t initialValues) {
    context.randReset(initialValues != 0 ? 2 : 0);
    if (initialValues != 0) context.randSeed(static_cast<int>(initialValues & INT32_MAX));
    return std::make_unique<Vdownbeat>(&context);
  }
  static Stamp halfPeriodBefore(Stamp now) { return now - clockPeriod / 2; }

#if VM_TRACE_FST
  void evaluate() { top_->eval(); }
  void evaluateEdge() { top_->eval(); }
  void dump(Stamp time) {
    if (waves_) waves_->dump(time >> 16);
  }
  std::unique_ptr<VerilatedFstC> waves_;
#else
  void evaluate() { Vdownbeat___024root___eval(&pins); }
  void evaluateEdge() {
    Vdownbeat___024root___eval_phase__act(&pins);
    Vdownbeat___024root___eval_phase__nba(&pins);
  }
  void dump(Stamp) {}
#endif
};

} // namespace downbeat
