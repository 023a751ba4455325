"""Recognise what no mode may run: commands that destroy the system, the home or a disk."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.shell import effects, table
from agent_cli.safety.shell.found import FoundCommand
from agent_cli.safety.shell.lenient_words import UNKNOWN
from agent_cli.safety.shell.piped import piped_text
from agent_cli.safety.shell.shell_facts import ShellContext, absolute, inside, lexical
from agent_cli.safety.shell.wrappers import SHELLS, unwrap

SYSTEM = names(
    "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /opt /proc /root /run /sbin /srv "
    "/sys /usr /usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/local /usr/share /usr/include /var "
    "/var/lib /var/log /etc/ssh /etc/pam.d /mnt /media /Users /System /Library /Applications "
    "/Volumes /private /private/etc /private/var /nix /snap"
)
FOLDED_SYSTEM = frozenset(each.casefold() for each in SYSTEM if each[1:2].isupper())
CRITICAL_FILES = re.compile(
    r"/etc/(passwd|shadow|group|gshadow|sudoers|fstab|crypttab|hosts\.deny|inittab|ld\.so\.(conf|preload))"
    r"|/boot/.+|/proc/sysrq-trigger|/dev/(mem|kmem|port)"
    r"|/(private/)?etc/sudoers\.d/.+"
)
DISK = re.compile(
    r"/dev/(r?disk\d|[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|loop\d|sr\d|nbd\d|mapper/|block/"
    r"|disk/)"
)
POWER = names("shutdown reboot halt poweroff killall5")
FORMATTERS = names("wipefs blkdiscard fdisk sfdisk cfdisk sgdisk gdisk parted mkswap badblocks")
SYSTEMCTL = names("reboot poweroff halt kexec soft-reboot emergency rescue")
# Printing or looking something up is harmless whatever the text says.
TEXT_ONLY = names(
    "echo printf grep egrep fgrep rg ag ack cat ls git man which type whereis apropos info "
    "tldr history alias export help"
)
CODE = re.compile(
    r"\brm\s{1,9}(?:-[\w-]{1,30}\s{1,9}){0,9}-(?:\w{0,9}[rR]\w{0,9}|-recursive)\s{1,9}"
    r"(?:-[\w-]{1,30}\s{1,9}){0,9}[\"']?(?:/|~|\$HOME)[\"']?[/*.]{0,9}(?=[\s\"'`;|&)\\]|\Z)"
    r"|(?:rmtree|remove_tree|rm_rf|rm_r|remove_entry_secure|rmSync|rmdirSync|rm|rmdir)"
    r"[( ]\s{0,9}(?:[\"'](?:/|~|/home|/etc|/usr)/?[\"']|[\w.]{0,40}expanduser\(\s{0,9}[\"']~/?[\"']"
    r"|[\w.]{0,40}Path\.home\(\)|Dir\.home\b|[\w.]{0,40}homedir\(\))"
    r"|[\"']rm[\"']\s{0,9},\s{0,9}[\"']-\w{0,9}[rR]\w{0,9}[\"']\s{0,9},\s{0,9}[\"'](?:/|~)/?[\"']"
)
FORK_LOOP = re.compile(r"\bfork\b")
INTERPRETERS = re.compile(
    r"(python|pypy)[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|awk|gawk|mawk"
    r"|sed|vim?|nvim|ex|ed|emacs|tclsh|expect|osascript|R|Rscript|julia"
    r"|tmux|screen|nix-shell|make|tar|crontab"
)


def dangers_of(
    found: FoundCommand, levels: list[tuple[str, ...]], place: ShellContext
) -> Iterator[Reason]:
    """Why this command may never run, for each way it is found to be catastrophic."""
    for target in found.writes:
        yield from _overwrites(target, found.cwd)
    for argv in levels:
        yield from _command(argv, found, place)
    argv = levels[-1] if levels else found.argv
    if argv and _name(argv) not in TEXT_ONLY and not table.only_reads(_name(argv)):
        yield from _find_hidden(argv, found, place)
    yield from _code(found, levels)


def fork_bomb(skeleton: str) -> bool:
    """Does a function call itself twice over, in a pipe or in the background?"""
    for opening in re.finditer(r"[{(]", skeleton):
        at = opening.start()
        before = skeleton[max(0, at - 80) : at]
        defines = re.search(r"\(\s*\)\s*\Z", before) or "function" in before
        head = re.search(r"([^\s(){};&|]+)\s*(?:\(\s*\))?\s*\Z", before) if defines else None
        close = skeleton.find("}" if opening.group() == "{" else ")", at)
        body = skeleton[at + 1 : min(close if close >= 0 else len(skeleton), at + 400)]
        if head:
            name = re.escape(head.group(1))
            call = rf"(?:^|[\s;&|({{])({name})\s*[|&](?![|&])"
            again = rf"(?:^|[\s;&|({{]){name}(?=[\s;&|)}}]|\Z)"
            if re.search(call, body) and len(re.findall(again, body)) > 1:
                return True
    return False


def fed_script(found: FoundCommand, levels: list[tuple[str, ...]]) -> str | None:
    """The script that a shell reads from its input, when that is known."""
    if not any(map(_reads_script, levels)):
        return None
    if found.stdin not in {None, UNKNOWN}:
        return found.stdin
    return piped_text(found.piped_from)


def _reads_script(argv: tuple[str, ...]) -> bool:
    operands = [word for word in argv[1:] if not word.startswith(("-", "+"))]
    if _name(argv) in {"at", "batch"}:
        return True
    return _name(argv) in SHELLS and (not operands or "-s" in argv)


def _name(argv: tuple[str, ...]) -> str:
    name = argv[0].rpartition("/")[2]
    if not name.isalnum() and any(char in name for char in "*?["):
        return next((each for each in ("rm", "dd", "chmod") if fnmatchcase(each, name)), name)
    return name


def _options(argv: tuple[str, ...]) -> tuple[set[str], list[str]]:
    """Short letters and long names, and the operands."""
    options: set[str] = set()
    operands: list[str] = []
    for index, word in enumerate(argv[1:], 1):
        if word == "--":
            operands.extend(argv[index + 1 :])
            break
        if word.startswith("--"):
            options.add(word.partition("=")[0])
        elif word.startswith("-") and len(word) > 1:
            options.update(word[1:])
        else:
            operands.append(word)
    return options, operands


def _long(options: set[str], name: str) -> bool:
    """Is the long option given, in full or abbreviated?"""
    return any(len(each) > 2 and name.startswith(each) for each in options if each[:2] == "--")


def _command(argv: tuple[str, ...], found: FoundCommand, place: ShellContext) -> Iterator[Reason]:
    name = _name(argv)
    options, operands = _options(argv)
    if found.varies:
        # The words of all rounds of a loop stand in one.
        operands = [each for word in operands for each in (word.split() or [word])]
    cwd = found.cwd
    if name == "rm":
        yield from _rm(options, operands, cwd, place)
    elif name in {"chmod", "chown", "chgrp", "setfacl", "chattr", "chcon"}:
        if "R" in options or _long(options, "--recursive"):
            homes = name == "chmod"
            vital = (path for path in operands if _is_vital(path, cwd, place, homes=homes))
            yield from (because("changes_tree", path=path) for path in vital)
        elif name != "chcon" and "/" in operands[1:]:
            yield because("changes_root", name=name)
    elif name == "mv":
        vital = (path for path in _moved_paths(argv, operands) if _is_vital(path, cwd, place))
        yield from (because("moves_tree", path=path) for path in vital)
        yield from _all_overwritten(operands, cwd)
    elif name in {"cp", "tee", "install", "truncate", "shred", "ln", "unlink"}:
        targets = operands[-1:] if name in {"cp", "install", "ln"} else operands
        yield from _all_overwritten(targets, cwd)
    elif name == "dd":
        yield from _all_overwritten([word[3:] for word in argv if word.startswith("of=")], cwd)
    elif name == "rsync":
        deletes = any(option.startswith("--del") for option in options)
        if deletes and operands[1:] and _is_vital(operands[-1], cwd, place):
            yield because("deletes_tree", path=operands[-1])
    elif name == "find":
        yield from _find(argv, cwd, place)
    elif name == "xargs":
        yield from _xargs(argv, found, place)
    else:
        if name == "sed" or name in effects.OUTPUT_OPTIONS:
            yield from _all_overwritten(effects.writes_of(argv, cwd), cwd)
        yield from _system(name, argv, options, operands)


def _moved_paths(argv: tuple[str, ...], operands: list[str]) -> list[str]:
    """What mv takes away: all but the last operand, or all if an option names the target."""
    for option, value in zip(argv, (*argv[1:], ""), strict=False):
        if re.fullmatch(r"-[a-zA-Z]*t|--t[a-z-]*", option):
            return [each for each in operands if each != value]
        if re.match(r"-[a-zA-Z]*t.|--t[a-z-]*=", option):
            return operands
    return operands[:-1]


def _rm(
    options: set[str], operands: list[str], cwd: str | None, place: ShellContext
) -> Iterator[Reason]:
    recursive = bool({"r", "R"} & options) or _long(options, "--recursive")
    vital = [path for path in operands if recursive and _is_vital(path, cwd, place)]
    if "--no-preserve-root" in options and not vital:
        yield because("no_preserve_root")
    for path in operands:
        if path in vital:
            yield _deletes(path, cwd)
        yield from _overwrites(path, cwd)


def _deletes(path: str, cwd: str | None) -> Reason:
    if lexical(_of_everything(absolute(path, cwd or "/"))) == "/":
        return because("deletes_everything")
    return because("deletes_tree", path=path)


def _is_vital(path: str, cwd: str | None, place: ShellContext, *, homes: bool = True) -> bool:
    """Is it a system directory, the home, or all that is in one?"""
    if UNKNOWN in path:
        return False
    if not path.startswith("/"):
        if cwd is None:
            return False
        # `*` in the workspace itself is for the user to judge.
        path = absolute(path, cwd)
    real = lexical(_of_everything(path))
    if any(char in real for char in "*?["):
        return any(
            fnmatchcase(vital, real) for vital in SYSTEM if vital.count("/") == real.count("/")
        )
    if real in SYSTEM or real.casefold() in FOLDED_SYSTEM:
        return True
    home = lexical(place.home)
    return inside(home, (real,)) and (homes or real != home)


def _of_everything(path: str) -> str:
    """The directory, if the path is a pattern for all that is in it."""
    return re.sub(r"/+(?:\*+|\.\*|\.\[!?[^/]*|\?\?*\*|\.\?\?\*|\{\*,\.\*\})/*\Z", "/", path)


def _overwrites(path: str, cwd: str | None) -> Iterator[Reason]:
    if UNKNOWN in path:
        return
    full = lexical(absolute(path, cwd or "/nowhere"))
    if DISK.match(full):
        yield because("overwrites_disk", path=full)
    elif CRITICAL_FILES.fullmatch(full):
        yield because("overwrites_system_file", path=full)


def _all_overwritten(paths: list[str], cwd: str | None) -> Iterator[Reason]:
    for path in paths:
        yield from _overwrites(path, cwd)


FIND_FILTERS = names(
    "-name -iname -path -ipath -regex -iregex -newer -mtime -mmin -atime -ctime -size -user "
    "-group -empty -perm -inum -samefile -wholename -uid -gid -nouser -nogroup"
)


def _find(argv: tuple[str, ...], cwd: str | None, place: ShellContext) -> Iterator[Reason]:
    runs = {
        _name((word,))
        for flag, word in pairwise(argv)
        if flag in {"-exec", "-execdir", "-ok", "-okdir"}
    }
    deletes = "-delete" in argv or bool(runs & {"rm", "shred", "unlink"})
    changes = runs & {"chmod", "chown", "chgrp"}
    if (deletes or changes) and not _is_filtered(argv):
        for root in _find_roots(argv):
            if _is_vital(root, cwd, place):
                if deletes:
                    yield _deletes(root, cwd)
                else:
                    yield because("changes_tree", path=root)


def _find_roots(argv: tuple[str, ...]) -> Iterator[str]:
    for word in argv[1:]:
        if word.startswith(("-", "(", "!")):
            if word in {"-H", "-L", "-P"}:
                continue
            return
        yield word


def _is_filtered(argv: tuple[str, ...]) -> bool:
    return any(
        word in FIND_FILTERS and value not in {"*", "*.*", ".*"}
        for word, value in zip(argv, (*argv[1:], ""), strict=False)
    )


def _xargs(argv: tuple[str, ...], found: FoundCommand, place: ShellContext) -> Iterator[Reason]:
    inner = unwrap(argv)
    source = found.piped_from
    if inner is None or not inner.argv or source is None or not source.argv:
        return
    lists = _name(source.argv) in {"find", "ls"} and not _is_filtered(source.argv)
    if _name(inner.argv) == "rm" and lists:
        for root in _find_roots(source.argv):
            if _is_vital(root, source.cwd, place):
                yield _deletes(root, source.cwd)
    text = piped_text(source)
    if text is not None and len(text) < 4096:
        yield from _command((*inner.argv, *text.split()), found, place)


def _system(
    name: str, argv: tuple[str, ...], options: set[str], operands: list[str]
) -> Iterator[Reason]:
    if _stops(name, argv, options, operands):
        yield because("stops_machine", name=name)
    elif name == "kill" and ({"-1"} & set(argv[2:]) or (operands[-1:] == ["1"])):
        yield because("kills_everything")
    elif _erases(name, argv, options, operands):
        yield because("erases_disk", name=name)


SHOWS = names("status show cat is-active is-enabled list-units list-dependencies help")


def _stops(name: str, argv: tuple[str, ...], options: set[str], operands: list[str]) -> bool:
    if name in POWER:
        return not {"--help", "--version"} & options and "-c" not in argv
    if name in {"init", "telinit"}:
        return operands[:1] in (["0"], ["6"], ["s"], ["S"], ["1"])
    if name in {"systemctl", "loginctl"}:
        if SHOWS & set(operands[:1]):
            return False
        return bool(SYSTEMCTL & set(operands)) or any(
            re.match(r"(reboot|poweroff|halt|rescue|emergency)\.target", o) for o in operands
        )
    if name == "kexec":
        return "e" in options or "--exec" in options
    if name == "osascript":
        return any(re.search(r"to (shut down|restart)\b", word) for word in operands)
    if name in {"busctl", "dbus-send", "gdbus"}:
        return any(re.search(r"\b(PowerOff|Reboot|Halt)\Z", word) for word in operands)
    return False


# The first operand that makes a program destroy what is on a disk.
ERASING_VERBS: dict[str, re.Pattern[str]] = {
    "nvme": re.compile(r"format|sanitize"),
    "diskutil": re.compile(r"(?i)(erase|zero|reformat|secureErase).*"),
    "zpool": re.compile(r"destroy"),
    "zfs": re.compile(r"destroy"),
    "lvremove": re.compile(r".+"),
    "vgremove": re.compile(r".+"),
    "pvremove": re.compile(r".+"),
}


def _erases(name: str, argv: tuple[str, ...], options: set[str], operands: list[str]) -> bool:
    if name == "mkfs" or name.startswith(("mkfs.", "newfs", "mke2fs")):
        return not {"--help", "--version", "-V"} & set(argv)
    if name in FORMATTERS:
        listed = "-l" in argv or "--list" in argv
        return not listed and any(DISK.match(word) for word in operands)
    if name in ERASING_VERBS:
        return bool(operands and ERASING_VERBS[name].fullmatch(operands[0]))
    if name == "hdparm":
        return any("security-erase" in word for word in argv)
    if name == "cryptsetup":
        return bool({"luksFormat", "luksErase", "erase"} & set(operands))
    return name == "mdadm" and "--zero-superblock" in options


def _find_hidden(
    argv: tuple[str, ...], found: FoundCommand, place: ShellContext
) -> Iterator[Reason]:
    """An unknown program may run its arguments: look at every tail that starts like a command."""
    for index, word in enumerate(argv[1:], 1):
        if word in {"rm", "/bin/rm", "/usr/bin/rm", "mkfs", "dd"} or word.startswith("mkfs."):
            tail = argv[index:]
            if _name(argv) not in {"docker", "podman", "kubectl"}:
                yield from _command(tail, found, place)
            return


def _code(found: FoundCommand, levels: list[tuple[str, ...]]) -> Iterator[Reason]:
    for argv in levels:
        if not INTERPRETERS.fullmatch(_name(argv)):
            continue
        texts = list(filter(None, [*argv[1:], found.stdin, piped_text(found.piped_from)]))
        for text in texts:
            if CODE.search(text):
                yield because("code_deletes")
            if FORK_LOOP.search(text) and re.search(r"\b(while|for|loop|until|forever)\b", text):
                yield because("fork_bomb")
