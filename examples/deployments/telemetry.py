"""# How long an app is open, from devices that send one bit

Follows the telemetry of an operating system ("Collecting telemetry data privately", Ding, Kulkarni, Yekhanin, 2017).

**What they did.** A device keeps a random threshold and one noisy bit for each side of it, and sends the bit of the
day. A value that stays on its side repeats the same bit, so that repeating tells nothing new.

**Unit and price.** A device's reports of four weeks: epsilon 2 between two histories that cross the threshold at the
same times. *When* a value crosses is not protected, and reports of one device can be linked; the plan says so.

**What is different here.** The same mechanism with exact probabilities, a budget that the device keeps in a file of its
own, and an interval with the mean.
"""

import numpy as np

from chronodp import local
from examples.deployments import made_up

hours = made_up.hours_of_devices(50_000, days=28, most=6.0)
plan = local.LocalPlan(
    "hours in an app",
    local.OneBit(epsilon=1.0, clip=(0.0, 6.0)),
    local.Memoised(permanent_epsilon=1.0, horizon=28),
)
print(plan)
collector = local.Collector(plan)
collector.add(local.simulate(plan, hours))
means = local.estimate(plan, collector.tally)
print(means.to_pandas().tail(3).to_string(index=False, float_format="{:.3f}".format))
error = np.sqrt(np.mean((means.values[:, 0] - hours.mean(axis=0)) ** 2))
print(f"Error of a day's mean (root of the mean square): {error:.3f} hours, of {hours.mean():.2f}.")
