"""Run by itself: random questions on two executors, with slow tasks run a second time; prints what came of it."""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pyspark

from chronodp.engines import DuckDB, Spark, find_source, local_session
from tests.engines.tables import digest, random_question, random_table

SETTINGS = {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.speculation": "true",
    "spark.speculation.interval": "10ms",
    "spark.speculation.minTaskRuntime": "0ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.1",
}


def main(folder: str, questions: int, rows: int) -> None:
    session = local_session(settings=SETTINGS)
    chance = random.Random(2)
    equal = []
    for number in range(questions):
        question = random_question(chance)
        table = random_table(chance, question.calendar, rows)
        path = str(Path(folder) / f"{number}.parquet")
        pyarrow.parquet.write_table(table, path)
        found = Spark().totals(find_source(slowed(session.read.parquet(path).repartition(6))), question, key="k")
        equal.append(digest(found) == digest(DuckDB().totals(find_source(table), question, key="k")))
    print(json.dumps({"equal": equal}))
    store, java = session.sparkContext._jsc.sc().statusStore(), session.sparkContext._jvm
    none = session.sparkContext._gateway.new_array(java.double, 0)
    stages = store.stageList(None, False, False, none, java.java.util.ArrayList())
    twice = 0
    for index in range(stages.size()):
        stage = stages.apply(index)
        summary = store.speculationSummary(stage.stageId(), stage.attemptId())
        twice += summary.get().numTasks() if summary.isDefined() else 0
    print(json.dumps({"equal": equal, "twice": twice}))
    session.stop()
    shutil.rmtree(Path(pyspark.__file__).parent / "work")  # where executors of a local cluster log, whatever one says


def slowed(frame: Any) -> Any:
    """Return the same rows, slow in the first attempt at one part."""
    from pyspark import TaskContext
    from pyspark.sql.functions import udf

    def pass_on(person: str | None) -> str | None:
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0 and context.partitionId() == 0:
            time.sleep(0.002)
        return person

    return frame.withColumn("who", udf(pass_on, "string", useArrow=False)(frame["who"]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
