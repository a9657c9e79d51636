"""Run logs → MLflow: training never waits for the tracker, for it only reads what a run wrote."""

import os

# Before MLflow is imported: nothing is told to anybody, and a server that is gone is noticed in seconds, not minutes.
DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "4",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
for name, value in DEFAULTS.items():
    os.environ.setdefault(name, value)
