"""Read a command's arguments as getopt does."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Arguments:
    """The arguments, sorted."""

    letters: dict[str, str] = field(default_factory=dict)
    longs: dict[str, str] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)

    def has(self, letters: str, *longs: str) -> bool:
        """Whether any of these options is given; long ones may be abbreviated."""
        return any(letter in self.letters for letter in letters) or any(
            name.startswith(given) for name in longs for given in self.longs
        )

    def value(self, letter: str, long: str) -> str | None:
        """The value of an option."""
        if letter in self.letters:
            return self.letters[letter]
        return next((v for given, v in self.longs.items() if long.startswith(given)), None)


def read(
    argv: Sequence[str], *, valued: str = "", optional: str = "", longs: Sequence[str] = ()
) -> Arguments:
    """Sort the arguments: `valued` letters and `longs` take a value, `optional` an attached one."""
    found = Arguments()
    words = iter(argv[1:])
    for word in words:
        if word == "--":
            found.operands.extend(words)
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            takes = not equals and any(long.startswith(name) for long in longs)
            found.longs[name] = next(words, "") if takes else value
        elif word.startswith("-") and word != "-":
            for index, letter in enumerate(word[1:], 2):
                found.letters[letter] = ""
                if letter in optional:
                    found.letters[letter] = word[index:]
                    break
                if letter in valued:
                    found.letters[letter] = word[index:] or next(words, "")
                    break
        else:
            found.operands.append(word)
    return found
