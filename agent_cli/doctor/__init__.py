"""What the doctor looks at: each module holds CHECKS, each check is one function."""
