"""The examples of a cluster: what they say can be parsed, and every setting, option and command in them exists."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.bench import million
from tests.interfaces.test_readme import options_of

dask = pytest.importorskip("dask", reason="Dask (the extra scale) is not installed")
distributed = pytest.importorskip("distributed", reason="Dask (the extra scale) is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"
DOCS = Path(__file__).parents[2] / "docs" / "scale.md"


def require_known(command: list[str]) -> None:
    """Of `dask scheduler`, `dask worker` and `enquete VERB`: it exists, and so does every option."""
    from distributed.cli import dask_scheduler, dask_worker

    program, verb, *rest = command
    if program == "dask":
        known = {
            option
            for parameter in {"scheduler": dask_scheduler, "worker": dask_worker}[verb].main.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
    else:
        known = options_of(verb)
    assert {word for word in rest if word.startswith("-")} <= known, command


def test_the_job_script_is_bash_and_its_commands_exist() -> None:
    script = EXAMPLES / "study.sbatch"
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    text = re.sub(r"\\\n", " ", script.read_text("utf-8"))
    commands = re.findall(r"^(?:srun )?((?:dask|enquete) .*?)(?: &)?$", text, re.MULTILINE)
    assert [" ".join(command.split()[:2]) for command in commands] == [
        "dask scheduler", "dask worker", "enquete doctor", "enquete run",
    ]  # fmt: skip
    for command in commands:
        require_known(shlex.split(command))


def leaves(settings: dict[str, Any], above: str = "") -> list[str]:
    return [
        name
        for key, value in settings.items()
        for name in (leaves(value, f"{above}{key}.") if isinstance(value, dict) else [f"{above}{key}"])
    ]


def test_dasks_settings_exist_and_the_table_of_a_million_is_computed() -> None:
    settings = yaml.safe_load((EXAMPLES / "dask.yaml").read_text("utf-8"))
    known = yaml.safe_load((Path(distributed.__file__).parent / "distributed.yaml").read_text("utf-8"))
    named = leaves({"distributed": settings["distributed"]})
    assert "distributed.scheduler.worker-ttl" in named
    assert set(named) <= set(leaves(known))
    dask.utils.parse_timedelta(settings["distributed"]["scheduler"]["worker-ttl"])
    assert million.table() in DOCS.read_text("utf-8")


def test_settings_of_jobs_exist() -> None:
    """Where dask-jobqueue is installed: it is nobody's dependency."""
    jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    settings = yaml.safe_load((EXAMPLES / "dask.yaml").read_text("utf-8"))["jobqueue"]
    known = yaml.safe_load((Path(jobqueue.__file__).parent / "jobqueue.yaml").read_text("utf-8"))["jobqueue"]
    assert set(settings["slurm"]) <= set(known["slurm"])
    require_known(["dask", "worker", *settings["slurm"]["worker-extra-args"]])


def test_the_manifests_are_whole_and_their_commands_exist() -> None:
    cluster, driver, policy = yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text("utf-8"))
    assert (cluster["kind"], driver["kind"], policy["kind"]) == ("DaskCluster", "Job", "NetworkPolicy")
    containers = [
        cluster["spec"]["worker"]["spec"]["containers"][0], cluster["spec"]["scheduler"]["spec"]["containers"][0],
    ]  # fmt: skip
    for container in containers:
        require_known(container["args"])
    for variable in containers[1]["env"]:
        key = variable["name"].removeprefix("DASK_").lower().replace("__", ".")
        assert dask.config.get(key) is not None, variable  # raises KeyError for one that Dask does not know
    asked = driver["spec"]["template"]["spec"]["containers"][0]["args"]
    require_known(asked)
    address = asked[asked.index("--executor") + 1]
    port = cluster["spec"]["scheduler"]["service"]["ports"][0]["port"]
    assert address == f"dask:tcp://{cluster['metadata']['name']}-scheduler:{port}"


def test_the_databases_settings_exist(postgres: Any) -> None:
    import psycopg

    lines = (EXAMPLES / "postgresql.conf").read_text("utf-8").splitlines()
    settings = dict(line.partition("#")[0].split(" = ") for line in lines if not line.startswith("#"))
    with psycopg.connect(postgres.url) as connection:
        known = {name for (name,) in connection.execute("SELECT name FROM pg_settings")}
    assert set(settings) <= known
