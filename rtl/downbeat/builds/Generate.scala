// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.application.{EventFields, Layout, LayoutFiles}
import downbeat.config.DownbeatConfig
import downbeat.lib.Crossings
import downbeat.registers.DescribesRegisters
import java.nio.file.{Files, Path, Paths}
import scala.util.control.NonFatal
import spinal.core._

/** Command line that elaborates modules (Modules.scala) into Verilog, one file each: `Generate --out DIRECTORY
  * [--preset NAME] MODULE...|all`, NAME as [[BuildName]] has it. Beside them stand downbeat_layout.h and .json: where fields lie and what numbers mean in this preset, for
  * programs; with the module RegisterMap its registers, downbeat_registers.h, .md and .json, with a board
  * CONTENTS_registers.json; and for each module of several clocks MODULE.crossings, its clock-domain crossings.
  *
  * A file is written only when its text changed, so that what is built from it (Verilator, Yosys) stays cached; its
  * text depends on the sources alone (no date, no commit, no path).
  */
object Generate {
  private val usage = "usage: Generate --out DIRECTORY [--preset NAME] MODULE...|all"

  private case class Request(out: Path = Paths.get("."), preset: String = "default", modules: List[String] = Nil)

  def main(args: Array[String]): Unit = {
    val request = parse(args.toList, Request())
    val config = BuildName.parse(request.preset).fold(refuse, identity)
    val modules = if (request.modules.contains("all")) Modules.all.keys.toList.sorted else request.modules
    for (unknown <- modules.find(Modules.find(_).isEmpty))
      refuse(s"no module '${unknown.stripPrefix("Fmax")}' in Modules.scala; there are: ${names(Modules.all.keys)}")
    Files.createDirectories(request.out)
    if (request.modules.contains("all")) removeOthers(request.out, modules)
    val layout = Layout(config)
    replaceIfChanged(request.out.resolve("downbeat_layout.h"), LayoutFiles.header(layout))
    replaceIfChanged(request.out.resolve("downbeat_layout.json"), LayoutFiles.json(layout))
    EventFields.check(layout.bundles.find(_.name == "TraceRecord").get)
    replaceIfChanged(request.out.resolve("downbeat_event.h"), EventFields.header)
    replaceIfChanged(request.out.resolve("event_fields.py"), EventFields.python)
    val failed = modules.filterNot(elaborate(_, config, request.out))
    if (failed.nonEmpty) {
      Console.err.println(s"Generate: did not elaborate: ${names(failed)}")
      sys.exit(1)
    }
  }

  private def parse(args: List[String], request: Request): Request = args match {
    case "--out" :: directory :: rest => parse(rest, request.copy(out = Paths.get(directory)))
    case "--preset" :: name :: rest => parse(rest, request.copy(preset = name))
    case flag :: _ if flag.startsWith("-") => refuse(s"unknown option '$flag'\n$usage")
    case module :: rest => parse(rest, request.copy(modules = request.modules :+ module))
    case Nil => if (request.modules.isEmpty) refuse(usage) else request
  }

  /** True when the module elaborated; its report goes to the terminal only when it did not. */
  private def elaborate(module: String, config: DownbeatConfig, out: Path): Boolean = {
    // SpinalHDL writes into a directory of its own, from which only a changed text is taken over.
    val scratch = Files.createTempDirectory("downbeat-")
    try {
      val top =
        spinalConfig(scratch).generateVerilog(Modules.find(module).get(config).setDefinitionName(module)).toplevel
      top match {
        case described: DescribesRegisters =>
          for ((name, text) <- described.files) replaceIfChanged(out.resolve(name), text)
        case _ =>
      }
      // SpinalHDL names its own commit in the first line; ours says which version in pom.xml.
      val text = Files.readString(scratch.resolve(s"$module.v")).replaceFirst(" +git head : [0-9a-f]+", "")
      for (memory <- scratch.toFile.list if memory.endsWith(".bin"))
        throw new IllegalStateException(s"$memory: a memory's contents must be inline")
      replaceIfChanged(out.resolve(s"$module.v"), text)
      val crossings = Crossings.rows(top)
      val list = out.resolve(s"$module.crossings")
      if (crossings.isEmpty) Files.deleteIfExists(list) else replaceIfChanged(list, crossings.mkString("", "\n", "\n"))
      true
    } catch {
      case NonFatal(error) =>
        Console.err.println(s"Generate: $module: ${error.getMessage.stripPrefix("requirement failed: ")}")
        false
    } finally {
      scratch.toFile.listFiles.foreach(_.delete())
      Files.delete(scratch)
    }
  }

  private def spinalConfig(directory: Path) = SpinalConfig(
    mode = Verilog,
    targetDirectory = directory.toString,
    defaultConfigForClockDomains = ClockDomainConfig(clockEdge = RISING, resetKind = SYNC, resetActiveLevel = HIGH),
    headerWithDate = false,
    headerWithRepoHash = false,
    rtlHeader = "SPDX-License-Identifier: BSD-2-Clause-Patent",
    genLineComments = false,
    // A memory with contents becomes a case statement or an initial block, never a file beside the Verilog.
    inlineRom = true,
    verbose = false)

  /** What is left of a module that is gone would still be tested and linted. */
  private def removeOthers(out: Path, modules: List[String]): Unit =
    for {
      file <- out.toFile.listFiles
      suffix <- Seq(".v", ".crossings")
      if file.getName.endsWith(suffix) && !modules.contains(file.getName.stripSuffix(suffix))
    } file.delete()

  private def replaceIfChanged(file: Path, text: String): Unit =
    if (!Files.exists(file) || Files.readString(file) != text) {
      Files.writeString(file, text)
      println(s"  ${file.getFileName}")
    }

  private def names(all: Iterable[String]) = all.toList.sorted.mkString(", ")

  private def refuse(message: String): Nothing = {
    Console.err.println(s"Generate: $message")
    sys.exit(2)
  }
}
