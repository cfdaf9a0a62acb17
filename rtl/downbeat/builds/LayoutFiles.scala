// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.builds

import downbeat.builds.CHeader.{define, macroName, upper}
import downbeat.congestion.Arguments
import downbeat.lib.{BundleLayout, EnumLayout}

/** A layout as text: the same facts as a C header and as JSON, without anything that a second run would write
  * differently.
  */
object LayoutFiles {
  private val generated = "Generated from the RTL; do not edit."

  /** `DOWNBEAT_COMMAND_KIND_OFFSET`, `DOWNBEAT_COMMAND_KIND_WIDTH`, `DOWNBEAT_COMMAND_BITS`, `enum
    * downbeat_command_kind`.
    */
  def header(layout: Layout): String = {
    val numbers = layout.numbers.map { case (name, value) => define(macroName(name), value) }
    val bundles = layout.bundles.flatMap { bundle =>
      val prefix = macroName(bundle.name)
      val fields = bundle.fields.flatMap { field =>
        val name = s"${prefix}_${upper(field.name)}"
        Seq(define(s"${name}_OFFSET", field.offset), define(s"${name}_WIDTH", field.width))
      }
      s"\n/* ${bundle.name}: bits, the least significant first. */" +: define(s"${prefix}_BITS", bundle.bits) +: fields
    }
    val enums = (layout.enums ++ layout.policies).flatMap(values =>
      CHeader.enumeration(values.name, values.elements, values.number))
    CHeader("DOWNBEAT_LAYOUT_H", numbers ++ bundles ++ enums, generated)
  }

  /** {{{ {"numbers": {...}, "bundles": {"Command": {"bits": ..., "fields": {"kind": {"offset", "width", "enum"}}}},
    * "enums": {"CommandKind": {"open": 0}}, "policies": {"StartupPolicy": {"standard": 0}},
    * "arguments": {"SteadyPolicy": {"aimd": {"bits": 40, "needed": false, "notAbove": [], "fields": {"a": {"offset",
    * ...}}}}}, "states": {"SteadyPolicy": {"aimd": {"a": 24}}}} }}}
    */
  def json(layout: Layout): String = {
    val bundles = layout.bundles.map { bundle =>
      val fields = bundle.fields.map { field =>
        val values = field.values.map(name => s""", "enum": "$name"""").getOrElse("")
        s"""        "${field.name}": {"offset": ${field.offset}, "width": ${field.width}$values}"""
      }
      s"""    "${bundle.name}": {
         |      "bits": ${bundle.bits},
         |      "fields": {
         |${fields.mkString(",\n")}
         |      }
         |    }""".stripMargin
    }
    val numbers = layout.numbers.map { case (name, value) => s""""$name": $value""" }
    s"""{
       |  "generated": "$generated",
       |  "numbers": {${numbers.mkString(", ")}},
       |  "bundles": {
       |${bundles.mkString(",\n")}
       |  },
       |  "enums": {
       |${layout.enums.map(enumeration).mkString(",\n")}
       |  },
       |  "policies": {
       |${layout.policies.map(enumeration).mkString(",\n")}
       |  },
       |  "arguments": {
       |${layout.arguments.map { case (family, policies) => argumentsOf(family, policies) }.mkString(",\n")}
       |  },
       |  "states": {
       |${layout.states.map { case (family, policies) => statesOf(family, policies) }.mkString(",\n")}
       |  }
       |}
       |""".stripMargin
  }

  private def enumeration(values: EnumLayout): String = {
    val elements = values.elements.zipWithIndex.map { case (name, place) => s""""$name": ${values.number(place)}""" }
    s"""    "${values.name}": {${elements.mkString(", ")}}"""
  }

  private def argumentsOf(family: String, policies: Seq[(String, Arguments)]): String = {
    val each = policies.map { case (name, arguments) =>
      val fields = arguments.fields.map { field =>
        s"""        "${field.name}": {"offset": ${arguments.offset(
            field.name)}, "width": ${field.bits}, "fraction": ${field.fraction}, """ +
          s""""unit": "${field.unit}", "min": ${field.min}, "max": ${field.max}, "default": ${field.default}}"""
      }
      val pairs = arguments.notAbove.map { case (lesser, greater) => s"""["$lesser", "$greater"]""" }
      val body = if (fields.isEmpty) "{}" else fields.mkString("{\n", ",\n", "\n      }")
      s"""      "$name": {"bits": ${arguments.bits}, "needed": ${arguments.needed}, """ +
        s""""notAbove": [${pairs.mkString(", ")}], "fields": $body}"""
    }
    s"""    "$family": {\n${each.mkString(",\n")}\n    }"""
  }

  /** A policy's state: each field's width, the lowest field first. */
  private def statesOf(family: String, policies: Seq[BundleLayout]): String = {
    val each = policies.map { policy =>
      val fields = policy.fields.map(field => s""""${field.name}": ${field.width}""")
      s"""      "${policy.name}": {${fields.mkString(", ")}}"""
    }
    s"""    "$family": {\n${each.mkString(",\n")}\n    }"""
  }
}
