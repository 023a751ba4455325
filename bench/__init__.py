"""Measures what the project promises: `python -m bench [startup pipeline …]`.

A module of this package with `def run() -> list[Row]` is a benchmark; adding one is adding a file.
Machines are noisy, so rivals are timed in turn within one run, and budgets are ratios wherever an
absolute time would measure the machine.
"""
