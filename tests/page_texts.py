"""What the pages on verdicts say of a run: their sentences, and the tables that stand behind them."""

import pandas as pd

from auditbook.book.say import audit, audit_size, panel, tiers, verdicts
from auditbook.book.say.text import table_html
from auditbook.results import Run
from auditbook.studies.say import sizes_to_show
from auditbook.verdicts.model_agreement import compare_models, count_flips
from auditbook.verdicts.size_needs import list_needs


def list_tables(run: Run, model: str) -> dict[str, pd.DataFrame]:
    """Tables of one model, a row a cell, by the page that shows them."""
    tables = {
        "audit-report": audit.build_board(run),
        "tiers": tiers.build_board(run),
        "verdict-flip-rate": verdicts.rank_cells(run.verdicts, model=model).assign(model=model),
        "audit-size": list_needs(run.audit_size, run.verdicts, run.protocol, model=model).assign(model=model),
        "smallest-group": sizes_to_show.list_needs(run, model=model).assign(model=model),
        "panel": panel.pick_cells(run),
    }
    return {page: table[table["model"] == model].reset_index(drop=True) for page, table in tables.items()}


def list_texts(run: Run, model: str) -> dict[str, str]:
    """Sentences and tables of one model as a reader sees them, by page."""
    tables = list_tables(run, model)
    board = tables["audit-report"]
    cells, needs = tables["verdict-flip-rate"], tables["audit-size"]
    models = compare_models(panel.pick_cells(run))
    return {
        "audit-report": "\n".join(
            [
                audit.describe_choice(run),
                audit.describe_standings(board),
                audit.describe_decisions(run, board, limit=100),
                audit.describe_open(run, board, limit=100),
                audit.describe_shown(run, board, limit=100),
                audit.describe_unjudged(board),
                table_html(board, audit.BOARD_COLUMNS),
            ]
        ),
        "tiers": "\n".join(
            [
                tiers.describe_tiers(tables["tiers"]),
                tiers.describe_axes(tables["tiers"], run),
                tiers.describe_needs(tables["tiers"]),
                tiers.describe_stable_fails(tables["tiers"]),
            ]
        ),
        "verdict-flip-rate": "\n".join(
            [
                verdicts.describe_flip_rates(cells, run.protocol),
                verdicts.describe_own_size(cells, run.protocol),
                verdicts.describe_sites(cells, run.protocol),
                verdicts.describe_agreement(cells),
                verdicts.describe_undefined(cells),
            ]
        ),
        "audit-size": "\n".join(
            [
                audit_size.describe_sizes(run.audit_size, run.protocol),
                audit_size.describe_needs(needs, run.protocol),
                audit_size.describe_minds(needs),
            ]
        ),
        "smallest-group": "\n".join(
            [
                sizes_to_show.describe_needs(tables["smallest-group"]),
                table_html(tables["smallest-group"], sizes_to_show.NEED_COLUMNS),
            ]
        ),
        "panel": "\n".join(
            [
                panel.describe_panel(run),
                panel.describe_agreement(panel.write_cells(models)),
                panel.describe_splits(panel.write_cells(models)),
                panel.describe_flips(
                    count_flips(panel.pick_cells(run), run.protocol), panel.write_cells(models), run.protocol
                ),
            ]
        ),
    }
