"""What people ask the guide for, recognised in plain English and Chinese.

In a pattern `<name>` stands for a word or something in quotes, `<name…>` for anything.
"""

# A pattern reads best on one line.
# ruff: noqa: E501

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

Kind = Literal[
    "help", "tour", "next", "stop", "undo", "setup", "changes", "tests", "unknown",
    "run", "create", "swap", "find", "search", "list", "diff", "delete", "show",
]  # fmt: skip

QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》"}
QUOTED = "|".join(f"{re.escape(a)}[^{re.escape(b)}]+{re.escape(b)}" for a, b in QUOTES.items())

KINDS_OF_FILES = {
    "python": "**/*.py", "javascript": "**/*.{js,jsx,mjs}", "typescript": "**/*.{ts,tsx}",
    "markdown": "**/*.md", "json": "**/*.json", "yaml": "**/*.{yml,yaml}", "toml": "**/*.toml",
    "html": "**/*.html", "css": "**/*.css", "shell": "**/*.sh", "rust": "**/*.rs", "go": "**/*.go",
    "java": "**/*.java", "c": "**/*.{c,h}", "test": "**/*test*",
    "image": "**/*.{png,jpg,jpeg,gif,svg,webp}",
}  # fmt: skip

PLAIN: dict[Kind, tuple[str, ...]] = {
    "tour": (
        r"(?:(?:start|begin|take|give me|show me)\s+)?(?:(?:the|a)\s+)?(?:guided\s+)?tour",
        r"(?:开始|来个|来一个)?\s*(?:导览|导游|教程|演示|新手引导)",
    ),
    "next": (r"next(?: step| one)?|n|go on|continue|下一步|下一个|继续|接着",),
    "stop": (r"(?:stop|end|quit|leave|skip)(?: (?:it|the tour))?|停止?|结束(?:导览)?|退出导览",),
    "help": (
        r"help(?: me)?|\?|what can (?:you|i) do|(?:who|what) are you|how does (?:this|it) work",
        r"hi|hello|hey|good (?:morning|evening|day)|你好|您好|嗨",
        r"帮助|(?:你|您)?(?:都)?(?:能|可以|会)(?:做|干)(?:些)?(?:什么|啥)|(?:你|您)是谁|怎么用",
    ),
    "undo": (
        r"undo(?: (?:that|it|this|the last (?:change|edit|turn)|everything))?",
        r"(?:take (?:that|it)|put (?:that|it)) back|revert(?: (?:that|it|the last change))?",
        r"撤[销消](?:上一步|刚才的?(?:修改|改动)?|修改|改动)?|还原|恢复(?:原样)?|回退",
    ),
    "setup": (
        r"(?:agent\s+)?set\s?up(?: .*)?|(?:how (?:do|can) i )?(?:choose|use|add|connect|change)"
        r"(?: to)? (?:a|an|the|another|my)?\s*(?:real |local |api )?(?:model|key|llm)\b.*",
        r"(?:怎么|如何)?(?:设置|选择|更换|使用|换|添加|接入|连接)(?:一个)?(?:真正的|真实的|别的|本地)?"
        r"(?:模型|密钥|大模型).*",
    ),
    "changes": (
        r"(?:git )?status|(?:show|list)?(?: me)?(?: the| my)?(?: git)? ?changes",
        r"what(?:'s| is| has| have| was)?(?: \w+)? (?:been )?(?:changed?|new|different|modified)"
        r"(?: (?:in|by|with|since).*)?(?: here)?",
        r"(?:查看|看看|显示)?\s*git\s*(?:的)?(?:状态|改动|变化|变更)",
        r"(?:git|仓库|这里)?\s*(?:里|中)?(?:面)?(?:都)?"
        r"(?:有(?:什么|哪些)(?:变化|改动|修改|变更)|(?:改动?|修改|变更?)了(?:什么|哪些|啥)(?:文件|东西)?)",
    ),
    "tests": (
        r"(?:run|execute|start) (?:the |all |all the |my )?(?:unit )?tests?|(?:运行|跑)(?:一下)?测试",
    ),
}
RUN = (
    r"(?:run|execute|exec)\s+(?:the\s+)?(?:(?:command|shell)\s*:?\s+)?(?P<command>.+)",
    r"[$]\s+(?P<command>.+)",
    r"(?:运行|执行|跑)(?:一下)?(?:命令)?\s*[:：]?\s*(?P<command>.+)",
)
_WITH = r"(?:\s+(?:with|containing|that says)(?:\s+the)?(?:\s+(?:contents?|text|words?|lines?))?\s*:?\s*|\s*:\s+)"
CREATE = (
    rf"(?:create|make|add|write)\s+(?:(?:a|the)\s+)?(?:new\s+)?(?P<file>file\s+)?"
    rf"(?:(?:named|called)\s+)?<path>{_WITH}<content…>",
    rf"write\s+(?P<content>{QUOTED})\s+(?:to|into)\s+(?:the\s+)?(?:file\s+)?<path>",
    r"(?:create|make|add)\s+(?:(?:a|an)\s+)?(?:new\s+)?(?:empty\s+)?(?P<file>file)\s+"
    r"(?:(?:named|called)\s+)?<path>",
    r"(?:create|touch)\s+<path>",
    r"(?:创建|新建|建立|写)(?:一个)?(?:新的?)?(?:文件)?\s*<path>\s*[，,]?\s*"
    r"(?:(?:内容|并?写入|写上)(?:为|是)?\s*[:：]?|[:：])\s*<content…>",
    r"(?:创建|新建|建立)(?:一个)?(?:新的?|空的?)?(?:文件)?\s*<path>",
)
_TURN = r"(?:替换|换|改|修改)(?:成|为|做)"
_INSIDE = r"\s*(?:文件)?\s*(?:里面?|中|内)(?:的)?(?:所有的?)?\s*"
SWAP = (
    r"(?:replace|change|substitute)\s+(?:all\s+)?<old…>\s+(?:by|with|to|into|->|→)\s+<new…>"
    r"\s+(?P<everywhere>everywhere|in (?:all|every)(?: the)? files?|in the (?:project|repository))",
    r"(?:replace|change|substitute)\s+(?:all\s+)?<old…>\s+(?:by|with|to|into|->|→)\s+<new…>"
    r"\s+(?:in|inside|of)\s+(?:the\s+)?(?:file\s+)?<path>",
    r"in\s+<path>,?\s+(?:replace|change)\s+(?:all\s+)?<old…>\s+(?:by|with|to|into|->|→)\s+<new…>",
    r"(?:replace|substitute)\s+(?:all\s+)?<old…>\s+(?:by|with|->|→)\s+<new…>",
    rf"(?:把|将)?(?:在)?\s*(?P<everywhere>(?:所有|全部)文件){_INSIDE}(?:把|将)?\s*<old…>\s*{_TURN}\s*<new…>",
    rf"(?:把|将)\s*<path>{_INSIDE}<old…>\s*(?:全部|都)?{_TURN}\s*<new…>",
    rf"在?\s*<path>{_INSIDE}[，,]?\s*(?:把|将)\s*<old…>\s*(?:全部|都)?{_TURN}\s*<new…>",
    rf"(?:把|将)\s*<old…>\s*(?:全部|都)?{_TURN}\s*<new…>",
)
_FILES = r"(?:files?|文件)"
FIND = (
    rf"(?:find|locate|show|list)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?(?P<kind>\w+)\s+{_FILES}",
    rf"find\s+(?:all\s+)?(?:the\s+)?{_FILES}\s+(?:named|called|matching|like|ending (?:in|with))?\s*<name>",
    r"(?:find|locate|where is)\s+(?:the\s+)?(?:file\s+)?(?P<name>[^\s\"'`]*[.*/][^\s\"'`]*)",
    rf"(?:查找|寻找|搜索|找)(?:一下|出|到)?\s*(?:所有|全部)?(?:的)?(?P<kind>[A-Za-z]+)\s*(?:的)?{_FILES}",
    rf"(?:查找|寻找|搜索|找)(?:一下|出|到)?\s*(?:所有|全部)?(?:名为|叫做?|名叫|的)?{_FILES}\s*<name>",
    rf"(?:查找|寻找|搜索|找)(?:一下|出|到)?\s*(?:名为|叫做?|名叫)?\s*(?P<name>[\w.*/-]*[.*][\w.*/-]*)"
    rf"\s*(?:的)?{_FILES}?",
)
SEARCH = (
    r"(?:find|list|show)\s+(?:all\s+)?(?:the\s+)?files?\s+(?:containing|with|that contain|mentioning)\s+<text…>",
    r"(?:search|look|grep|rg)\s+(?:for\s+)?<text…>\s+(?:in|inside|under)\s+(?:the\s+)?(?:(?:file|folder|directory)\s+)?<path>",
    r"(?:search|look|grep|rg)\s+(?:in\s+)?<path>\s+for\s+<text…>",
    r"(?:search|grep|rg)\s+(?:for\s+)?<text…>|look for\s+<more…>",
    r"where (?:is|are|do (?:we|i) use|is there)\s+(?:the\s+)?<text…>(?:\s+(?:used|defined|called|mentioned))?",
    r"(?:who|what) (?:uses|calls|mentions)\s+<text>|find\s+<more>",
    r"在\s*<path>\s*(?:文件|目录|文件夹)?(?:里面?|中|内|下)?\s*(?:搜索|搜一下|搜|查找|检索|找)\s*(?:包含)?\s*<text…>",
    r"(?:查找|找|搜索)(?:出)?(?:所有)?包含\s*<text…>\s*的文件",
    r"(?:搜索|搜一下|搜|检索|查找|查一下|找一下|找)\s*<text…>",
    r"<text…>\s*(?:在哪里?|在哪儿|哪里)(?:用到|使用|定义|出现)?了?",
)
LIST = (
    rf"(?:list|ls|dir)(?:\s+(?:all\s+)?(?:the\s+)?{_FILES})?(?P<deep>\s+(?:recursively|and folders below))?",
    rf"(?:list|show)(?:\s+me)?(?:\s+(?P<deep>all))?(?:\s+the)?\s+(?:{_FILES}|folders?|directories|directory)"
    r"(?:\s+(?:in|of|under|inside)\s+(?:the\s+)?(?:(?:folder|directory)\s+)?<path>)?(?:\s+here)?",
    r"(?:list|ls|dir)\s+(?:in\s+)?(?:the\s+)?(?:(?:folder|directory)\s+)?<path>(?P<deep>\s+recursively)?",
    rf"(?:what|which)(?:'s| is| are)?\s+{_FILES}?\s*(?:are )?(?:there|here|in (?:here|this folder|this directory))"
    r"(?:\s+in\s+<path>)?",
    rf"(?:列出|列一下|列|显示|看看|查看)\s*(?:当前)?(?:目录|文件夹)?(?:里|中|下)?(?:的)?(?P<deep>所有|全部)?(?:的)?{_FILES}(?:列表)?",
    rf"(?:列出|列一下|列|显示|看看|查看)\s*<path>\s*(?:目录|文件夹)?(?:里面?|中|下面?)?(?:的)?(?P<deep>所有|全部)?(?:的)?{_FILES}(?:列表)?",
    r"(?:列出|列一下)\s*<path>\s*(?:目录|文件夹)?",
    r"(?:这里|当前目录|这个目录)?(?:里面?|下面?|中)?(?:都)?有(?:什么|哪些|啥)(?:文件|东西)?",
    r"<path>\s*(?:目录|文件夹)?(?:里面?|中|下面?)(?:都)?有(?:什么|哪些|啥)(?:文件|东西)?",
)
DIFF = (
    r"(?:show|print|see)?(?: me)?(?: the)?(?: git)? ?diff(?:\s+(?:of|for|in)\s+<path>)?",
    r"(?:显示|查看|看看)?\s*(?:git\s*)?(?:diff|差异|对比)",
)
DELETE = (
    r"(?:delete|remove|rm)\s+(?:the\s+)?(?:file\s+)?<path>",
    r"(?:删除|删掉|移除)\s*(?:文件)?\s*<path>\s*(?:文件)?",
)
_LINES = r"(?:,?\s+(?:lines?|from line)\s+(?P<first>\d+)(?:\s*(?:-|–|to|until)\s*(?:line\s+)?(?P<last>\d+))?)?"
SHOW = (
    rf"(?:show|read|open|cat|view|display|print|look at|less)\s+(?:me\s+)?(?:the\s+)?"
    rf"(?:(?:file|contents? of)\s+)?<path>(?:\s+file)?{_LINES}",
    r"what(?:'s| is| does)\s+(?:in|inside)\s+(?:the\s+)?(?:file\s+)?<path>",
    r"what does\s+<path>\s+(?:say|contain|do)",
    r"(?:显示|查看|看看|看一下|看一看|看|打开|读取|读一下|读)\s*(?:一下)?(?:文件)?\s*<path>\s*(?:文件)?\s*(?:的)?"
    r"(?:内容|全文)?\s*(?:的?第?\s*(?P<first>\d+)\s*(?:到|至|-|–)\s*第?\s*(?P<last>\d+)\s*行)?",
)

_PATTERNS: dict[Kind, tuple[str, ...]] = {
    **PLAIN, "run": RUN, "create": CREATE, "swap": SWAP, "find": FIND, "search": SEARCH,
    "list": LIST, "diff": DIFF, "delete": DELETE, "show": SHOW,
}  # fmt: skip
"""Order matters: what is narrower comes first."""
_LITERAL = frozenset({"run", "create"})
"""Even the last full stop belongs to these."""
MAX_CHARS = 2_000
"""What is longer can only be the content of a file, or a command."""
_POLITE = re.compile(
    r"(?:(?:please|pls|can you|could you|would you|will you|i want (?:you )?to|i'd like (?:you )?to"
    r"|now|then|ok|okay|and)\b[\s,]*|(?:请问|请|麻烦|帮我|帮忙|给我|我想要?|我要|现在|然后)\s*)+",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[^\s.])(?:[.!?]|[。！？]|吗|吧|呢|\bplease\b|\s)+$", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """A kind, and the words that its pattern named."""

    kind: Kind
    values: dict[str, str] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        """A word, or the default where none was given."""
        return self.values.get(name) or default


def understand(text: str) -> Request:
    """The request behind the words; `unknown` for everything else."""
    text = text.strip()
    said = text[match.end() :].lstrip() if (match := _POLITE.match(text)) else text
    for kind, pattern in _compile_forms():
        if len(said) > MAX_CHARS and kind not in _LITERAL:
            continue
        if match := pattern.fullmatch(said if kind in _LITERAL else _END.sub("", said)):
            values = {name: _unquote(word) for name, word in match.groupdict("").items() if word}
            request = Request(kind, values)
            if _makes_sense(request):
                return request
    return Request("unknown")


def _makes_sense(request: Request) -> bool:
    """Only what is called a file or looks like one can be created; only known kinds are found."""
    if request.kind == "create" and not request.get("file"):
        return re.search(r"[./]|^[A-Z]\w+$", request.get("path")) is not None
    kind = request.get("kind").lower()
    return request.kind != "find" or not kind or kind in KINDS_OF_FILES


@cache
def _compile_forms() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return tuple(
        (kind, _compile(each)) for kind, patterns in _PATTERNS.items() for each in patterns
    )


def _compile(pattern: str) -> re.Pattern[str]:
    pattern = re.sub(r"(?<!P)<(\w+)>", rf"(?P<\1>{QUOTED}|\\S+?)", pattern)
    pattern = re.sub(r"<(\w+)…>", rf"(?P<\1>{QUOTED}|.+?)", pattern)
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def _unquote(text: str) -> str:
    text = text.strip() if "\n" not in text else text
    if len(text) > 1 and QUOTES.get(text[0]) == text[-1]:
        return text[1:-1]
    return text.removeprefix("@") if re.fullmatch(r"@\S+", text) else text
