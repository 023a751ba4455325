"""The session's shell, behind the tools Bash, BashOutput and KillShell."""
