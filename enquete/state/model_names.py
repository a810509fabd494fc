"""What a model is called: a name at an OpenAI-compatible server, `provider:name`, or a chat model object by its label.

Everything that names a model (arms, roles, seats, settings) holds a text. An object that is given in Python is kept
here under a label, as long as this process lives; models/chat_models.py finds it again. Nothing here imports LangChain.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

OBJECT = "object"
LONGEST_NAME = 200


class Provider(NamedTuple):
    """A provider of `init_chat_model`: the extra of Enquete that brings its package, the variables that hold its key,
    and its address, by which prices are known."""

    extra: str = ""
    keys: tuple[str, ...] = ()
    url: str = ""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(keys=("OPENAI_API_KEY",), url="https://api.openai.com/v1"),
    "anthropic": Provider("anthropic", ("ANTHROPIC_API_KEY",), "https://api.anthropic.com"),
    "google_genai": Provider(
        "google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "https://generativelanguage.googleapis.com"
    ),
    "ollama": Provider("ollama", (), "http://localhost:11434"),
    "mistralai": Provider("mistral", ("MISTRAL_API_KEY",), "https://api.mistral.ai"),
    "bedrock_converse": Provider("bedrock", (), "https://bedrock-runtime.us-east-1.amazonaws.com"),
    "azure_openai": Provider(keys=("AZURE_OPENAI_API_KEY",)),
    "cohere": Provider(keys=("COHERE_API_KEY", "CO_API_KEY"), url="https://api.cohere.com"),
    "deepseek": Provider(keys=("DEEPSEEK_API_KEY",), url="https://api.deepseek.com"),
    "fireworks": Provider(keys=("FIREWORKS_API_KEY",), url="https://api.fireworks.ai"),
    "google_vertexai": Provider(),
    "groq": Provider(keys=("GROQ_API_KEY",), url="https://api.groq.com"),
    "huggingface": Provider(keys=("HUGGINGFACEHUB_API_TOKEN", "HF_TOKEN")),
    "ibm": Provider(keys=("WATSONX_APIKEY",)),
    "litellm": Provider(),
    "nvidia": Provider(keys=("NVIDIA_API_KEY",)),
    "openrouter": Provider(keys=("OPENROUTER_API_KEY",), url="https://openrouter.ai/api"),
    "perplexity": Provider(keys=("PPLX_API_KEY", "PERPLEXITY_API_KEY"), url="https://api.perplexity.ai"),
    "together": Provider(keys=("TOGETHER_API_KEY",), url="https://api.together.xyz"),
    "upstage": Provider(keys=("UPSTAGE_API_KEY",)),
    "xai": Provider(keys=("XAI_API_KEY",), url="https://api.x.ai"),
}
"""Those of `init_chat_model`. A name without a provider is asked in OpenAI's protocol at the server that is named."""

ALIASES = {"google": "google_genai", "gemini": "google_genai", "bedrock": "bedrock_converse", "azure": "azure_openai"}


def provider_of(model: str | None) -> str:
    """Return the provider that a model's name begins with, as `init_chat_model` calls it; "" where it names none.

    Names of Ollama's models have a colon, too (`llama3.2:3b`): only a known provider is one.
    """
    prefix, colon, rest = (model or "").partition(":")
    name = ALIASES.get(prefix, prefix)
    return name if colon and rest and name in PROVIDERS else ""


def is_object(model: str | None) -> bool:
    """Return whether a model's name is the label of a chat model object."""
    return (model or "").startswith(f"{OBJECT}:")


def has_own_service(model: str | None) -> bool:
    """Return whether a model is asked by a service of its own, not at LLM_BASE_URL."""
    return bool(provider_of(model)) or is_object(model)


def bare_name(model: str) -> str:
    """Return a model's name without provider or label: as its server and price lists call it."""
    if is_object(model):
        return model.split(":", 2)[2].rpartition(":")[0] or model
    return model.partition(":")[2] if provider_of(model) else model


_objects: dict[str, Any] = {}


def is_chat_model(value: object) -> bool:
    """Return whether a value is a LangChain chat model; none can be where LangChain was never imported."""
    core = sys.modules.get("langchain_core.language_models.chat_models")
    return core is not None and isinstance(value, core.BaseChatModel)


def label_chat_model(chat: Any) -> str:
    """Keep a chat model object for this process and return its label: class, model, and a hash of its parameters.

    The same parameters give the same label, so that a study that is begun again with an equal object goes on.
    """
    model = str(chat._get_ls_params().get("ls_model_name") or chat._llm_type)
    parameters = json.dumps(chat._identifying_params, default=str, sort_keys=True)
    label = f"{OBJECT}:{type(chat).__name__}:{model}:{sha256(parameters.encode()).hexdigest()[:6]}"
    _objects[label] = chat
    return label


def chat_model_of(label: str) -> Any | None:
    """Return the object that was given under this label in this process, else None."""
    return _objects.get(label)


def name_of_model(given: Any) -> Any:
    """Return the label of a chat model object; anything else as it is."""
    return label_chat_model(given) if is_chat_model(given) else given


def with_labels(given: Any) -> Any:
    """Return a value with its chat model objects replaced by their labels, however deep in mappings and lists."""
    if isinstance(given, Mapping):
        return {name: with_labels(value) for name, value in given.items()}
    if isinstance(given, list | tuple):
        return type(given)([with_labels(value) for value in given]) if _is_plain(given) else given
    return name_of_model(given)


def _is_plain(given: list[Any] | tuple[Any, ...]) -> bool:
    return type(given) in (list, tuple)


ModelLabel = Annotated[str, BeforeValidator(name_of_model)]
