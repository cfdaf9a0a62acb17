// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.config.DownbeatConfig
import scala.util.Try

/** The name of a build on a command line: a preset, and behind it fields of [[DownbeatConfig]] with other values:
  * `sim,flows=1024,sendBufferBytes=4096`.
  */
object BuildName {
  private type Change = (DownbeatConfig, String) => DownbeatConfig

  /** Fields that a name may change: sizes, and with them where their memory lies. */
  private val changes: Map[String, Change] = Map(
    "flows" -> ((config, value) => config.copy(flows = value.toInt)),
    "timeWaits" -> ((config, value) => config.copy(timeWaits = value.toInt)),
    "sendBufferBytes" -> ((config, value) => config.copy(sendBufferBytes = value.toInt)),
    "receiveBufferBytes" -> ((config, value) => config.copy(receiveBufferBytes = value.toInt)),
    "externalMemory" -> ((config, value) => config.copy(externalMemory = truth("externalMemory", value))),
    "hostPorts" -> ((config, value) => config.copy(externalMemory = true, hostPorts = value.toInt)),
    "ecc" -> ((config, value) => config.copy(ecc = truth("ecc", value))),
    "deficitIdle" -> ((config, value) => config.copy(deficitIdle = truth("deficitIdle", value))),
    "vlans" -> ((config, value) => config.copy(vlans = value.toInt)),
    "eventSpacing" -> ((config, value) => config.copy(eventSpacing = value.toInt)))

  private def truth(field: String, value: String): Boolean =
    value.toBooleanOption.getOrElse(throw new IllegalArgumentException(s"$field = $value: use true or false"))

  /** The configuration of that name, or a line that says why there is none. */
  def parse(name: String): Either[String, DownbeatConfig] = {
    val preset :: settings = name.split(",", -1).toList
    val begin = Presets.all.get(preset).toRight(s"no preset '$preset'; there are: ${listed(Presets.all.keys)}")
    settings.foldLeft(begin)((before, setting) => before.flatMap(changed(_, setting)))
  }

  private def changed(config: DownbeatConfig, setting: String): Either[String, DownbeatConfig] = {
    val (field, value) = setting.span(_ != '=')
    for {
      change <- changes.get(field).toRight(s"no field '$field' to set; there are: ${listed(changes.keys)}")
      result <- Try(change(config, value.drop(1))).toEither.left.map {
        case wrong: NumberFormatException => s"$setting: use a whole number (${wrong.getMessage})"
        case wrong: IllegalArgumentException => wrong.getMessage.stripPrefix("requirement failed: ")
        case wrong => throw wrong
      }
    } yield result
  }

  private def listed(names: Iterable[String]) = names.toList.sorted.mkString(", ")
}
