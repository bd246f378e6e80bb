"""Does a model see what is known only at the end of a stay?"""

from auditbook.book.say.text import agree
from auditbook.report.content import Statement
from auditbook.report.source import Source, list_names, rest_on


def describe_late(source: Source, model: str) -> Statement | None:
    """Say which late features forbid use at admission; None where the model sees none."""
    table = source.table("cohort_columns")
    late = list(table.loc[table["role"] == "late feature", "column"])
    seen = source.of("models", model=model)
    if not late or seen.empty:
        return None
    basis = (rest_on("cohort_columns.csv", role="late feature"), rest_on("models.csv", model=model))
    if (seen["source"] == "given").any():
        text = (
            f"{list_names(late)} {agree(len(late), 'is', 'are')} known only at the end of a stay. "
            "Whether this score "
            "was made with them is not known here: ask before using it at admission."
        )
        return Statement(text, basis)
    if (seen["features"] == "admission").any():
        return None
    text = f"Not for use at admission: the model sees {list_names(late)}, known only at the end of a stay."
    return Statement(text, basis)


def forbids_admission(source: Source, model: str) -> bool:
    """Tell whether the model was trained here on late features."""
    seen = source.of("models", model=model, source="trained", features="all")
    return bool(len(seen) and (source.table("cohort_columns")["role"] == "late feature").any())
