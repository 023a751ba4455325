"""Secrets are hidden, code is not."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.safety.redact import MARK, Redactor

NONE = Redactor({})
RANDOM = "q7Rt2LmX9vKc4Zb8Wn3Yp6Hd1Fs5Gj0AaEeUu"

SHAPED = [
    f"sk-{RANDOM}",
    f"sk-proj-{RANDOM}",
    f"sk-ant-api03-{RANDOM}_-x",
    f"ghp_{RANDOM}",
    f"gho_{RANDOM}",
    f"github_pat_11ABC_{RANDOM}",
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    f"AIza{RANDOM[:35]}",
    "xoxb-123456789012-abcDEF123456",
    f"glpat-{RANDOM[:20]}",
    f"npm_{RANDOM[:36]}",
    f"hf_{RANDOM[:34]}",
    f"sk_live_{RANDOM}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    f"Bearer {RANDOM}",
]


@pytest.mark.parametrize("secret", SHAPED)
@pytest.mark.parametrize("around", ["{}", "x = '{}'", "got {}, then", "a\n{}\nb", '{{"k":"{}"}}'])
def test_known_shapes_are_hidden_wherever_they_stand(secret: str, around: str) -> None:
    shown = NONE.redact(around.format(secret))
    assert secret.removeprefix("Bearer ") not in shown
    assert MARK in shown


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("AWS_SECRET_ACCESS_KEY=abcd", "abcd"),
        ("export DB_PASSWORD=correcthorse", "correcthorse"),
        ('PASSWORD="hunter2"', "hunter2"),
        ("MY_TOKEN=abc=def:ghi", "def"),
        ("password: hunter2", "hunter2"),
        ("  db_password: correcthorse\n", "correcthorse"),
        ('{"api_key": "9f8e7d6c5b4a"}', "9f8e7d6c5b4a"),
        ('{\\"password\\": \\"p4ssw0rd!\\"}', "p4ssw0rd!"),
        ("client_secret = 'wJalrXUtnFEMI/K7MDENG'", "wJalrXUtnFEMI"),
        ("config['secret_key'] = 'abc123def456'", "abc123def456"),
        ("X-Api-Key: 0123456789abcdef", "0123456789abcdef"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
        ("Authorization: token 0123456789abcdef", "0123456789abcdef"),
        ("mysql --password=s3cr3t! db", "s3cr3t!"),
        ("tool --api-key 0123456789abcdef run", "0123456789abcdef"),
        ("authToken=0a1b2c3d4e5f6a7b", "0a1b2c3d4e5f6a7b"),
        ("//registry.npmjs.org/:_authToken=0a1b2c3d-4e5f", "0a1b2c3d"),
        ("postgres://app:s3cret@db/x", "s3cret"),
        ("https://:pw123@host/", "pw123"),
        (f"https://{RANDOM}@github.com/a/b", RANDOM),
        ("İPASSWORD: hunter22\n", "hunter22"),
    ],
)
def test_assigned_secrets_are_hidden(text: str, secret: str) -> None:
    shown = NONE.redact(text)
    assert secret not in shown
    assert MARK in shown


@pytest.mark.parametrize(
    "text",
    [
        "token = next(tokens)",
        "password = getpass()",
        "password = getpass.getpass('Password: ')",
        "api_key: str",
        "api_key: str | None = None",
        "api_key: Optional[str] = None",
        "password: string;",
        "key=value",
        "key = 'Enter'",
        "token = self.tokens[0]",
        "const token = req.headers.authorization;",
        'token = os.environ["GITHUB_TOKEN"]',
        "api_key=os.getenv('OPENAI_API_KEY')",
        "client(api_key=api_key, token=token)",
        "export TOKEN=$GITHUB_TOKEN",
        "TOKEN=$(cat file)",
        "password = ${DB_PASSWORD}",
        "PASSWORD=<your password>",
        "api_key = 'your-api-key'",
        "password: '********'",
        "MAX_TOKENS=4096",
        "max_tokens: 4096",
        "TOKENIZERS_PARALLELISM=false",
        "SECRET_NAME=prod/db",
        "commit 8de226fb1d960fd2614916f46b341b09a4999123",
        "id: 550e8400-e29b-41d4-a716-446655440000",
        "https://example.com/a:b@c",
        "git@github.com:owner/repo.git",
        "if password == other:",
        "the token is invalid",
        "Enter your password: ",
        '"password": "Password"',
        "def login(password: str, token: Token) -> None:",
        "keyboard: us",
        "monkey=banana42",
        "sk-learn-is-a-rather-long-package-name",
        "class token_bucket: pass",
        "Bearer authentication_is_needed_here",
        "--token TOKEN",
        "postgres://user:${PASSWORD}@host/db",
        f"{MARK} PASSWORD={MARK}",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert NONE.redact(text) == text


def test_a_private_key_is_hidden_whole() -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{RANDOM}\n{RANDOM}\n-----END RSA PRIVATE KEY-----"
    assert NONE.redact(f"a\n{key}\nb") == "a\n«secret:private key»\nb"
    assert RANDOM not in NONE.redact(key.rpartition("\n")[0])
    assert RANDOM not in NONE.redact(key.replace("\n", "\\n"))


def test_a_public_key_is_shown() -> None:
    key = "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----"
    assert NONE.redact(key) == key


def test_known_values_are_hidden_in_every_spelling() -> None:
    redactor = Redactor({"MY_KEY": 'a"b/c d\né'})
    for spelling in ('a"b/c d\né', 'a\\"b/c d\\n\\u00e9', "a%22b%2Fc%20d%0A%C3%A9"):
        assert redactor.redact(f"<{spelling}>") == "<«secret:MY_KEY»>"


def test_only_secret_variables_of_the_environment_are_known() -> None:
    redactor = Redactor.from_environment(
        {
            "MY_TOKEN": "plainwords",
            "HOME": "/home/user",
            "SHORT_KEY": "abc",
            "PGPASSWORD": "postgres",
        }
    )
    shown = redactor.redact("plainwords /home/user abc postgres")
    assert shown == "«secret:MY_TOKEN» /home/user abc postgres"


WORDS = st.text(string.ascii_letters + string.digits, min_size=8)


@given(st.text(max_size=200), WORDS.map(lambda word: f"{word}_7"), st.text())
def test_a_known_value_never_survives(before: str, secret: str, after: str) -> None:
    shown = Redactor({"X": secret}).redact(f"{before}{secret}{after}")
    assert secret not in shown.replace("«secret:X»", "")


FRAGMENTS = st.sampled_from([*SHAPED, "password", "token", "=", ": ", '"', "key", " ", "\n", "x1"])


@given(st.lists(FRAGMENTS | st.text(max_size=5), max_size=30).map("".join))
def test_no_known_shape_survives_among_fragments(text: str) -> None:
    shown = NONE.redact(f"{text} {SHAPED[0]} {text}")
    assert f" {SHAPED[0]} " not in shown


@pytest.mark.parametrize(
    "piece",
    ["key=", 'key="', "password: ", "sk-", "-eyJ", "eyJaaaaaaaa.", "://a:", "-----BEGIN ", "_key"],
)
def test_work_grows_with_the_length_of_the_text_only(piece: str) -> None:
    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            NONE.redact(text)
            best = min(best, time.process_time() - start)
        return best

    assert cost(80_000) < 4 * 4 * max(cost(20_000), 0.001)


def test_directories_and_places_of_files_are_no_secrets() -> None:
    text = "PWD=/srv/proj\nOLDPWD=/srv/other\nHOME=/home/u"
    assert Redactor({}).redact(text) == text
    known = {"NIX_SSL_CERT_FILE": "/etc/ssl/certs/ca-bundle.crt"}
    listed = "see /etc/ssl/certs/ca-bundle.crt"
    assert Redactor.from_environment(known).redact(listed) == listed
