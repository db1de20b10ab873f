"""# Domains that drain a battery, from devices that perturb before they report

Follows a browser that asks which of 250,000 domains cause trouble ("Learning with privacy at scale", Apple's
differential privacy team, 2017).

**What they did.** A device sends one noisy bit of a transformed sketch; the collector looks for popular domains among
a public list of 250,000.

**Unit and price.** A device in everything it ever sends: one report at epsilon 4.

**What is different here.** Local hashing over the list. The collector looks at 1,000 domains that it names.

**What is missing.** Domains that are on no list: finding them by prefixes, report by report, is not built. To look at
all 250,000 works as well and takes 250 times as long.
"""

import numpy as np

from chronodp import local
from examples.deployments import made_up

domains = made_up.choices_of_devices(50_000, 250_000)
ask = local.LocalHashing(epsilon=4.0, choices=250_000)
print(local.LocalPlan("domains", ask, local.Fresh(horizon=1)))
looked_at = np.arange(1_000)
support = ask.support(ask.perturb(domains[:, 0]), candidates=looked_at)
found = ask.law.frequencies(support, len(domains))
truth = np.bincount(domains[:, 0], minlength=250_000)[looked_at] / len(domains)
for domain in np.argsort(-found)[:5]:
    print(f"domain {domain}: {found[domain]:.3f} (true {truth[domain]:.3f})")
print(f"Error of a share (root of the mean square): {np.sqrt(np.mean((found - truth) ** 2)):.4f}.")
