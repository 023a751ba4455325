"""The offline guide: a built-in model that follows rules and is no language model."""

NAME = "offline:guide"
