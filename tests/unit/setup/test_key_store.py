"""Where keys are kept."""

import stat
import subprocess
import sys
from pathlib import Path

from agent_cli.setup.key_store import KeyStore
from tests.kit.program import ROOT

FAKE_RING = """
import json, pathlib
FILE = pathlib.Path(__file__).parent / "held.json"
class Ring:
    priority = 5
    def get_password(self, service, name):
        return json.loads(FILE.read_text()).get(name) if FILE.exists() else None
    def set_password(self, service, name, value):
        FILE.write_text(json.dumps({name: value}))
def get_keyring():
    return Ring()
"""


def test_a_key_is_kept_in_a_file_of_ones_own(tmp_path: Path) -> None:
    store = KeyStore(tmp_path / "config")
    where = store.keep("A_API_KEY", "sk-one")
    assert store.keep("B_API_KEY", "sk-two") == where
    file = tmp_path / "config" / "credentials.json"
    assert where == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert KeyStore(tmp_path / "config").load() == {"A_API_KEY": "sk-one", "B_API_KEY": "sk-two"}


def test_a_damaged_file_holds_no_keys_and_does_not_stop_the_program(tmp_path: Path) -> None:
    for text in ("", "[]", "{", '{"A": 3}'):
        (tmp_path / "credentials.json").write_text(text)
        assert KeyStore(tmp_path).load() == {}


def test_where_there_is_a_keyring_the_file_holds_no_key(tmp_path: Path) -> None:
    backends = tmp_path / "lib" / "keyring" / "backends"
    backends.mkdir(parents=True)
    (backends.parent / "__init__.py").write_text(FAKE_RING)
    for name in ("__init__", "fail", "null"):
        (backends / f"{name}.py").write_text("class Keyring: pass\n")
    config = tmp_path / "config"
    script = (
        "import sys, pathlib; from agent_cli.setup.key_store import KeyStore\n"
        "store = KeyStore(pathlib.Path(sys.argv[1]))\n"
        "print(store.keep('A_API_KEY', 'sk-secret')); print(store.load())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(config)],
        env={"PYTHONPATH": f"{ROOT}:{tmp_path / 'lib'}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "the system keyring\n{'A_API_KEY': 'sk-secret'}\n"
    assert "sk-secret" not in (config / "credentials.json").read_text()
