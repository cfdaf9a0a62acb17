// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.{Downbeat, DownbeatAxi, DownbeatGmii, DownbeatHost, DownbeatHostGmii, DownbeatXgmii, HeaderTap}
import downbeat.application.{CommandPort, Notifier}
import downbeat.bench.{
  BenchFifo, BenchShapes, CalculationBench, CongestionBench, DeliveryBench, FmaxHarness, GapBench, LayoutBench,
  MacOnOneClock, MemoryBench, PolicyBench, ProportionalRateBench, RecoveryBench, ScoreboardBench, SecdedBench,
  TimeBench, WireBench
}
import downbeat.board.{Board, BoardTop, CaptureStore, ProbeBoard, TrafficBoard, UartBoneBench}
import downbeat.calculation.{
  Calculators, Divider, Exponential, InlineMeasurement, LogisticCalculator, LogisticUnit, RateEstimate
}
import downbeat.config.DownbeatConfig
import downbeat.congestion.Policy
import downbeat.engine.FlowEngine
import downbeat.flow.{FlowDirectory, SipHash, TupleHasher}
import downbeat.host.HostInterface
import downbeat.mac.{EthernetMac, LaunchGate, Slew, TimeBase, WireRate, WireTime, XgmiiReceiver, XgmiiTransmitter}
import downbeat.memory.{
  BurstReader, BurstWriter, MemoryArbiter, PayloadMemory, PlacementWriter, ReceiveBuffer, SendBuffer
}
import downbeat.neighbour.Neighbour
import downbeat.pacing.{Pacer, PacerSchedule, Timers, TournamentTree}
import downbeat.registers.RegisterMap
import downbeat.rx.{Receiver, SegmentParser}
import downbeat.tx.Transmitter
import spinal.core.{ClockDomain, Component}

/** Every component that is elaborated into a Verilog file of its own: one line each, named as the file will be. */
object Modules {
  private def hosted(config: DownbeatConfig) = config.copy(externalMemory = true, hostPorts = config.hostPorts max 2)

  private val own: Map[String, DownbeatConfig => Component] = Map(
    "Downbeat" -> (Downbeat(_)),
    "DownbeatExternalMemory" -> (config => Downbeat(config.copy(externalMemory = true))),
    "DownbeatEcc" -> (config => Downbeat(config.copy(ecc = true))),
    "DownbeatAxi" -> (DownbeatAxi(_)),
    "DownbeatGmii" -> (DownbeatGmii(_)),
    "DownbeatXgmii" -> (DownbeatXgmii(_)),
    "DownbeatHost" -> (config => DownbeatHost(hosted(config))),
    "DownbeatHostGmii" -> (config => DownbeatHostGmii(hosted(config))),
    "HostInterface" -> (config => HostInterface(hosted(config))),
    "HeaderTap" -> (HeaderTap(_)),
    "RegisterMap" -> (config => RegisterMap(config, withMac = true)),
    "RegisterMapDraining" -> (config => RegisterMap(config.copy(externalMemory = true), withMac = true)),
    "BenchFifo" -> (_ => new BenchFifo),
    "BenchShapes" -> (_ => new BenchShapes),
    "FmaxBenchFifo" -> (_ => new FmaxHarness(new BenchFifo)),
    "FlowEngine" -> (FlowEngine(_)),
    "FlowEngineCounted" -> (config => FlowEngine(config.copy(stageCounters = true))),
    "CalculatorLogisticSpaced" -> (config => LogisticCalculator.build(config.copy(eventSpacing = config.flowSpacing))),
    "CalculatorInlinemeasurement" -> (InlineMeasurement.build(_)),
    "CalculatorRateestimate" -> (RateEstimate.build(_)),
    "CalculatorsOfBench" -> (config => Calculators(CalculationBench.config(config))),
    "FlowEngineCalculating" -> (config => FlowEngine(CalculationBench.config(config))),
    "FlowEngineSpaced" -> (config => FlowEngine(config.copy(stageCounters = true, eventSpacing = config.flowSpacing))),
    "FlowEngineSpacedInBlockRam" -> (config =>
      FlowEngine(config.copy(flows = 64, stageCounters = true, eventSpacing = config.flowSpacing))),
    "FlowEngineWide" -> (config => FlowEngine(config.copy(sendBufferBytes = 1 << 24, receiveBufferBytes = 1 << 24))),
    "Transmitter" -> (config => Transmitter(config)),
    "TransmitterJumbo" -> (config => Transmitter(config.copy(maximumFrameBytes = 9018))),
    "CongestionBench" -> (CongestionBench(_)),
    "CommandPort" -> (CommandPort(_)),
    "Divider" -> (_ => Divider(60, 32, 28)),
    "DividerNarrow" -> (_ => Divider(9, 12, 9)),
    "DividerSingle" -> (_ => Divider(60, 32, 28, single = true)),
    "Exponential" -> (_ => Exponential()),
    "ExponentialSingle" -> (_ => Exponential(single = true)),
    "FlowDirectory" -> (FlowDirectory(_)),
    "FlowDirectoryFewTimeWaits" -> (config => FlowDirectory(config.copy(timeWaits = 8))),
    "BurstReader" -> (config => BurstReader(config, config.receiveBufferBytes, config.receiveBase, 17)),
    "BurstWriter" -> (config => BurstWriter(config, config.receiveBufferBytes, config.receiveBase)),
    "GmiiMac" -> (config => EthernetMac(config.copy(xgmii = false))),
    "GmiiMacJumbo" -> (config => EthernetMac(config.copy(xgmii = false, maximumFrameBytes = 9018))),
    "GapBench" -> (config => GapBench(config.copy(flows = 1024))),
    "LaunchGate" -> (config => LaunchGate(WireRate.of(config), pointerBits = 11)),
    "LayoutBench" -> (LayoutBench(_)),
    "LogisticUnit" -> (_ => LogisticUnit()),
    "LogisticUnitSingle" -> (_ => LogisticUnit(single = true)),
    "MacOnOneClock" -> (MacOnOneClock(_)),
    "MemoryArbiter" -> (MemoryArbiter(_)),
    "MemoryBench" -> (MemoryBench(_)),
    "Notifier" -> (Notifier(_)),
    "PayloadMemory" -> (PayloadMemory(_)),
    "CaptureStore" -> (_ => CaptureStore(Board.simulated)),
    "CaptureStoreInBlockRam" -> (_ => CaptureStore(Board.simulated.copy(sdram = None))),
    "ProbeBoard" -> (ProbeBoard(Board.simulated, _)),
    "TrafficBoard" -> (_ => TrafficBoard(Board.simulated, Presets.all("board"))),
    "UartBoneBench" -> (_ => UartBoneBench()),
    "PlacementWriter" -> (PlacementWriter(_)),
    "DeliveryBench" -> (config => DeliveryBench(config.copy(sendBufferBytes = 1 << 18))),
    "RecoveryBench" -> (RecoveryBench(_)),
    "ProportionalRateBench" -> (ProportionalRateBench(_)),
    "ScoreboardBench" -> (ScoreboardBench(_)),
    "ReceiveBuffer" -> (ReceiveBuffer(_)),
    "SegmentParser" -> (SegmentParser(_)),
    "SendBuffer" -> (SendBuffer(_)),
    "Slew" -> (_ => Slew()),
    "TimeBase" -> (_ => TimeBase(WireRate.gigabit)),
    "TimeBench" -> (TimeBench(_)),
    "Pacer" -> (config => Pacer(config)),
    "PacerSpaced" -> (config => Pacer(config.copy(eventSpacing = config.flowSpacing))),
    "PacerSchedule" -> (PacerSchedule(_)),
    "Timers" -> (config => Timers(config)),
    "TournamentTree" -> (config => TournamentTree(config.flows)),
    "TupleHasher" -> (_ => TupleHasher(vlanBits = 0)),
    "SecdedNarrow" -> (_ => SecdedBench(17)),
    "SecdedWide" -> (_ => SecdedBench(520)),
    "SipHash" -> (_ => SipHash()),
    "TournamentTree1024" -> (_ => TournamentTree(entries = 1024, timeBits = 64)),
    "Neighbour" -> (config => Neighbour(config)),
    "Receiver" -> (config => Receiver(config)),
    "WireBench" -> (WireBench(_)),
    "WireTime" -> (_ =>
      WireTime(WireRate.gigabit, ClockDomain.current, ClockDomain.current, ClockDomain.current)),
    "XgmiiReceiver" -> (XgmiiReceiver(_)),
    "XgmiiTransmitter" -> (_ => XgmiiTransmitter()),
    "XgmiiMac" -> (config => EthernetMac(config.copy(xgmii = true))),
    "XgmiiMacJumbo" -> (config => EthernetMac(config.copy(xgmii = true, maximumFrameBytes = 9018))),
    "XgmiiMacWithoutDeficit" -> (config => EthernetMac(config.copy(xgmii = true, deficitIdle = false))))

  /** Those whose tests run at each width, with the bytes of a beat behind their name: `Receiver64`. */
  private val wide: Map[String, DownbeatConfig => Component] = (for {
    bytes <- Seq(16, 32, 64)
    name <- Seq("BurstReader", "BurstWriter", "MemoryBench", "PayloadMemory", "PlacementWriter", "ReceiveBuffer",
      "Receiver", "SendBuffer", "Neighbour", "Transmitter", "TransmitterJumbo") ++ Option.when(bytes == 64)("Downbeat")
  } yield s"$name$bytes" -> ((config: DownbeatConfig) => own(name)(config.copy(beatBytes = bytes)))).toMap

  private val registered: Seq[Policy] = Policies.startup ++ Policies.steady

  /** A module for each registered policy: `PolicyReno` for "reno". */
  private val policies: Map[String, DownbeatConfig => Component] =
    registered.map(policy => s"Policy${policy.name.capitalize}" -> ((_: DownbeatConfig) => PolicyBench(policy))).toMap

  /** A module for each calculator that a registered policy names, alone between its ports: `CalculatorLogistic` for
    * "logistic".
    */
  private val calculators: Map[String, DownbeatConfig => Component] = registered
    .flatMap(_.calculator)
    .map(calculator => s"Calculator${calculator.name.capitalize}" -> (calculator.build(_: DownbeatConfig)))
    .toMap

  val all: Map[String, DownbeatConfig => Component] = own ++ wide ++ policies ++ calculators

  /** Whole boards, with primitives that only their FPGA's tools know: `make bitstream`. */
  private val boards: Map[String, DownbeatConfig => Component] = BoardTop.modules

  /** The module of that name; `Fmax` before a name means the module inside the harness that `make fmax` measures. */
  def find(name: String): Option[DownbeatConfig => Component] =
    all.get(name).orElse(boards.get(name)).orElse(
      all.get(name.stripPrefix("Fmax")).map(module => config => new FmaxHarness(module(config))))
}
