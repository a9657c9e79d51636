"""`optok <stage> …`: one command a stage, the door that every rule of the workflow goes through.

A stage takes its slice of the settings as JSON (`--settings`, as the rules give it). By hand it is easier to
name a configuration and a run: `optok train --configfile F --corpus C --direction D --system S --seed K`.
Heavy libraries are imported inside the commands, so that each job pays for what it uses.
"""

from __future__ import annotations

import sys

import typer

from optok.commands import corpora, evaluation, report, tokenizers, tracking, training
from optok.errors import UserError

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

app = typer.Typer(
    help="How much does a tokenizer cost a translation system?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tokenizer_app = typer.Typer(help="Tokenizers: train, compare, export.", no_args_is_help=True)
app.add_typer(tokenizer_app, name="tokenizer")

for stage in (
    *(corpora.fetch, corpora.prepare),
    *(tokenizers.encode, tokenizers.decode),
    *(training.train, training.retokenize, training.restrict),
    *(evaluation.export, evaluation.translate, evaluation.score, evaluation.table, report.report),
    tracking.track,
):
    app.command()(stage)
tokenizer_app.command("train")(tokenizers.tokenizer_train)
tokenizer_app.command("compare")(tokenizers.tokenizer_compare)
tokenizer_app.command("export")(tokenizers.tokenizer_export)


def main() -> None:
    """Runs a command; a `UserError` is one line on standard error and exit code 2, Ctrl-C exit code 130."""
    try:
        code = app(standalone_mode=False)  # typer makes an exit code of Ctrl-C and returns it
    except UserError as error:
        print(f"optok: error: {error}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except MemoryError:
        print("optok: error: out of memory; give the stage more and run it again, it goes on", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"optok: error: {error}; mend it and run the stage again, it goes on", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        # Usage errors of the command line carry their own one-line message; a bare `optok` has shown its help.
        if hasattr(error, "format_message"):
            if message := error.format_message():
                print(f"optok: error: {message}", file=sys.stderr)
            sys.exit(2)
        raise
    if code == INTERRUPTED:
        print("optok: interrupted; the same command goes on", file=sys.stderr)
    if code:
        sys.exit(code)
