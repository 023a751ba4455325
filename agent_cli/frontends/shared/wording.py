"""Figures as a person reads them."""


def duration(seconds: float, *, tenths: bool = True) -> str:
    """ "0.1 s", "12 s", "2 min 05 s"."""
    if tenths and seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds) if tenths else int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"


def rough(count: int) -> str:
    """ "950", "1.9 k", "1.2 M"."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f} k"
    return f"{count / 1_000_000:.1f} M"
