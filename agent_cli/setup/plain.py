"""The questions of the setup as plain lines, for any terminal and for pipes."""

import asyncio
import getpass
import sys
from collections.abc import Sequence

from agent_cli.lib.cells import pad, width_of
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_out
from agent_cli.setup.setup_flow import Option

MAX_OPTIONS = 30
"""Options listed at once; typing filters the list."""


class PlainDialog:
    """Numbered choices on standard output, answers from standard input."""

    async def choose(
        self, heading: str, options: Sequence[Option], *, other: str = ""
    ) -> str | None:
        """A number picks, words filter, an empty line goes back."""
        shown = list(options)
        while True:
            self._list(heading, shown, other)
            said = await _line("> ")
            if not said:
                return None
            if said.isdigit() and 0 < int(said) <= min(len(shown), MAX_OPTIONS):
                return shown[int(said) - 1].id
            narrowed = [each for each in options if _fits(each, said)]
            exact = [each for each in narrowed if said.lower() == each.label.lower()]
            if exact or len(narrowed) == 1:
                return (exact or narrowed)[0].id
            if not narrowed and other:
                return said
            if not narrowed:
                self.say(tr("Nothing matches “{words}”.", words=said))
            shown = narrowed or list(options)

    async def ask_line(self, heading: str) -> str | None:
        """A line of text."""
        return await _line(f"{heading}: ")

    async def ask_secret(self, heading: str) -> str | None:
        """A line that is not shown; from a pipe it is just read."""
        if not sys.stdin.isatty():
            return await _line(f"{heading}: ")
        try:
            prompt = tr("{heading} (not shown): ", heading=heading)
            return (await asyncio.to_thread(getpass.getpass, prompt)).strip()
        except EOFError:
            return None

    async def confirm(self, question: str) -> bool:
        """Everything but a clear yes is a no."""
        return (await _line(f"{question} [y/N] ") or "").lower() in ("y", "yes", "是")

    def say(self, text: str, *, passing: bool = False) -> None:
        """A line of its own, with nothing in it that acts on the terminal."""
        write_out(f"{visible(text)}\n")
        sys.stdout.flush()

    def _list(self, heading: str, options: Sequence[Option], other: str) -> None:
        self.say(f"\n{heading}")
        width = max((width_of(option.label) for option in options[:MAX_OPTIONS]), default=0)
        for number, option in enumerate(options[:MAX_OPTIONS], 1):
            self.say(f"{number:>3}  {pad(option.label, width)}  {option.detail}".rstrip())
        if len(options) > MAX_OPTIONS:
            self.say("     " + tr("… and {n} more", n=len(options) - MAX_OPTIONS))
        how = tr("Enter a number, or words to filter; empty to go back.")
        if other:
            how = tr("Enter a number, words to filter, or {other}; empty to go back.", other=other)
        self.say(how)


def _fits(option: Option, words: str) -> bool:
    text = f"{option.label} {option.detail}".lower()
    return all(word in text for word in words.lower().split())


async def _line(prompt: str) -> str | None:
    """A line of input; None at its end."""
    write_out(prompt)
    sys.stdout.flush()
    line = await asyncio.to_thread(sys.stdin.readline)
    return line.strip() if line else None
