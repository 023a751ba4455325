"""One controller for every view: the queue, turns, questions, slash commands, background work.

It knows no screen library. A view draws what it is told and asks what it is given: see `view.py`.
"""
