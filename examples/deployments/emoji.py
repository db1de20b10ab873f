"""# Which emoji are popular, from devices that perturb before they report

Follows a keyboard's suggestions ("Learning with privacy at scale", Apple's differential privacy team, 2017).

**What they did.** A device sends a few noisy reports a day through a sketch of hashes; what is listed publicly is
epsilon 4 for a day of a device, and nothing for a month of it (https://desfontain.es/blog/real-world-differential-privacy.html).

**Unit and price.** A device in everything it ever sends: two reports in 28 days at epsilon 2 each, epsilon 4 in all.

**What is different here.** The price does not grow with the days. Shares come with intervals.
"""

import numpy as np

from chronodp import local
from examples.deployments import made_up

chosen = made_up.choices_of_devices(40_000, 200, days=28)
plan = local.LocalPlan("emoji", local.OptimizedUnary(epsilon=2.0, choices=200), local.Slots(horizon=28, reports=2))
print(plan)
collector = local.Collector(plan)
collector.add(local.simulate(plan, chosen))
month = local.estimate(plan, collector.tally).smoothed(27)
print(month.to_pandas().query("slot == 13").nlargest(5, "value").to_string(index=False, float_format="{:.3f}".format))
truth = np.bincount(chosen.ravel(), minlength=200) / chosen.size
error = np.sqrt(np.mean((month.values[13] - truth) ** 2))
print(f"Error of a share of the month (root of the mean square): {error:.4f}; the largest share is {truth.max():.3f}.")
