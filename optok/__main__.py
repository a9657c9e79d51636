"""`python -m optok` is the `optok` command."""

from optok.cli import main

main()
