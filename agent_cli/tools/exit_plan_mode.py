"""Presents a plan, for the user to approve."""

from typing import Annotated

from pydantic import StringConstraints

from agent_cli.core.display import TextBlock
from agent_cli.core.inbox import PlanAnswer
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import mark, tr

_KEEP = (
    "The user wants to keep planning.{reason} Change nothing yet. Present a plan again only when "
    "it has improved; if you need to know more first, ask and end your turn."
)
_GO = {
    "default": "The user approved the plan. You may make changes now; they will be asked first.",
    "accept-edits": "The user approved the plan. You may edit files now without asking.",
}
_EDITED = "\n\nThey edited it. Follow exactly this version:\n\n{plan}"


class Params(ToolParams):
    """What is planned."""

    plan: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50_000)]
    """The whole plan, in Markdown."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Wait for the user; the mode, if it changes, is changed by their answer."""
    given = await context.present(params.plan)
    plan = given.plan.strip() or params.plan
    if given.answer == "keep":
        reason = f" They said: {given.reason}" if given.reason else ""
        return _result(_KEEP.format(reason=reason), plan, tr("Keep planning"))
    edited = _EDITED.format(plan=plan) if plan != params.plan else ""
    return _result(_GO[given.answer] + edited, plan, _summary(given, edited=bool(edited)))


def _result(told: str, plan: str, summary: str) -> ToolResult:
    shown = TextBlock(text=plan, language="markdown")
    return ToolResult(llm_content=told, display=(shown,), summary=summary)


def _summary(given: PlanAnswer, *, edited: bool) -> str:
    if edited:
        return tr("Approved with edits: {mode} mode", mode=given.answer)
    return tr("Approved: {mode} mode", mode=given.answer)


def _title(params: Params) -> str:
    """The plan's first line."""
    return params.plan.partition("\n")[0].lstrip("# ").strip()


TOOL = Tool(
    name="ExitPlanMode",
    kind=ToolKind.READONLY,  # what follows from it is the user's doing
    params=Params,
    run=run,
    description=Description.beside(__file__),
    display_name=mark("Plan"),
    title=_title,
    aliases=("present_plan", "propose_plan", "submit_plan", "plan_exit", "exit_plan"),
    param_aliases={"text": "plan", "content": "plan", "markdown": "plan"},
    category="planning",
    status=StatusTexts(mark("Waiting for your answer…"), mark("Not approved")),
    is_concurrency_safe=False,
    modes=("plan",),
    timeout=None,
)
