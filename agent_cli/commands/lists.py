"""Lists what a session has: tools, jobs, rules and changed files."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.tool import AnyTool
from agent_cli.lib.language import mark, tr
from agent_cli.tools._shell.background_jobs import Jobs

KINDS = (mark("readonly"), mark("session"), mark("write"), mark("execute"))
DENY, ASK, ALLOW = mark("Deny"), mark("Ask"), mark("Allow")


@slash_command("tools", mark("list the model's tools"))
def list_tools(controller: Controller, argument: str) -> None:
    """Each tool with its first sentence."""
    controller.view.say("\n".join(map(_row, controller.session.tools)))


def _row(tool: AnyTool) -> str:
    return f"- **{tool.name}** ({tr(tool.kind.value)}): {tr(tool.description.first_sentence)}"


@slash_command("jobs", mark("list background jobs"))
def list_jobs(controller: Controller, argument: str) -> None:
    """Each background job and its state."""
    jobs = list(controller.session.state(Jobs))
    rows = [f"- **{job.id}** `{job.command.text}`: {job.standing}" for job in jobs]
    controller.view.say("\n".join(rows) or tr("No background jobs."))


@slash_command("permissions", mark("show the permission rules"))
def show_permissions(controller: Controller, argument: str) -> None:
    """The rules in force, by effect."""
    rules = controller.session.rules
    parts = []
    for effect, given in ((DENY, rules.deny), (ASK, rules.ask), (ALLOW, rules.allow)):
        listed = "\n".join(f"- `{rule.text}`" for rule in given) or tr("- none")
        parts.append(f"**{tr(effect)}**\n\n{listed}")
    controller.view.say("\n\n".join(parts))


@slash_command("diff", mark("show what this session changed"))
async def show_diff(controller: Controller, argument: str) -> None:
    """What tools and commands changed and nobody has undone, a diff for each file."""
    await controller.read_diffs()
    diffs = [f"```diff\n{each.text.rstrip()}\n```" for each in controller.diffs]
    controller.view.say("\n\n".join(diffs) or tr("No files were changed in this session."))
