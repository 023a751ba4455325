"""What was typed before the program was there to read it."""

import os
import sys
import termios
from fcntl import ioctl


def read_ahead(descriptor: int) -> str:
    """What waits in the terminal, the last line maybe unfinished.

    It came while the terminal made a line feed of each Enter: read as keys, it would be new lines.
    """
    try:
        before = termios.tcgetattr(descriptor)
        by_key = list(before)
        by_key[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(descriptor, termios.TCSANOW, by_key)
        try:
            count = int.from_bytes(ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)
            read = os.read(descriptor, count) if count else b""
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
    except (OSError, termios.error):
        return ""
    return read.decode("utf-8", "replace").replace("\r", "\n")
