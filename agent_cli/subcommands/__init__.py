"""The sub-commands of the program: one file each, loaded only when it is chosen."""
