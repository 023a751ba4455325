"""Lists the tools."""

from agent_cli.controller.command import Command
from agent_cli.controller.controller import Controller
from agent_cli.core.tool import AnyTool
from agent_cli.lib.language import mark, tr

KINDS = (mark("readonly"), mark("write"), mark("execute"))
OWN = (
    mark("Asks the person and waits for the answer"),
    mark("Runs a bash command in the session's shell."),
    mark("Returns what a background job printed since the last BashOutput, and its status."),
    mark("Tells the date and time now, with the time zone."),
    mark("Tells the shell's current directory and the workspace's root."),
    mark("Replaces exact text in a file that was Read in this session."),
    mark(
        "Presents your plan to the person, who approves it, edits it, or wants you to keep "
        "planning."
    ),
    mark(
        "Tells about the git repository you work in: branch, commit, remote, ahead and behind, "
        "changed and untracked files"
    ),
    mark("Finds files by name pattern, newest first."),
    mark("Searches file contents with a regular expression (ripgrep syntax)."),
    mark("Ends a background job and everything it started."),
    mark("Lists a directory: directories end with /, files come with their size."),
    mark(
        "Reads a file: text as numbered lines, and pictures, PDF, Word, Excel and notebooks as "
        "what they hold."
    ),
    mark("Replaces a regular expression (ripgrep syntax) in all matching files at once."),
    mark("Sends another agent to do a part of the work, and gives you its final answer."),
    mark("Keeps the todo list that the person watches"),
    mark("Creates a file, or replaces the whole content of one."),
    mark("Loads tools that are there but not declared yet; call it before using one."),
    mark("Loads a skill: instructions for one kind of task, written by the person or the project"),
    mark(
        "Runs one SQL statement: on a SQLite file given by its path, or on a database that the "
        "person configured by name."
    ),
    mark(
        "Fetches a web page by GET and gives its text: of HTML the readable part with headings, "
        "links and code, of other text all of it."
    ),
    mark("Sends one HTTP request and gives status, headers and body as they stand"),
)
"""How our own tools begin to describe themselves to a model, for a person to read."""


def run(controller: Controller, argument: str) -> None:
    """Each tool with its first sentence."""
    controller.say("\n".join(map(_row, controller.session.tools)))


def _row(tool: AnyTool) -> str:
    first = tool.description.short.split(". ")[0]
    return f"- **{tool.name}** ({tr(tool.kind.value)}): {tr(first)}"


COMMAND = Command(name="tools", help=mark("list the model's tools"), run=run)
