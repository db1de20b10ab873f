"""# How many phones showed a warning, from phones that answer by a coin

Follows the analytics of exposure notifications (an app tells whether a warning was shown, through noise that is added
on the phone, and servers that see only sums).

**What they did.** A phone flips its answer with a known probability and splits it into shares for two servers, who
learn the sum alone. What the sum hides comes on top of what the phone hides ("amplification").

**Unit and price.** A phone in everything it ever sends: one report at epsilon 2. Nothing is claimed for shuffling.

**What is different here.** Randomised response with exact probabilities and an interval.

**What is missing.** Shares for two servers and the smaller epsilon that they give for the sum: amplification is not
built, so the price above is what holds without trusting anybody.
"""

import numpy as np

from chronodp import local
from examples.deployments import made_up

warned = (made_up.choices_of_devices(100_000, 40) == 4).astype(np.int64)
plan = local.LocalPlan("warning shown", local.RandomizedResponse(epsilon=2.0), local.Fresh(horizon=1))
print(plan)
collector = local.Collector(plan)
collector.add(local.simulate(plan, warned))
shown = local.estimate(plan, collector.tally).to_pandas().query("label == 1").iloc[0]
print(f"Phones that showed a warning: {shown['value']:.2%}, between {shown['lower']:.2%} and {shown['upper']:.2%}.")
print(f"Error: {abs(shown['value'] - warned.mean()):.2%} of all phones; the truth is {warned.mean():.2%}.")
