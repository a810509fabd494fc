"""What is shipped for running Enquete elsewhere: the container, the composition of services, workflows, issue forms.

Docker is not needed: the files are parsed, and what they start is held against the commands and packages that exist.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from enquete.interfaces.cli.app import app
from enquete.state.settings import Environment

REPOSITORY = Path(__file__).parents[1]
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def dockerfile() -> str:
    """The Dockerfile with continued lines joined."""
    return (REPOSITORY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def parse_command(words: list[str]) -> dict[str, Any]:
    """Return the parameters that `enquete WORDS` would run with. Raises click.UsageError for an unknown option."""
    verb, *options = words
    command = typer.main.get_command(app).get_command(None, verb)  # type: ignore[attr-defined]
    return dict(command.make_context(verb, options).params)


def test_the_container_starts_a_server_that_exists() -> None:
    text = dockerfile()
    (entrypoint,) = re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)
    (command,) = re.findall(r"^CMD (.*)$", text, re.MULTILINE)
    (exposed,) = re.findall(r"^EXPOSE (\d+)$", text, re.MULTILINE)
    assert json.loads(entrypoint) == ["enquete"]
    assert parse_command(json.loads(command)) == parse_command(["serve", "--host", "0.0.0.0", "--port", exposed])


def test_the_container_installs_extras_that_exist_from_files_that_exist() -> None:
    text = dockerfile()
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', text)
    assert {"http", "scale"} <= set(extras.split(",")) <= project["optional-dependencies"].keys()
    ignored_except = re.findall(r"^!(\S+)$", (REPOSITORY / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    copied = re.search(r"^COPY (pyproject.*) \./$", text, re.MULTILINE)
    assert copied
    for name in [*copied[1].split(), "enquete"]:
        assert (REPOSITORY / name).exists()
        assert name in ignored_except


def test_the_composition_serves_with_a_token_and_a_ledger_in_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    services = read_yaml(REPOSITORY / "compose.yaml")["services"]
    served, database = services["enquete"], services["database"]
    options = parse_command(served["command"])
    assert options["host"] == "0.0.0.0"
    assert "ENQUETE_TOKEN" in served["environment"]  # without one, `serve` refuses to listen on that address
    store = served["environment"]["ENQUETE_STORE"]
    user, name = database["environment"]["POSTGRES_USER"], database["environment"]["POSTGRES_DB"]
    assert store == f"postgresql://{user}@database/{name}"
    monkeypatch.setenv("ENQUETE_STORE", store)
    assert Environment.read().store == store
    assert served["depends_on"] == {"database": {"condition": "service_healthy"}}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_is_in_the_repository(path: Path) -> None:
    workflow = read_yaml(path)
    assert True in workflow  # YAML reads the key `on` as a truth value
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands
    assert all("uses" in step or "run" in step for step in steps)
    for command in commands:
        for file in re.findall(r"(?<!\S)\.ci/\S+", command):
            assert (REPOSITORY / file).exists()


def test_the_checks_on_github_are_those_of_this_repository() -> None:
    steps = read_yaml(REPOSITORY / ".github" / "workflows" / "ci.yml")["jobs"]["checks"]["steps"]
    assert any(".ci/run" in step.get("run", "") for step in steps)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_have_what_github_asks_of_them(path: Path) -> None:
    form = read_yaml(path)
    assert {"name", "description", "body"} <= form.keys()
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert all(field["attributes"]["label"] for field in fields)
    identifiers = [field["id"] for field in fields]
    assert len(set(identifiers)) == len(identifiers)
