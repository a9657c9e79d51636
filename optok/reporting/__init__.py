"""Tables for a terminal and the report page."""
