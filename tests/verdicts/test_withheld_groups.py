"""Groups that a hospital withholds are no part of the audit of their attribute, nor of its size."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import TalliedParts, add_tallies, prepare_tally, tally_records
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import judge

PROTOCOL = Protocol(
    metrics=("SPD", "EOPP"), resamples=40, resample_size=900, audit_sizes=(200, 500, 1_000), size_repeats=5
)


def draw_hospital(size: int, rng: np.random.Generator) -> AuditRecords:
    outcome = rng.binomial(1, 0.4, size).astype(np.int8)
    attributes = tuple(
        Attribute(name, ("a", "b", "c"), rng.integers(0, 3, size)) for name in ("race", "insurance")
    )
    score = Score("risk", "decision", 0.5, rng.binomial(1, 0.2 + 0.4 * outcome).astype(float))
    return AuditRecords(outcome, attributes, (score,), site=np.zeros(size, int))


def withhold_first(one):
    """Blank an attribute in the first hospital, as a counts file that tells none of its groups does."""
    parts = {each.name: getattr(one.sites, each.name).copy() for each in fields(TalliedParts)}
    for part in parts.values():
        part[:, 0] = 0
    return replace(one, sites=TalliedParts(**parts))


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(5)
    north = tally_records(draw_hospital(1_500, rng), sites=["north"])
    south = tally_records(draw_hospital(700, rng), sites=["south"])
    both = add_tallies([north, south])
    withheld = replace(
        both, attributes=tuple(withhold_first(one) if one.name == "race" else one for one in both.attributes)
    )
    axes = ("size", "shown")
    return {
        name: judge(prepare_tally(tally), PROTOCOL, axes=axes)
        for name, tally in (("withheld", withheld), ("both", both), ("south", south))
    }


@pytest.mark.parametrize(("attribute", "alike"), [("race", "south"), ("insurance", "both")])
def test_an_attribute_is_audited_on_the_records_whose_groups_are_told(judged, attribute, alike):
    found, wanted = (judged[name] for name in ("withheld", alike))
    columns = ["estimate", "resample_size", "vfr", "vfr_own_size", "fail_if_equal", "n_to_show"]
    for one, other in ((found.verdicts, wanted.verdicts), (found.audit_size, wanted.audit_size)):
        mine, theirs = (part[part["attribute"] == attribute].reset_index(drop=True) for part in (one, other))
        named = columns if "vfr" in mine else list(mine)
        pd.testing.assert_frame_equal(mine[named], theirs[named])


def test_no_size_is_tried_that_an_attribute_does_not_have(judged):
    sizes = judged["withheld"].audit_size.groupby("attribute")["n"].max()
    assert sizes.to_dict() == {"race": 700, "insurance": 2_200}
