"""One controller for every view, without a screen library; `view.py` says what a view is."""
