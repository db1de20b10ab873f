"""# Four hospitals train one model

Four hospitals want one model that warns of a bad night from twelve hours of vital signs. No record may leave its house,
the server may see sums only, and the model must not tell whether any one patient was in it. What does that cost in
accuracy, and does an attacker who tries find anything?
"""

# %%
import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.federated import Federation, membership, models, training

options = argparse.ArgumentParser(description="Train a private model across four hospitals, in one process.")
options.add_argument("--people", type=int, default=600, help="how many patients each hospital has")
options.add_argument("--folder", type=Path, help="where the hospitals' ledgers go; a new one unless given")
chosen = options.parse_args()
folder = chosen.folder or Path(tempfile.mkdtemp(prefix="federated-training-"))
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# ## Patients
#
# Made up: pulse, breath and temperature over twelve hours, which drift upwards before a bad night. Hospitals differ a
# little. A fifth group has agreed to be looked at; on them the model is judged.

# %%
HOSPITALS = ("north", "south", "east", "west")
VITALS = models.Inputs(
    (models.Column("pulse", 40, 160), models.Column("breath", 5, 45), models.Column("temperature", 34, 41)), length=12
)

People: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]


def make_up(seed: int, people: int) -> People:
    """Return vital signs (people, hours, columns) and who had a bad night, the same ones each time."""
    chance = np.random.default_rng(seed)
    bad = chance.random(people) < 0.3
    usual = np.array([80.0 + seed, 16.0, 36.8]) + chance.normal(0, 1, (people, 1, 3)) * [9, 2, 0.3]
    drift = bad[:, None, None] * np.linspace(0, 1, 12)[:, None] * np.array([6, 2, 0.3])
    return usual + drift + chance.normal(0, 1, (people, 12, 3)) * [4, 1.5, 0.2], bad.astype(float)


houses = {name: make_up(number, chosen.people) for number, name in enumerate(HOSPITALS)}
agreed, bad_night = make_up(9, 2_000)

# %% [markdown]
# ## A plan that all of them sign
#
# The model is fixed from public knowledge: bounds that a nurse would write down, never means of the data. The plan says
# what all rounds together cost one patient, and how large a house's budget must be to pay for them.

# %%
model = models.ModelDesign(VITALS, models.Risk(prevalence=0.3), models.Linear())
plan = training.plan_training(
    model,
    epsilon=1.0,
    delta=1e-5,
    people=chosen.people,
    batch=chosen.people // 10,
    rounds=6,
    local_steps=5,
    learning_rate=1.0,
)
print(plan)

# %% [markdown]
# ## Train
#
# Each house has its own ledger, and debits it before each round. Updates are clipped and noisy when they leave the
# house, and hidden from the server by secure aggregation: it sees their sum.


# %%
def train(plan: training.TrainingPlan, houses: dict[str, People], run: str) -> NDArray[np.float32]:
    """Return the parameters after all rounds."""
    ledgers = {name: cdp.Ledger(folder / f"{name}.db") for name in houses}
    holders = []
    for name, (values, targets) in houses.items():
        budget = f"patients, {run}"
        ledgers[name].open(budget, unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
        holders.append(
            training.Trainer(
                plan,
                values,
                targets,
                people=plan.people,
                all_people=plan.people * len(houses),
                ledger=ledgers[name],
                dataset=budget,
                name=name,
                run=run,
            )
        )
    # One house alone has nobody to hide its update among.
    aggregation: Literal["plain", "secure"] = "secure" if len(holders) > 1 else "plain"
    parameters = Federation(holders, plan.task(), aggregation=aggregation, start=plan.model.first_parameters()).run()
    for ledger in ledgers.values():
        ledger.close_connection()
    return parameters


def almost_without_noise(plan: training.TrainingPlan) -> training.TrainingPlan:
    """Return the same plan with so little noise that it protects nobody: to compare with, in examples only."""
    return replace(plan, step=replace(plan.step, sigma=0.05))


# %% [markdown]
# ## What privacy costs
#
# The area under the curve is the chance that a patient with a bad night has the higher risk.

# %%
for name, tried in (("private", plan), ("hardly any noise", almost_without_noise(plan))):
    risks = training.predict(model, train(tried, houses, run=name.replace(" ", "-")), agreed)
    print(f"{name:16} area under the curve {training.area_under_curve(risks, bad_night):.3f}")
with cdp.Ledger(folder / "north.db") as ledger:
    print(f"North paid {len(ledger.history('patients, private'))} times for the private model, once a round.")

# %% [markdown]
# ## Who was in it?
#
# An attacker is let loose on the worst data to hide in: a house that has made-up patients only, no two alike, each
# added or removed by a coin. The attacker sees the model and guesses the coins. How many guesses are right proves a
# lower bound on ε. If it were above what was promised, the promise would be false.

# %%
wide = models.Inputs(VITALS.columns, length=48)
canaries = membership.make_canaries(wide, 144)
nights = (np.arange(144) % 2).astype(np.float64)
inside = membership.toss(144, cdp.randomness.seeded("coins"))  # so that the example can run twice; else secure()
attacked = models.ModelDesign(wide, models.Risk(), models.Linear())
target = replace(plan, model=attacked, people=72, learning_rate=3.0)  # the same noise and rounds, so the same price


def guess(parameters: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return how far each made-up patient's own risk went towards what was said of them."""
    nobody = np.full((1, 48, 3), np.nan)
    risk = training.predict(target.model, parameters, np.concatenate([canaries, nobody]))
    odds = np.log(risk / (1 - risk))
    own: NDArray[np.float64] = np.where(nights == 1, 1, -1) * (odds[:-1] - odds[-1])
    return own


for name, tried in (("private", target), ("hardly any noise", almost_without_noise(target))):
    parameters = train(tried, {"made-up": (canaries[inside], nights[inside])}, run=name.replace(" ", "-"))
    scores = guess(parameters) - guess(target.model.first_parameters())
    found = membership.attack(scores, inside, guesses=108, delta=target.delta)
    print(f"{name}: {found}")
    print(f"  That refutes a promise of ε = {target.epsilon:.3g}: {found.refutes(target.epsilon)}.")

# %% [markdown]
# ## What travels with the model

# %%
print(plan.certificate(seeded=False))
