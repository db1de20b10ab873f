"""# A model that learns on devices which people will use an app in the evening

Follows keyboards whose models are trained across phones with noise in every round.

**What they did.** Phones send clipped updates, the server adds noise that is shaped over rounds, so that no sampling of
phones has to be assumed, and the model is protected for all that one phone did.

**Unit and price.** A phone in everything it gave to the training: epsilon 2, delta 1e-5 over all rounds.

**What is different here.** Every holder debits its own ledger before each round, and updates leave it noisy.

**What is missing.** Noise that is shaped over rounds: here it is drawn anew in each round, and phones of a round are
sampled at random. A model of words is too large for an example; this one reads seven days of use.
"""

from typing import Any

import numpy as np

import chronodp as cdp
from chronodp.federated import Federation, models, training
from examples.deployments import made_up

hours = made_up.hours_of_devices(2_000, days=8, most=6.0)
often = (hours[:, 7] > np.median(hours)).astype(float)
week = models.Inputs((models.Column("hours", 0, 6),), length=7)
design = models.ModelDesign(week, models.Risk(), models.Linear())
asked: Any = {"people": 2_000, "batch": 200, "rounds": 8, "local_steps": 5, "learning_rate": 1.0}
plan = training.plan_training(design, epsilon=2.0, delta=1e-5, **asked)
print(plan)
with cdp.Ledger(made_up.folder("keyboard-model") / "budget.db") as ledger:
    ledger.open("phones", unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
    whom: Any = {"people": 2_000, "all_people": 2_000, "ledger": ledger, "dataset": "phones"}
    phones = training.Trainer(plan, hours[:, :7, None], often, **whom, name="phones", run="evening")
    start = plan.model.first_parameters()
    parameters = Federation([phones], plan.task(), aggregation="plain", start=start).run()
later = made_up.hours_of_devices(4_000, days=8, most=6.0)[2_000:]
risks = training.predict(design, parameters, later[:, :7, None])
area = training.area_under_curve(risks, (later[:, 7] > np.median(hours)).astype(float))
print(f"Area under the curve on phones that were not in it: {area:.3f}, where a coin has 0.5.")
