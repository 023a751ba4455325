"""temporary"""

import re


def for_model(text: str) -> tuple[str, bool]:
    clean = re.sub("[\U000e0000-\U000e007f\x00\ud800-\udfff]", "", text)
    return clean, clean != text
