"""# Which kinds of health data people keep, from devices that perturb before they report

Follows a count of health types on phones ("Learning with privacy at scale", Apple's differential privacy team, 2017).

**What they did.** A device sends one noisy report a day through a sketch of hashes; what is listed publicly is epsilon
2 for a day of a device, without a bound over days (https://desfontain.es/blog/real-world-differential-privacy.html).

**Unit and price.** A device in everything it ever sends: one report at epsilon 2.

**What is different here.** One report of twelve bytes for all time, local hashing instead of a sketch, and intervals.
"""

import numpy as np

from chronodp import local
from examples.deployments import made_up

kinds = made_up.choices_of_devices(100_000, 500)
plan = local.LocalPlan("health types", local.LocalHashing(epsilon=2.0, choices=500), local.Fresh(horizon=1))
print(plan)
collector = local.Collector(plan)
collector.add(local.simulate(plan, kinds))
found = local.estimate(plan, collector.tally)
print(found.to_pandas().nlargest(5, "value").to_string(index=False, float_format="{:.3f}".format))
truth = np.bincount(kinds.ravel(), minlength=500) / len(kinds)
error = np.sqrt(np.mean((found.values[0] - truth) ** 2))
print(f"Error of a share (root of the mean square): {error:.4f}; the largest share is {truth.max():.3f}.")
