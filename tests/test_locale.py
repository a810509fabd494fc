"""Catalogues say what code and templates say: nothing untranslated, nothing stale, the same facts filled in."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
import yaml
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

import enquete
from enquete.interfaces.cli.terminal import tongue
from enquete.locale import SOURCE, in_language, languages, plural, tell
from enquete.reports.markdown import number
from enquete.reports.report import PageOne, brief

ROOT = Path(enquete.__file__).parent


def columns_file(file: BinaryIO, keywords: object, tags: object, options: object) -> Iterator[tuple]:
    """Extract what is read of the columns: labels, meanings, and the words of levels."""
    text = file.read().decode("utf-8")
    for node in entries_of(yaml.compose(text)):
        for key, value in node.value:
            if key.value in ("label", "means") and is_text(value.value):
                yield value.start_mark.line + 1, "N_", value.value, []
            elif key.value == "levels":
                texts = [words for _, words in value.value if is_text(words.value)]
                yield from ((words.start_mark.line + 1, "N_", words.value, []) for words in texts)


def entries_of(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Yield the entries of a columns.yaml: below `columns` by name, below `scopes` by methodology and name."""
    parts = {key.value: value for key, value in node.value}
    for _, entry in parts["columns"].value:
        yield entry
    for _, scope in parts["scopes"].value:
        for _, entry in scope.value:
            yield entry


def is_text(text: str) -> bool:
    """Return whether there is anything to translate: a label may be nothing but a fact, "{above}"."""
    return bool(FACT.sub("", text))


METHODS = [("**.py", "python"), ("**.j2", "jinja2"), ("**/columns.yaml", columns_file)]
JINJA = {"trimmed": "true", "encoding": "utf-8", "extensions": "jinja2.ext.do", "silent": "false"}
"""As templates are read in enquete.reports.templates. One that cannot be is an error: else its texts count as no longer
said."""
KEYWORDS = {"N_": None, "C_": ((1, "c"), 2), "NN_": (1, 2), "_": None}
FACT = re.compile(r"{(\w*)[^}]*}")


def extracted() -> Catalog:
    """Every marked text of code and templates, in the order of files."""
    catalogue = Catalog()
    for name, line, text, _, context in extract_from_dir(ROOT, METHODS, {"**.j2": JINJA}, KEYWORDS):
        catalogue.add(text, context=context, locations=[(f"enquete/{name}", line)])
    return catalogue


def stored(language: str) -> Catalog:
    with (ROOT / "locale" / f"{language}.po").open("rb") as stream:
        return read_po(stream, locale=language)


def update(language: str) -> None:
    """The catalogue with what is said now: new texts untranslated, those no longer said left out. For `make words`."""
    fresh, old = extracted(), stored(language)
    for message in fresh:
        kept = old.get(message.id, message.context) if message.id else None
        if kept is not None:
            message.string = kept.string
    written = Catalog(locale=language, fuzzy=False, header_comment=f"# Enquete's words, {old.locale.english_name}.")
    for message in fresh:
        if message.id:
            files = sorted({(name, None) for name, _ in message.locations})
            written.add(message.id, message.string, locations=files, context=message.context)
    stream = io.BytesIO()
    write_po(stream, written, width=120, include_lineno=False, omit_header=True)
    (ROOT / "locale" / f"{language}.po").write_bytes(HEADER.format(language=language).encode() + stream.getvalue())


HEADER = (
    'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"MIME-Version: 1.0\\n"\n'
    '"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
)


@pytest.mark.parametrize("language", [each for each in languages() if each != SOURCE])
def test_a_catalogue_has_every_text_and_no_other(language: str) -> None:
    messages = {(message.context, message.id) for message in extracted() if message.id}
    have = {(message.context, message.id) for message in stored(language) if message.id}
    empty = [str(m.id)[:60] for m in stored(language) if m.id and (not m.string or "" in tuple(m.string) or m.fuzzy)]
    assert not messages - have, "not in the catalogue; run `make words` and translate"
    assert not have - messages, "no longer said; run `make words`"
    assert not empty, "not translated"


@pytest.mark.parametrize("language", [each for each in languages() if each != SOURCE])
def test_a_translation_fills_in_the_same_facts(language: str) -> None:
    for message in stored(language):
        if message.id:
            pairs = zip(_forms(message.id), _forms(message.string), strict=False)
            for text, translated in pairs:
                assert set(FACT.findall(text)) == set(FACT.findall(translated)), text


def _forms(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def test_a_text_is_told_in_its_language_and_a_plural_fits_its_number() -> None:
    assert tell("Verdict", "de") == "Urteil"
    assert tell("Verdict", "en") == "Verdict"
    assert tell("Angler", "de") == "Angler"
    assert in_language({"a": "Verdict"}, "de")["a"] == "Urteil"
    with pytest.raises(LookupError, match="no words in 'xx'"):
        tell("Verdict", "xx")
    assert plural(("{n} agent", "{n} agents"), 1, "en") == "1 agent"
    assert plural(("{n} agent", "{n} agents"), 2, "en") == "2 agents"


FRENCH = """msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\n"

msgctxt "decimal mark"
msgid "."
msgstr ","

msgid "What was found"
msgstr "Ce qui a été trouvé"
"""


def test_a_further_language_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three words: page one has one of them, everything else in English, numbers with the mark that it says."""
    (tmp_path / "fr.po").write_text(FRENCH, "utf-8")
    with monkeypatch.context() as patch:
        patch.setenv("ENQUETE_LOCALE", str(tmp_path))
        languages.cache_clear()
        assert "fr" in languages()
        page = brief(PageOne("T", "", "", ""), "fr")
        assert tongue({"LANG": "fr_FR.UTF-8"}) == "fr"
    languages.cache_clear()
    assert "## Ce qui a été trouvé" in page
    assert "There is nothing to judge yet" in page
    assert number(1.5, "fr") == "1,50"
    assert tongue({"LANG": "fr_FR.UTF-8"}) == "en"


if __name__ == "__main__":
    for each in languages():
        if each != SOURCE:
            update(each)
