"""Chat models of other protocols: `provider:name` by LangChain's init_chat_model, or an object that was given.

A missing package or key is one clear sentence, before anything is asked. Keys stay in the environment (or `.env`).
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from enquete.state.errors import SettingsError
from enquete.state.model_names import PROVIDERS, bare_name, chat_model_of, is_object, provider_of
from enquete.state.settings import setting_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LANGCHAIN = "langchain"


def make_chat_model(model: str, base_url: str = "", key_variable: str = "") -> BaseChatModel:
    """Return the chat model that a name stands for.

    Args:
        model: `provider:name`, or the label of an object.
        base_url: Another address than the provider's own; "": its own, or what its own variables say.
        key_variable: The environment variable that holds the key; "": the provider's usual one.

    Raises:
        SettingsError: A package or key is missing, or the object was not given to this process.
    """
    if is_object(model):
        return _given(model)
    provider = provider_of(model)
    _require_package(model, provider)
    options = _key_of(model, provider, key_variable)
    if base_url:
        options["base_url"] = base_url
    from langchain.chat_models import init_chat_model  # noqa: PLC0415 - of an extra, and slow

    try:
        chat: BaseChatModel = init_chat_model(bare_name(model), model_provider=provider, **options)
    except ImportError as error:
        raise SettingsError(f"model {model!r} needs a package: {_install(provider)} ({error})") from None
    except Exception as error:  # whatever a provider's package makes of its settings
        words = " ".join(str(error).split())[:300]
        raise SettingsError(f"model {model!r}: {type(error).__name__} of its package: {words}") from None
    return chat


def require_chat_model(model: str, key_variable: str = "") -> None:
    """Raises SettingsError where a model with a service of its own cannot be asked from here."""
    make_chat_model(model, key_variable=key_variable)


def _given(model: str) -> BaseChatModel:
    chat: BaseChatModel | None = chat_model_of(model)
    if chat is None:
        raise SettingsError(
            f"model {model!r} was given as an object in Python, and this process does not have it: call "
            "conduct_interviews with the same arguments and an equal object to go on"
        )
    return chat


def _require_package(model: str, provider: str) -> None:
    if find_spec(LANGCHAIN) is None:
        raise SettingsError(f"model {model!r} needs a package: {_install(provider)}")


def _install(provider: str) -> str:
    extra = PROVIDERS[provider].extra
    if extra:
        return f"pip install 'enquete[{extra}]'"
    return f"pip install langchain langchain-{provider.replace('_', '-')}"


def _key_of(model: str, provider: str, key_variable: str) -> dict[str, Any]:
    variables = (key_variable,) if key_variable else PROVIDERS[provider].keys
    if not variables:
        return {}
    key = next((value for name in variables if (value := setting_of(name))), "")
    if not key:
        named = " or ".join(variables)
        raise SettingsError(f"model {model!r} needs a key: set {named} in the environment or in .env")
    return {"api_key": key}
