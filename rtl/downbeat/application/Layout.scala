// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.application

import downbeat.config.DownbeatConfig
import downbeat.congestion.{Arguments, CongestionEventKind}
import downbeat.messages.{
  CloseReason, Command, CommandKind, EventKind, StartPace, NetworkErrorKind, Notification, PathPhase, PathReport,
  TcpState, TraceRecord
}
import downbeat.wire.LaunchMode
import spinal.core._

/** A field of a bundle's bits: the first one declared is the least significant. */
case class FieldLayout(name: String, offset: Int, width: Int, values: Option[String])

case class BundleLayout(name: String, bits: Int, fields: Seq[FieldLayout])

/** The numbers of an enumeration's elements, in order from zero. */
case class EnumLayout(name: String, elements: Seq[String])

/** What a program needs to know of a build: where the fields of commands, notifications and trace records lie, what the
  * enumerations' numbers mean, and by which numbers its policies go.
  *
  * A nested field is named by its path: `status_reference_flow`.
  */
case class Layout(config: DownbeatConfig) {
  // Bundles can be made outside a design, but not without this.
  GlobalData.reset(SpinalConfig())

  val enums: Seq[EnumLayout] =
    Seq(CommandKind, TcpState, CloseReason, NetworkErrorKind, EventKind, CongestionEventKind, LaunchMode,
      StartPace, PathPhase).map(
      Layout.ofEnum)

  val bundles: Seq[BundleLayout] = Seq(
    Layout.ofBundle("Command", Command(config)),
    Layout.ofBundle("Notification", Notification(config)),
    Layout.ofBundle("PathReport", PathReport(config)),
    Layout.ofBundle("TraceRecord", TraceRecord(config)))

  /** The name of each policy, in order of the numbers by which a connection's parameters choose it. */
  val policies: Seq[EnumLayout] = Seq(
    EnumLayout("StartupPolicy", config.startupPolicies.map(_.name)),
    EnumLayout("SteadyPolicy", config.steadyPolicies.map(_.name)))

  /** What each of them takes, by its family's name and its own. */
  val arguments: Seq[(String, Seq[(String, Arguments)])] = Seq(
    "StartupPolicy" -> config.startupPolicies.map(policy => policy.name -> policy.arguments),
    "SteadyPolicy" -> config.steadyPolicies.map(policy => policy.name -> policy.arguments))

  val numbers: Seq[(String, BigInt)] = Layout.numbers(config)
}

object Layout {
  /** What of the configuration a program on the other side of the ports must know. */
  def numbers(config: DownbeatConfig): Seq[(String, BigInt)] = Seq[(String, BigInt)](
    "flows" -> config.flows,
    "listeners" -> config.listeners,
    "sendBufferBytes" -> config.sendBufferBytes,
    "receiveBufferBytes" -> config.receiveBufferBytes,
    "maximumFrameBytes" -> config.maximumFrameBytes,
    "mtu" -> config.mtu,
    "ownMss" -> config.ownMss,
    "receiveWindowScale" -> config.receiveWindowScale,
    "clockHz" -> config.clock.toBigDecimal.toBigInt) ++
    (if (config.vlans > 0) Seq("vlans" -> BigInt(config.vlans)) else Nil) ++
    Seq("hostStart" -> config.hostStart, "pathReports" -> config.pathReports).collect { case (name, true) =>
      name -> BigInt(1)
    }

  def ofBundle(name: String, bundle: Bundle): BundleLayout = {
    val fields = flatten(bundle, Nil, 0)
    BundleLayout(name, fields.map(_.width).sum, fields)
  }

  private def flatten(data: Data, path: Seq[String], offset: Int): Seq[FieldLayout] = data match {
    case composite: MultiData =>
      composite.elements.foldLeft(Seq.empty[FieldLayout]) { case (before, (name, element)) =>
        before ++ flatten(element, path :+ name, offset + before.map(_.width).sum)
      }
    case choice: SpinalEnumCraft[_] =>
      Seq(FieldLayout(path.mkString("_"), offset, choice.getBitsWidth, Some(nameOf(choice.spinalEnum))))
    case leaf if leaf.getBitsWidth == 0 => Nil
    case leaf => Seq(FieldLayout(path.mkString("_"), offset, leaf.getBitsWidth, None))
  }

  def ofEnum(enumeration: SpinalEnum): EnumLayout = {
    require(enumeration.defaultEncoding == native, s"${nameOf(enumeration)}: its numbers would not be its positions")
    // Outside a design the elements have no names but those of the object's own values.
    val names = enumeration.getClass.getDeclaredMethods.toSeq
      .filter(method => method.getParameterCount == 0 && method.getReturnType == classOf[SpinalEnumElement[_]])
      .map(method => method.invoke(enumeration).asInstanceOf[SpinalEnumElement[_]].position -> method.getName)
      .sorted
    require(names.map(_._1) == enumeration.elements.indices, s"${nameOf(enumeration)}: an element has no name")
    EnumLayout(nameOf(enumeration), names.map(_._2))
  }

  private def nameOf(enumeration: SpinalEnum): String = enumeration.getClass.getSimpleName.stripSuffix("$")
}
