#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# rtl.sh compile: Scala to classes, by Maven. build/scala.stamp says in which tree, and which classes.
# rtl.sh jars CLASSPATH: whether its libraries are those of scripts/maven.sha256.
# rtl.sh compiled: whether that stamp is true here.
# rtl.sh policies: those of POLICY_PATH to build/policies/classes, their names to build/policies/names.
# rtl.sh elaborate PRESET [DIRECTORY MODULE...]: classes to DIRECTORY/MODULE.v; all modules into build/rtl if none is
# named.
#   Modules that the same classes and preset made are kept, all others are made or, if they are not named, removed.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
cd "$DOWNBEAT_ROOT"

classes() {
  echo "$DOWNBEAT_ROOT"
  find build/maven/classes -name '*.class' 2>/dev/null | sort | cksum
}

# The compiled core is made by these libraries and no others (scripts/maven.sha256); it names what differs.
jars() {
  local jar sum wrong
  wrong=$(tr ':' '\n' <"$1" | while read -r jar || [ -n "$jar" ]; do
    sum=$(sha256sum "$jar")
    grep -qx "${sum%% *}  $(basename "$jar")" scripts/maven.sha256 ||
      echo "$jar: its SHA-256 is not in scripts/maven.sha256"
  done)
  [ -z "$wrong" ] || { echo "$wrong" >&2 && return 1; }
}

case $1 in
  jars) jars "$2" ;;
  compile)
    # The incremental compiler keeps absolute paths: in a copied tree it would delete the first tree's classes.
    [ "$(head -n 1 build/scala.stamp 2>/dev/null)" = "$DOWNBEAT_ROOT" ] || rm -rf build/maven
    # The JVM's second compiler would take as much of the processor as the work itself.
    MAVEN_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" \
      USUAL=60 step "Scala, compiled" mvn --batch-mode --quiet compile
    jars build/maven/classpath
    classes >build/scala.stamp
    ;;
  compiled) [ "$(classes)" = "$(cat build/scala.stamp 2>/dev/null)" ] ;;
  policies)
    sources=()
    [ -z "${POLICY_PATH:-}" ] || mapfile -t sources < <(find "$POLICY_PATH"/{startup,steady} -name '*.scala' 2>/dev/null | sort)
    if [ -n "${POLICY_PATH:-}" ] && [ ${#sources[@]} = 0 ]; then
      echo "POLICY_PATH=$POLICY_PATH: no startup/*.scala and no steady/*.scala in it" >&2
      exit 1
    fi
    place=build/policies
    wanted=$([ ${#sources[@]} = 0 ] || sha256sum "${sources[@]}")
    if [ "$wanted" != "$(cat $place/stamp 2>/dev/null || echo none)" ] ||
      { [ ${#sources[@]} != 0 ] && [ build/scala.stamp -nt $place/stamp ]; }; then
      rm -rf $place
      mkdir -p $place/classes
      classpath=build/maven/classes:$(cat build/maven/classpath)
      plugin=$(tr ':' '\n' <<<"$classpath" | grep idsl-plugin)
      payload=$(tr ':' '\n' <<<"$classpath" | grep idsl-payload)
      [ ${#sources[@]} = 0 ] || step "Policies of POLICY_PATH, compiled" java -cp "$classpath" scala.tools.nsc.Main \
        -deprecation -feature -Xfatal-warnings "-Xplugin:$plugin:$payload" -cp "$classpath" -d $place/classes "${sources[@]}"
      for source in "${sources[@]}"; do
        echo "$(basename "$(dirname "$source")").$(basename "$source" .scala)"
      done | paste -sd, >$place/names
      echo "$wanted" >$place/stamp
    fi
    ;;
  elaborate)
    modules=("${@:4}")
    # A few modules end before that work would pay, too.
    few=-XX:TieredStopAtLevel=1
    [ $# -gt 3 ] || USUAL=90 few='' # all modules
    # Plain java on the class path that Maven left: a second instead of Maven's five.
    step "Verilog of preset $2, elaborated" java -XX:+UseSerialGC ${few:+"$few"} "-Ddownbeat.policies=$(cat build/policies/names 2>/dev/null || true)" \
      -cp "build/policies/classes:build/maven/classes:$(cat build/maven/classpath)" \
      downbeat.builds.Generate --out "${3:-build/rtl}" --preset "$2" "${modules[@]:-all}"
    ;;
esac
