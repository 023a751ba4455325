"""What the guide says, in English and Chinese."""

# A phrase reads best on one line.
# ruff: noqa: E501

from agent_cli.models.guide.wishes import Language


def say(language: Language, key: str, **values: object) -> str:
    """A phrase with its values filled in."""
    return PHRASES[key][0 if language == "en" else 1].format(**values)


PHRASES: dict[str, tuple[str, str]] = {
    "help": (
        "I am the **offline guide**: a set of rules built into this program, no language model. I "
        "need no key and no network, and I work with the same tools, questions and limits as any "
        "model here. I understand plain requests such as:\n\n"
        "| say | what happens |\n|---|---|\n"
        "| `show README.md`, `show app.py lines 10-40` | reads a file |\n"
        "| `list files in src` | lists a folder |\n"
        "| `find *.py`, `find python files` | finds files by name |\n"
        "| `search for TODO in src` | searches in files |\n"
        "| `what changed`, `show the diff` | asks git |\n"
        "| `run npm test` | runs a command, after asking where it could change something |\n"
        "| `replace helo by hello in greet.py` | edits a file, after showing you the change |\n"
        "| `create notes.txt with …`, `delete old.txt` | makes or removes a file, after asking |\n"
        "| `undo` | takes a change back |\n"
        "| `tour` | shows all this in a scratch folder, in five steps |\n\n"
        "For anything that needs understanding, choose a real model: leave with Ctrl+C twice and "
        "run `agent setup`.",
        "我是**离线向导**：程序内置的一组规则，不是大语言模型。我不需要密钥，也不需要网络，"
        "并且和任何模型一样使用同样的工具、同样的确认、同样的限制。你可以这样说：\n\n"
        "| 说 | 会发生什么 |\n|---|---|\n"
        "| `查看 README.md`、`读取 app.py 第10到40行` | 读取文件 |\n"
        "| `列出 src 目录的文件` | 列出目录 |\n"
        "| `查找 *.py 文件` | 按名称查找文件 |\n"
        "| `在 src 里搜索 TODO` | 在文件中搜索 |\n"
        "| `改了什么`、`显示 diff` | 询问 git |\n"
        "| `运行 npm test` | 运行命令；凡是可能有改动的都会先询问 |\n"
        "| `把 greet.py 里的 helo 改成 hello` | 修改文件，先给你看改动 |\n"
        "| `创建 notes.txt 内容：…`、`删除 old.txt` | 新建或删除文件，先询问 |\n"
        "| `撤销` | 撤回一次改动 |\n"
        "| `导览` | 在临时目录里分五步演示以上内容 |\n\n"
        "需要真正理解的事情，请选择一个真正的模型：按两次 Ctrl+C 退出，然后运行 `agent setup`。",
    ),
    "unknown": (
        "That is beyond me: I am the offline guide, a set of rules and no language model, and I "
        "do not understand this request.\n\n"
        "I can show, list, find, search, edit and create files, run commands and ask git: `help` "
        "lists how to say it, `tour` shows it.\n\n"
        "For everything else choose a real model: leave with Ctrl+C twice and run `agent setup`, "
        "or start with `agent --model NAME`.",
        "这超出了我的能力：我是离线向导，只是一组规则，不是大语言模型，听不懂这个请求。\n\n"
        "我可以查看、列出、查找、搜索、修改和新建文件，运行命令，询问 git：`帮助` 列出说法，"
        "`导览` 为你演示。\n\n"
        "其他事情请选择一个真正的模型：按两次 Ctrl+C 退出并运行 `agent setup`，"
        "或者用 `agent --model 名称` 启动。",
    ),
    "setup": (
        "Leave with Ctrl+C twice and run `agent setup`: it looks for keys and for models on this "
        "machine, lets you choose one and keeps a key where no project can see it. If you know "
        "the model's name: `agent --model anthropic/claude-sonnet-4-5`, or `/model NAME` here.",
        "按两次 Ctrl+C 退出并运行 `agent setup`：它会寻找密钥和本机上的模型，让你选择，"
        "并把密钥保存在任何项目都看不到的地方。如果你知道模型的名称："
        "`agent --model anthropic/claude-sonnet-4-5`，或者在这里输入 `/model 名称`。",
    ),
    "tests": (
        "Which command runs them? Say it like `run pytest` or `run npm test`.",
        "用哪条命令运行测试？请这样说：`运行 pytest` 或 `运行 npm test`。",
    ),
    "which_file": (
        "In which file? Say `replace {old} by {new} in FILE`, or `… everywhere`.",
        "在哪个文件里？请说：`把 文件名 里的 {old} 改成 {new}`，或者 `把所有文件里的 {old} 改成 {new}`。",
    ),
    "no_tour": (
        "There is no tour under way. `tour` starts one.",
        "现在没有正在进行的导览。说 `导览` 就开始。",
    ),
    "stopped": ("The tour is over. `help` says what I can do.", "导览结束。`帮助` 说明我能做什么。"),
    "undo": (
        "`/undo` takes the last change back. Type it, or press Enter now.",
        "`/undo` 撤回最近一次改动。输入它，或者现在按回车。",
    ),
    "refused": ("It was not done: {why}", "没有执行：{why}"),
    "failed": ("That did not work: {why}", "没有成功：{why}"),
    "not_offered": (
        "I cannot do that now: {tool} is not available in this mode. In plan mode nothing is "
        "changed; Shift+Tab chooses another mode.",
        "现在做不到：这个模式下没有 {tool}。计划模式不会改动任何东西；按 Shift+Tab 换一个模式。",
    ),
    "file": ("`{path}`, {lines}:", "`{path}`，{lines}："),
    "empty_file": ("`{path}` is empty.", "`{path}` 是空文件。"),
    "more_lines": (
        "There is more: `show {path} lines {first}-{last}` goes on.",
        "后面还有：说 `查看 {path} 第{first}到{last}行` 继续。",
    ),
    "listing": ("In `{path}` there are {totals}:", "`{path}` 里有 {totals}："),
    "found": ("{count} match `{pattern}`:", "{count}符合 `{pattern}`："),
    "found_none": ("No file matches `{pattern}`.", "没有文件符合 `{pattern}`。"),
    "matches": ("{matches} of `{text}` in {files}:", "`{text}` 有 {matches}，分布在 {files}："),
    "no_matches": ("`{text}` does not occur{where}.", "{where}没有 `{text}`。"),
    "in_place": (" in `{path}`", "`{path}` 里"),
    "more": ("… and {count} more.", "……还有 {count} 个。"),
    "clean": ("Nothing has changed since the last commit.", "自上次提交以来没有任何改动。"),
    "changes": ("This is what git says:", "git 的说法："),
    "no_repository": ("This folder is not a git repository.", "这个目录不是 git 仓库。"),
    "no_diff": ("There is no difference to show.", "没有可显示的差异。"),
    "ran": ("`{command}` ended well.", "`{command}` 顺利结束。"),
    "ran_badly": ("`{command}` failed: it ended with exit code {code}.", "`{command}` 失败，退出码 {code}。"),
    "no_output": ("It printed nothing.", "没有任何输出。"),
    "done": ("{what}. `/undo` takes it back.", "完成：{what}。`/undo` 可以撤回。"),
    "everywhere": ("all files", "所有文件"),
    "look_first": ("I read it first.", "我先读取它。"),
    "tour_nowhere": (
        "The tour needs a scratch folder, and this session has none. Start it with "
        "`agent --model offline:guide` and say `tour`.",
        "导览需要一个临时目录，而这个会话没有。请用 `agent --model offline:guide` 启动，再说 `导览`。",
    ),
    "tour_next": ("next", "下一步"),
    "tour_go_on": (
        "Press Enter or say `next` to go on, `stop` to end the tour.",
        "按回车或说 `下一步` 继续，说 `结束` 停止导览。",
    ),
    "tour_read": (
        "**1 of 5 · Reading.** The tour takes place in a scratch folder, `{folder}`, which is "
        "removed when you leave; your own files are not touched. I read a small program there:",
        "**第 1 步，共 5 步 · 读取。** 导览在临时目录 `{folder}` 里进行，退出时会被删除，"
        "不会碰你自己的文件。我先读取那里的一个小程序：",
    ),
    "tour_read_after": (
        "Every call stands as one line with its result; Enter or a click unfolds it. Reading "
        "inside the workspace changes nothing, so you were not asked.",
        "每次调用是一行，带着它的结果；按回车或点击可以展开。在工作区里读取不会改变任何东西，"
        "所以没有询问你。",
    ),
    "tour_search": (
        "**2 of 5 · Searching.** I look for `TODO` in all files of the folder:",
        "**第 2 步，共 5 步 · 搜索。** 我在目录的所有文件里寻找 `TODO`：",
    ),
    "tour_search_after": (
        "A model works in the same way: it calls tools, reads what comes back, and goes on.",
        "模型也是这样工作的：调用工具，读取结果，再继续。",
    ),
    "tour_edit": (
        "**3 of 5 · An edit.** Now I correct the misspelt greeting. A change asks first and shows "
        "you exactly what would change. Answer as you like: No is the default.",
        "**第 3 步，共 5 步 · 修改。** 现在我改正拼错的问候语。改动之前会询问，"
        "并给你看确切的改动。随你回答：默认是“否”。",
    ),
    "tour_edit_yes": (
        "The file is changed. Shift+Tab switches to accept-edits, where edits inside a trusted "
        "folder are made unasked.",
        "文件已修改。按 Shift+Tab 可切换到 accept-edits 模式：在信任的目录里修改文件不再询问。",
    ),
    "tour_edit_no": (
        "The file is as it was: {why}\n\nA no, and your reason if you give one, goes to the model, "
        "which has to find another way.",
        "文件保持原样：{why}\n\n你的“否”，以及你给出的理由，会告诉模型，由它另想办法。",
    ),
    "tour_command": (
        "**4 of 5 · A dangerous command.** I ask to delete a folder for good with `rm -rf`. The "
        "question shows the command as it would run, what it would delete, and why it asks.",
        "**第 4 步，共 5 步 · 危险命令。** 我请求用 `rm -rf` 彻底删除一个目录。"
        "询问会显示将要运行的命令、会删除什么，以及为什么询问。",
    ),
    "tour_command_yes": (
        "The folder is deleted. `agent check 'COMMAND'` tells you beforehand what would be decided "
        "about a command; the catastrophic ones, such as `rm -rf /`, are refused in every mode.",
        "目录已删除。`agent check '命令'` 可以事先说明会怎样判定一条命令；"
        "灾难性的命令，例如 `rm -rf /`，在任何模式下都会被拒绝。",
    ),
    "tour_command_no": (
        "The folder is still there: {why}\n\n`agent check 'COMMAND'` tells you beforehand what would "
        "be decided about a command; the catastrophic ones, such as `rm -rf /`, are refused in "
        "every mode.",
        "目录还在：{why}\n\n`agent check '命令'` 可以事先说明会怎样判定一条命令；"
        "灾难性的命令，例如 `rm -rf /`，在任何模式下都会被拒绝。",
    ),
    "tour_undo": (
        "**5 of 5 · Undo.** `/undo` takes back what was changed last.",
        "**第 5 步，共 5 步 · 撤销。** `/undo` 撤回最近的改动。",
    ),
    "tour_undo_on": (
        "Press Enter to run it now, and once more, or say `next`, to finish the tour.",
        "按回车立即执行，再按一次回车或说 `下一步` 完成导览。",
    ),
    "tour_end": (
        "That was the tour. `help` lists what I understand in your own folder, F1 shows all keys. "
        "For a model that understands everything else, run `agent setup`.",
        "导览到此结束。`帮助` 列出我在你自己的目录里能听懂的话，F1 显示所有按键。"
        "想要一个什么都能理解的模型，请运行 `agent setup`。",
    ),
}  # fmt: skip
