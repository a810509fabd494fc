"""Where settings come from, and that a run which names a model never falls back to the synthetic respondent."""

from __future__ import annotations

from pathlib import Path

import pytest

from enquete.state.asking import Arm
from enquete.state.errors import SettingsError
from enquete.state.request import DEFAULT_CONCURRENCY, DEFAULT_MAX_TOKENS, RunRequest, parse_request
from enquete.state.settings import Environment, resolve_arms, resolve_machine, resolve_root

SECRET = "sk-secret-0123456789"


@pytest.fixture
def dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".env"


class TestPrecedence:
    def test_nothing_said_is_the_default(self, dotenv: Path) -> None:
        machine = resolve_machine(RunRequest(), Environment.read())
        assert (machine.default_cap_tokens, machine.concurrency) == (DEFAULT_MAX_TOKENS, DEFAULT_CONCURRENCY)
        assert machine.cap_tokens is None
        assert (machine.api_key, machine.base_url) == (None, None)
        assert resolve_root(RunRequest(), Environment.read()) == Path()

    def test_the_environment_beats_dotenv_and_an_argument_beats_both(
        self, dotenv: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dotenv.write_text("LLM_BASE_URL=http://file/v1\nENQUETE_MAX_TOKENS_PER_RUN=111\nENQUETE_ROOT=/file\n")
        from_file = Environment.read()
        monkeypatch.setenv("LLM_BASE_URL", "http://variable/v1")
        monkeypatch.setenv("ENQUETE_MAX_TOKENS_PER_RUN", "222")
        monkeypatch.setenv("ENQUETE_ROOT", "/variable")
        from_variable = Environment.read()
        named = RunRequest(base_url="http://argument/v1", budget_tokens=333, root="/argument")
        machines = [
            (str(machine.base_url), machine.cap_tokens or machine.default_cap_tokens,
                str(resolve_root(request, environment)))
            for request, environment in (
                (RunRequest(), from_file), (RunRequest(), from_variable), (named, from_variable),
            )
            for machine in [resolve_machine(request, environment)]
        ]  # fmt: skip
        assert machines == [
            ("http://file/v1", 111, "/file"), ("http://variable/v1", 222, "/variable"),
            ("http://argument/v1", 333, "/argument")]  # fmt: skip

    def test_an_empty_variable_says_nothing(self, dotenv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LLM_API_KEY", "")
        monkeypatch.setenv("ENQUETE_CONCURRENCY", "")
        environment = Environment.read()
        assert (environment.api_key, environment.concurrency) == (None, DEFAULT_CONCURRENCY)

    def test_either_name_of_the_key(self, dotenv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "other")
        assert _key() == "other"
        monkeypatch.setenv("LLM_API_KEY", SECRET)
        assert _key() == SECRET

    def test_other_programs_lines_in_dotenv_are_ignored(self, dotenv: Path) -> None:
        dotenv.write_text("SECRET_KEY=flask\nNEO4J_URI=bolt://x\n")
        assert Environment.read().api_key is None


def _key() -> str:
    key = Environment.read().api_key
    return key.get_secret_value() if key else ""


class TestWhoAnswers:
    def arm(self, **request: object) -> Arm:
        (arm,) = resolve_arms(parse_request(**request), Environment.read())
        return arm

    def test_without_key_and_respondent_the_synthetic_one(self, dotenv: Path) -> None:
        wanted = {"presentation": "items_random", "draw_seed": 7}
        assert self.arm(seed=7) == Arm(respondent="synthetic", model="synthetic", temperature=0, seed=7, **wanted)

    def test_with_a_key_and_a_model_the_model(self, dotenv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LLM_API_KEY", SECRET)
        monkeypatch.setenv("LLM_MODEL_NAME", "from-environment")
        assert (self.arm().respondent, self.arm().model) == ("llm", "from-environment")
        assert self.arm(model="named").model == "named"

    def test_a_key_without_a_model_is_refused_and_not_answered_by_anybody_else(
        self, dotenv: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LLM_API_KEY", SECRET)
        with pytest.raises(SettingsError, match="LLM_MODEL_NAME"):
            self.arm()
        assert self.arm(respondent="synthetic").respondent == "synthetic"

    @pytest.mark.parametrize("respondent", [None, "llm"])
    def test_a_model_without_key_or_server_is_refused(self, dotenv: Path, respondent: str | None) -> None:
        with pytest.raises(SettingsError, match=r"'gpt' is named, but there is neither a key .* nor a server"):
            self.arm(model="gpt", respondent=respondent)

    def test_a_named_model_is_asked_whatever_the_environment_prefers(
        self, dotenv: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ENQUETE_RESPONDENT", "synthetic")
        assert self.arm().respondent == "synthetic"
        assert self.arm(model="gpt", base_url="http://x/v1").respondent == "llm"
        with pytest.raises(SettingsError, match="neither a key"):
            self.arm(model="gpt")

    def test_a_model_and_the_synthetic_respondent_contradict_each_other(self, dotenv: Path) -> None:
        with pytest.raises(SettingsError, match="'gpt' is named, but the respondent is synthetic"):
            self.arm(model="gpt", respondent="synthetic")

    @pytest.mark.parametrize(
        "arms", [[Arm(role="b")], [Arm(), Arm()], [Arm(), Arm(id="x")], [Arm(), Arm(id="main", role="b")], []]
    )
    def test_arms_have_one_main_and_ids_of_their_own(self, dotenv: Path, arms: list[Arm]) -> None:
        with pytest.raises(SettingsError, match="exactly one arm with role 'main'"):
            resolve_arms(RunRequest(arms=arms), Environment.read())


class TestErrors:
    @pytest.mark.parametrize(
        ("name", "value"),
        [("ENQUETE_CONCURRENCY", "many"), ("ENQUETE_MAX_TOKENS_PER_RUN", "-5"), ("ENQUETE_RESPONDENT", "human")],
    )
    def test_a_bad_variable_is_named_with_its_value_and_no_key(
        self, dotenv: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
    ) -> None:
        monkeypatch.setenv("LLM_API_KEY", SECRET)
        monkeypatch.setenv("ZEP_API_KEY", SECRET)
        monkeypatch.setenv(name, value)
        with pytest.raises(SettingsError) as caught:
            Environment.read()
        assert name in str(caught.value)
        assert repr(value) in str(caught.value)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None  # pydantic's own error would repeat every value

    @pytest.mark.parametrize(("argument", "value"), [("temperature", 3), ("phase", "T2")])
    def test_a_bad_argument_is_named_with_its_value(self, argument: str, value: object) -> None:
        with pytest.raises(SettingsError) as caught:
            parse_request(**{argument: value})
        assert argument in str(caught.value)
        assert repr(value) in str(caught.value)

    def test_an_unknown_argument_is_named_with_the_nearest_known_one_but_never_its_value(self) -> None:
        with pytest.raises(SettingsError) as caught:
            parse_request(concurency=SECRET)
        assert "did you mean 'concurrency'" in str(caught.value)
        assert SECRET not in str(caught.value)

    def test_a_dotenv_in_another_encoding_is_named(self, dotenv: Path) -> None:
        dotenv.write_bytes("LLM_MODEL_NAME=größe".encode("latin-1"))
        with pytest.raises(SettingsError, match="UTF-8"):
            Environment.read()

    def test_keys_are_not_shown(self, dotenv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LLM_API_KEY", SECRET)
        environment = Environment.read()
        machine = resolve_machine(RunRequest(), environment)
        for shown in (repr(environment), str(machine), machine.model_dump_json(), repr(machine.model_dump())):
            assert SECRET not in shown
