"""Runs the program as `python -m agent_cli`."""

from agent_cli.cli import main

if __name__ == "__main__":
    main()
