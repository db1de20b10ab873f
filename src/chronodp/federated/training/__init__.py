"""Private training: one person is one example, sampled in secret, clipped, and hidden in exact noise."""

from chronodp.federated.training.clipping import whole_rows as whole_rows
from chronodp.federated.training.evaluation import area_under_curve, losses_of_people, predict
from chronodp.federated.training.people_file import People, make_trainer, read_people
from chronodp.federated.training.plan import TrainingPlan, plan_training
from chronodp.federated.training.plan_file import PlanFile, read_plan
from chronodp.federated.training.step import ARGUMENT as ARGUMENT, StepDesign, private_sum, sample as sample
from chronodp.federated.training.trainer import Trainer

__all__ = [
    "People",
    "PlanFile",
    "StepDesign",
    "Trainer",
    "TrainingPlan",
    "area_under_curve",
    "losses_of_people",
    "make_trainer",
    "plan_training",
    "predict",
    "private_sum",
    "read_people",
    "read_plan",
]
