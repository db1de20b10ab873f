"""How Java is told to run where tests start it."""

from __future__ import annotations

__all__ = ["LEAN", "QUICK", "ROOMY"]

# A collector with threads of its own takes a fifth more, and a proof of the bytecode of Spark's own classes a tenth.
LEAN = "-XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
# Most tests run small queries once: compiling them for speed would take longer than running them.
QUICK = f"-XX:TieredStopAtLevel=1 {LEAN}"
# Else Java cleans up a dozen times while Spark loads its classes.
ROOMY = "-Xms1g -Xmn400m -XX:MetaspaceSize=512m"
