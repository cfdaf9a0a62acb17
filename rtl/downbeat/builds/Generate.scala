// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.config.DownbeatConfig
import downbeat.registers.{DescribesRegisters, RegisterMap}
import java.io.File
import java.nio.file.{Files, Path, Paths, StandardCopyOption}
import java.security.MessageDigest
import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal
import spinal.core._

/** Command line that elaborates modules (Modules.scala) into Verilog, one file each: `Generate --out DIRECTORY
  * [--preset NAME] MODULE...|all`, NAME as [[BuildName]] has it. Beside them stand downbeat_layout.h and .json: where
  * fields lie and what numbers mean in this preset, for programs; downbeat_host.h and .json: the format of a host's
  * rings and doorbells; downbeat_policies.h: all policies; with the module RegisterMap its registers,
  * downbeat_registers.h, .rdl and .json, with a board CONTENTS_registers.json; for each module of several clocks
  * MODULE.crossings, its clock-domain crossings; for each top MODULE.ports, what its ports are for.
  *
  * Nothing is written before every module has elaborated, so that a directory holds one build and no mixture. The first
  * module that fails ends the program, with its reason in one line on the error output.
  *
  * A module that was made from the same classes and preset is not made again: .made/MODULE keeps a hash of both. What
  * is left of another build is removed.
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
    val hash = buildHash(request.preset)
    val layout = Layout(config)
    EventFields.check(layout.bundles.find(_.name == "TraceRecord").get)
    val made = new Output(request.out)
    made.texts ++= Seq(
      "downbeat_layout.h" -> LayoutFiles.header(layout),
      "downbeat_layout.json" -> LayoutFiles.json(layout),
      "downbeat_event.h" -> EventFields.header,
      "event_fields.py" -> EventFields.python,
      "downbeat_host.h" -> HostFormatFiles.header,
      "downbeat_host.json" -> HostFormatFiles.json,
      "downbeat_policies.h" -> HostFormatFiles.policies(config))
    for (module <- modules if !isMade(request.out, module, hash);
      why <- elaborate(module, request.preset, config, made)) {
      Console.err.println(s"Generate: $module: $why")
      sys.exit(1)
    }
    made.write()
    for (module <- modules) replaceIfChanged(mark(request.out, module), hash)
    removeOthers(request.out, hash, everything = request.modules.contains("all"))
  }

  private def parse(args: List[String], request: Request): Request = args match {
    case "--out" :: directory :: rest => parse(rest, request.copy(out = Paths.get(directory)))
    case "--preset" :: name :: rest => parse(rest, request.copy(preset = name))
    case flag :: _ if flag.startsWith("-") => refuse(s"unknown option '$flag'\n$usage")
    case module :: rest => parse(rest, request.copy(modules = request.modules :+ module))
    case Nil => if (request.modules.isEmpty) refuse(usage) else request
  }

  /** The files of one run, written once all of them are there. */
  private class Output(out: Path) {
    val texts = mutable.LinkedHashMap[String, String]()
    /** Files that this build does not have. */
    val absent = mutable.Set[String]()

    def write(): Unit = {
      for ((name, text) <- texts) replaceIfChanged(out.resolve(name), text)
      for (name <- absent) Files.deleteIfExists(out.resolve(name))
    }
  }

  /** Adds the module's files, or says why there are none. */
  private def elaborate(module: String, preset: String, config: DownbeatConfig, made: Output): Option[String] = {
    // SpinalHDL writes into a directory of its own.
    val scratch = Files.createTempDirectory("downbeat-")
    try {
      val top =
        spinalConfig(scratch, s"$module, preset $preset").generateVerilog(
          Modules.find(module).get(config).setDefinitionName(module)).toplevel
      top match {
        case described: DescribesRegisters => made.texts ++= described.registerMaps.flatMap((RegisterFiles.of _).tupled)
        case _ =>
      }
      for (memory <- scratch.toFile.list if memory.endsWith(".bin"))
        throw new IllegalStateException(s"$memory: a memory's contents must be inline")
      // SpinalHDL names its own commit in the first line; ours says which version in pom.xml.
      val verilog = Files.readString(scratch.resolve(s"$module.v")).replaceFirst(" +git head : [0-9a-f]+", "")
      made.texts(s"$module.v") = PortFiles.comment(verilog, top)
      for ((kind, rows) <- Seq("crossings" -> Crossings.rows(top), "ports" -> PortFiles.rows(top)))
        if (rows.isEmpty) made.absent += s"$module.$kind"
        else made.texts(s"$module.$kind") = rows.mkString("", "\n", "\n")
      None
    } catch {
      case NonFatal(error) =>
        println(error)
        Some(reason(error))
    } finally {
      scratch.toFile.listFiles.foreach(_.delete())
      Files.delete(scratch)
    }
  }

  /** The line of a message that says what is wrong: SpinalHDL puts lines of stars around it, and the phase before it.
    */
  private def reason(error: Throwable): String = {
    val lines =
      Option(error.getMessage).getOrElse("").linesIterator.map(_.trim).filter(_.exists(_.isLetterOrDigit)).toList
    lines.find(!_.startsWith("Error detected in phase")).orElse(lines.headOption).getOrElse(error.toString).stripPrefix(
      "requirement failed: ")
  }

  /** A hash of everything that a module's text can depend on: our classes, the libraries' names, the preset, policies
    * from outside the tree.
    */
  private def buildHash(preset: String): String = {
    val digest = MessageDigest.getInstance("SHA-256")
    val (directories, libraries) =
      sys.props("java.class.path").split(File.pathSeparatorChar).toSeq.map(Paths.get(_)).filter(
        Files.exists(_)).partition(Files.isDirectory(_))
    for (text <- preset +: sys.props.getOrElse("downbeat.policies", "") +: libraries.map(_.getFileName.toString))
      digest.update(s"$text\n".getBytes)
    for (directory <- directories) {
      val walk = Files.walk(directory)
      try
        for (file <- walk.iterator.asScala.filter(Files.isRegularFile(_)).toSeq.sortBy(_.toString)) {
          digest.update(directory.relativize(file).toString.getBytes)
          digest.update(Files.readAllBytes(file))
        }
      finally walk.close()
    }
    digest.digest.map("%02x".format(_)).mkString
  }

  private def mark(out: Path, module: String) = out.resolve(".made").resolve(module)

  private def isMade(out: Path, module: String, hash: String) =
    Files.exists(out.resolve(s"$module.v")) && Files.exists(mark(out, module)) && Files.readString(mark(out,
        module)) == hash

  private def spinalConfig(directory: Path, what: String) = SpinalConfig(
    mode = Verilog,
    targetDirectory = directory.toString,
    defaultConfigForClockDomains = ClockDomainConfig(clockEdge = RISING, resetKind = SYNC, resetActiveLevel = HIGH),
    headerWithDate = false,
    headerWithRepoHash = false,
    rtlHeader = s"SPDX-License-Identifier: BSD-2-Clause-Patent\nDownbeat ${RegisterMap.version.mkString(".")}: $what",
    genLineComments = false,
    // A memory with contents becomes a case statement or an initial block, never a file beside the Verilog.
    inlineRom = true,
    verbose = false)

  /** Removes the files of another build, which would still be tested and linted. A file that this program has not
    * marked is another's: it goes only where `everything` is made.
    */
  private def removeOthers(out: Path, hash: String, everything: Boolean): Unit =
    for (verilog <- out.toFile.list.toSeq.filter(_.endsWith(".v"))) {
      val module = verilog.stripSuffix(".v")
      if (!isMade(out, module, hash) && (everything || Files.exists(mark(out, module))))
        for (file <- Seq(verilog, s"$module.crossings", s"$module.ports").map(out.resolve(_)) :+ mark(out, module))
          Files.deleteIfExists(file)
    }

  /** At every instant there is the old file or the new one. */
  private def replaceIfChanged(file: Path, text: String): Unit =
    if (!Files.exists(file) || Files.readString(file) != text) {
      Files.createDirectories(file.toAbsolutePath.getParent)
      val fresh = file.resolveSibling(s"${file.getFileName}.${ProcessHandle.current.pid}")
      Files.writeString(fresh, text)
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE)
      if (file.getParent.getFileName.toString != ".made") println(s"  ${file.getFileName}")
    }

  private def names(all: Iterable[String]) = all.toList.sorted.mkString(", ")

  private def refuse(message: String): Nothing = {
    Console.err.println(s"Generate: $message")
    sys.exit(2)
  }
}
