"""The names by which models used to other agents ask for the small tools."""

import pytest

from agent_cli.runtime import built_in_tools

NAMES = {
    "GitInfo": ["git_info", "git_status", "gitStatus", "get_git_info"],
    "CurrentDirectory": ["getCurrentDirectory", "pwd", "cwd", "get_working_directory"],
    "CurrentDateTime": ["get_current_time", "getCurrentDateTime", "date", "current_time"],
    "TodoWrite": ["todo_write", "update_plan", "write_todos", "manage_todo_list", "SetTodoList"],
    "AskUser": ["AskUserQuestion", "ask_question", "ask_followup_question", "request_user_input"],
}


@pytest.mark.parametrize(
    ("asked", "name"), [(asked, name) for name, others in NAMES.items() for asked in others]
)
def test_other_names_reach_the_tool(asked: str, name: str) -> None:
    tool = built_in_tools().get(asked)
    assert tool is not None
    assert tool.name == name


@pytest.mark.parametrize("name", NAMES)
def test_every_alias_is_the_tools_alone(name: str) -> None:
    registry = built_in_tools()
    tool = registry.find(name)
    assert {registry.find(alias).name for alias in tool.aliases} == {name}
