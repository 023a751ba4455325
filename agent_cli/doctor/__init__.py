"""What `agent doctor` checks: each module holds CHECKS, each check is one function."""
