"""Made-up people in the training data: does the model tell which of them were there?"""

from __future__ import annotations

import numpy as np

from chronodp.federated.membership import MembershipAudit, attack, make_canaries, toss
from chronodp.federated.models import Inputs, Linear, ModelDesign, Risk
from chronodp.federated.training import plan_training, predict
from chronodp.randomness import seeded
from experiments.federated.patients import VITALS, Patients
from experiments.federated.running import train

DARED = 3 / 4


def attack_training(
    patients: Patients | None, *, epsilon: float, rounds: int, noise: bool, seed: int = 1
) -> tuple[MembershipAudit, float]:
    """Return what an attack on one holder's model proves, and the epsilon that was claimed.

    Without patients all people are made up, over four times as many hours: the worst data for the model to hide in.
    """
    inputs = VITALS if patients is not None else Inputs(VITALS.columns, 4 * VITALS.length)
    canaries = inputs.length * len(inputs.columns)
    planted, inside = make_canaries(inputs, canaries), toss(canaries, seeded(seed))
    labels = (np.arange(canaries) % 2).astype(np.float64)
    values, targets = planted[inside], labels[inside]
    if patients is not None:
        values = np.concatenate([patients.values, values])
        targets = np.concatenate([patients.septic, targets])
    people = canaries // 2 + (0 if patients is None else len(patients))
    plan = plan_training(
        ModelDesign(inputs, Risk(), Linear(), seed),
        epsilon=epsilon,
        delta=1e-5,
        people=people,
        batch=people // 3,
        rounds=rounds,
        local_steps=5,
        clip=1.0,
        learning_rate=3.0,
    )
    parameters = train(plan, [(values, targets)], seed=seed, noise=noise)
    nobody = np.full((1, *planted.shape[1:]), np.nan)  # what the model says of it is common to all made-up people
    risks = [
        predict(plan.model, at, np.concatenate([planted, nobody])) for at in (plan.model.first_parameters(), parameters)
    ]
    before, after = (logits[:-1] - logits[-1] for logits in (np.log(risk / (1 - risk)) for risk in risks))
    scores = np.where(labels == 1, after - before, before - after)
    found = attack(scores, inside, guesses=round(DARED * canaries), delta=plan.delta)
    return found, plan.epsilon
