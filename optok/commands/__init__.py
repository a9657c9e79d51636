"""The commands behind `optok`: what each takes, and what it prints."""
