"""The agent without a screen: `agent -p`, one answer or a stream of events on standard output.

Standard output carries only the answer or the events; everything else goes to standard error.
"""
