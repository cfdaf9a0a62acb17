// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.host

import downbeat.config.DownbeatConfig
import downbeat.messages.{ConnectionParameters, StartPace}
import spinal.core._
import spinal.lib._

/** Reads a command's entry and checks what can be checked without its flow. Results are valid two clocks after the
  * entry is there.
  */
class HostDecoder(config: DownbeatConfig, entry: Bits, port: UInt) extends Area {
  private def bits(name: String): Bits = HostFormat.read(HostFormat.command, entry, name)
  private def number(name: String): UInt = bits(name).asUInt

  private val opcode = number("opcode")
  def is(opcodes: HostOpcode.E*): Bool = opcodes.map(element => opcode === U(element.position, 8 bits)).orR
  val setsPolicies: Bool = is(HostOpcode.setPolicies, HostOpcode.start)
  private val supported = Seq(
    HostOpcode.open, HostOpcode.listen, HostOpcode.unlisten, HostOpcode.shutdown, HostOpcode.close, HostOpcode.abort,
    HostOpcode.stamps, HostOpcode.setTimes) ++
    Option.when(config.policiesChoose)(HostOpcode.setPolicies) ++ Option.when(config.hostStart)(HostOpcode.start)
  val request, flow, localPort, remotePort = UInt(16 bits)
  request := number("request")
  flow := number("flow")
  localPort := number("localPort")
  remotePort := number("remotePort")
  val generation: UInt = number("generation")
  val remoteIp: UInt = number("remoteIp")

  val parameters = ConnectionParameters(config)
  /** A field whose upper bits this build does not have must not use them. */
  private def narrowed(name: String, target: Data): Bool = {
    val value = bits(name)
    val width = widthOf(target)
    target.assignFromBits(value.resize(width))
    if (width < widthOf(value)) value(widthOf(value) - 1 downto width).orR else False
  }
  private val options = bits("options")
  private def option(name: String): Bool = options(HostFormat.commandOptions.elements.indexOf(name))
  parameters.noDelay := option("noDelay")
  parameters.nssr := option("nssr")
  parameters.ecn := option("ecn")
  parameters.renoRecovery := option("renoRecovery")
  parameters.recovery.noTailLossProbe := option("noTailLossProbe")
  parameters.recovery.noRack := option("noRack")
  parameters.recovery.noUndo := option("noUndo")
  parameters.recovery.noGrowthLimit := option("noGrowthLimit")
  parameters.recovery.noPrr := bits("noPrr").lsb
  parameters.owner := (port +^ 1).resized
  /** Fields of the host's start; a listener has none. */
  private val start: Seq[Bool] =
    if (!config.hostStart) Seq("startWindow", "pace", "paceGap", "validUntil", "roundTrip").map(bits(_).orR)
    else {
      val values = parameters.start
      val listens = is(HostOpcode.listen)
      val pace = number("pace")
      Seq(
        narrowed("startWindow", values.window),
        narrowed("pace", values.pace) || pace >= StartPace.elements.size,
        narrowed("paceGap", values.gap),
        narrowed("validUntil", values.until),
        narrowed("roundTrip", values.roundTrip),
        listens && values.asBits.orR)
    }
  private val wide = Seq(
    narrowed("startup", parameters.startup),
    narrowed("steady", parameters.steady),
    narrowed("initialWindow", parameters.initialWindow),
    narrowed("ssthresh", parameters.ssthresh),
    narrowed("startupArgument", parameters.startupArgument),
    narrowed("steadyArgument", parameters.steadyArgument),
    narrowed("spacing", parameters.spacing),
    narrowed("keepAlive", parameters.keepAlive),
    narrowed("userTimeout", parameters.userTimeout),
    narrowed("differentiatedServices", parameters.service.differentiatedServices),
    narrowed("timeToLive", parameters.service.timeToLive)) ++ start

  private val reserved = HostFormat.reserved(HostFormat.command, HostFormat.commandBytes)
  private val findings = new Area {
    val known = RegNext(is(supported: _*))
    val reservedSet = RegNext((entry & B(reserved, widthOf(entry) bits)).subdivideIn(64 bits).map(_.orR).asBits())
    val tooWide = RegNext(wide.asBits())
  }
  val error: HostError.C = HostError()
  error := HostError.none
  when(findings.tooWide.orR)(error := HostError.field)
  when(findings.reservedSet.orR)(error := HostError.reserved)
  when(!findings.known)(error := HostError.opcode)

  /** It is about a connection. */
  val ofFlow: Bool = is(HostOpcode.shutdown, HostOpcode.close, HostOpcode.abort, HostOpcode.setPolicies,
    HostOpcode.start, HostOpcode.stamps, HostOpcode.setTimes)
  /** It ends the connection, or our side of it. */
  val ends: Bool = is(HostOpcode.shutdown, HostOpcode.close, HostOpcode.abort)
}
