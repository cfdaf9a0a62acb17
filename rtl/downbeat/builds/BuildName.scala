// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.config.DownbeatConfig
import scala.util.Try

/** The name of a build on a command line: a preset, and behind it fields of [[DownbeatConfig]] with other values:
  * `sim,flows=1024,sendBufferBytes=4096`. The value of `policies` is start-up and steady policies, by name:
  * `board,policies=standard,rapid;reno,cubic,flows=16`.
  */
object BuildName {
  private type Change = (DownbeatConfig, String) => DownbeatConfig

  /** Fields that a name may change: sizes, with them where their memory lies, and the policies. */
  private val changes: Map[String, Change] = Map(
    "flows" -> ((config, value) => config.copy(flows = value.toInt)),
    "timeWaits" -> ((config, value) => config.copy(timeWaits = value.toInt)),
    "sendBufferBytes" -> ((config, value) => config.copy(sendBufferBytes = value.toInt)),
    "receiveBufferBytes" -> ((config, value) => config.copy(receiveBufferBytes = value.toInt)),
    "externalMemory" -> ((config, value) => config.copy(externalMemory = truth("externalMemory", value))),
    "hostPorts" -> ((config, value) => config.copy(externalMemory = true, hostPorts = value.toInt)),
    "ecc" -> ((config, value) => config.copy(ecc = truth("ecc", value))),
    "deficitIdle" -> ((config, value) => config.copy(deficitIdle = truth("deficitIdle", value))),
    "beatBytes" -> ((config, value) => config.copy(beatBytes = value.toInt)),
    "vlans" -> ((config, value) => config.copy(vlans = value.toInt)),
    "eventSpacing" -> ((config, value) => config.copy(eventSpacing = value.toInt)),
    "policies" -> policies)

  private def truth(field: String, value: String): Boolean =
    value.toBooleanOption.getOrElse(throw new IllegalArgumentException(s"$field = $value: use true or false"))

  private def policies(config: DownbeatConfig, value: String): DownbeatConfig = {
    val families = value.split(";", -1).map(_.split(",", -1).toSeq)
    require(families.length == 2, s"policies=$value: use start-up policies;steady policies")
    for ((set, names) <- Seq(config.startup, config.steady).zip(families); name <- names)
      require(set.all.exists(_.name == name),
        s"policies=$value: there is no '$name' among ${set.all.map(_.name).mkString(", ")}")
    config.having(families(0): _*)(families(1): _*)
  }

  /** The configuration of that name, or a line that says why there is none. */
  def parse(name: String): Either[String, DownbeatConfig] = {
    // A comma before what has no value goes on with the list of policies.
    val preset :: settings = name.split(",(?=[^,;]*=)", -1).toList
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
