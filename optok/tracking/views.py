"""How MLflow's page shows a benchmark: a row a run with its scores, learning curves first among the charts.

MLflow keeps a view that somebody shares as JSON in a tag of the experiment; the page's address names it. A key that
a version of MLflow does not know is ignored by its page.
"""

from __future__ import annotations

import json
from typing import Any

VIEW = "optok"
CURVES = ("valid/bleu", "valid/nll_per_character", "train/loss")
SCORES = ("test/bleu", "test/chrf", "test/f1_weighted", "test/accuracy", "test/tokens_per_sentence")
COLUMNS = (*SCORES, "tokenizer/pieces_source", "tokenizer/pieces_target", "cost/train_seconds")
RUNS_ONLY = 'params.system LIKE "%"'  # parents have none; the page nests nothing where it filters


def addresses(experiment: str) -> dict[str, str]:
    """Of the pages within a server; without `workflowType` they would open among traces of language models."""
    runs = f"#/experiments/{experiment}/runs?workflowType=machine_learning&viewStateShareKey={VIEW}"
    return {"runs": runs, "curves": f"{runs}&compareRunsMode=CHART"}


def experiment_tags() -> dict[str, str]:
    """The view, and of which kind the experiment is: else the page would offer tools for language models."""
    return {f"mlflow.sharedViewState.{VIEW}": shared_view(), "mlflow.experimentKind": "custom_model_development"}


def shared_view() -> str:
    """The view, as MLflow's page writes it."""
    line: dict[str, Any] = {
        "xAxisKey": "step",
        "yAxisKey": "metric",
        "xAxisScaleType": "linear",
        "scaleType": "linear",
        "range": {},
    }
    line |= {"useGlobalXaxisKey": True, "useGlobalLineSmoothing": True}
    view = {
        "searchFilter": RUNS_ONLY,
        "orderByKey": "params.`direction`",
        "orderByAsc": True,
        "selectedColumns": [*(f"metrics.`{name}`" for name in COLUMNS), "params.`corpus`"],
        "compareRunSections": [_section("Learning curves"), _section("Scores")],
        "compareRunCharts": [
            *(_chart("LINE", name, "Learning curves") | line | {"selectedYAxisMetrics": [name]} for name in CURVES),
            *(_chart("BAR", name, "Scores") for name in SCORES),
        ],
        "isAccordionReordered": True,
    }
    return json.dumps(view)


def _section(name: str) -> dict[str, Any]:
    return {"uuid": name, "name": name, "display": True, "isReordered": False, "deleted": False, "isGenerated": False}


def _chart(kind: str, metric: str, section: str) -> dict[str, Any]:
    return {
        "uuid": metric,
        "type": kind,
        "metricKey": metric,
        "metricSectionId": section,
        "runsCountToCompare": 10,
        "deleted": False,
        "isGenerated": False,
    }
