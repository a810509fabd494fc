"""A questionnaire drafted from themes: four families of three statements, two keyed one way and one the other."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.nodes.material import Material, Slot, head, identifier, pair

WANTED = (
    "A statement that everybody asked can agree or disagree with on five points. {which} It is about {about}: {what}."
)
KEYED = {
    False: "Agreeing means being content with how things are.",
    True: "Agreeing means being discontented with how things are.",
}
ITEMS = (
    (
        (False, "course", "where things are going",
         "Beim Thema „{de}“ bewegen sich die Dinge in die richtige Richtung.",
         "When it comes to “{en}”, things are going in the right direction."),
        (False, "fair", "whether it is fair",
         "Der Umgang mit dem Thema „{de}“ ist gerecht gegenüber allen Beteiligten.",
         "The way “{en}” is handled is fair to everybody involved."),
        (True, "harm", "harm and benefit",
         "Was derzeit beim Thema „{de}“ geschieht, bringt mehr Schaden als Nutzen.",
         "What is happening at present on “{en}” does more harm than good."),
    ),
    (
        (False, "trust", "trust in those who decide",
         "Wer beim Thema „{de}“ entscheidet, hat mein Vertrauen.", "Those who decide on “{en}” have my trust."),
        (True, "rules", "whether rules are strict enough",
         "Beim Thema „{de}“ braucht es strengere Regeln.", "Stricter rules are needed on “{en}”."),
        (True, "side", "what it means for one's own side",
         "Die Entwicklung beim Thema „{de}“ schadet denen, für die ich spreche.",
         "The way things are developing on “{en}” harms those I speak for."),
    ),
    (
        (False, "done", "whether what is needed is being done",
         "Beim Thema „{de}“ wird getan, was nötig ist.", "What is needed on “{en}” is being done."),
        (False, "heard", "whether those affected are heard",
         "Beim Thema „{de}“ werden die Betroffenen gehört.", "Those affected are heard when it comes to “{en}”."),
        (True, "burden", "who bears the burden",
         "Beim Thema „{de}“ tragen die Falschen die Last.", "When it comes to “{en}”, the wrong people bear the burden."),
    ),
    (
        (False, "plans", "whether one can live with what is planned",
         "Mit den Plänen beim Thema „{de}“ kann ich leben.", "I can live with the plans on “{en}”."),
        (True, "haste", "how fast decisions are made",
         "Beim Thema „{de}“ wird zu schnell entschieden.", "Decisions on “{en}” are made too fast."),
        (True, "open", "openness of those who know",
         "Beim Thema „{de}“ wird zu wenig offengelegt.", "Too little is disclosed on “{en}”."),
    ),
)  # fmt: skip
"""A set a family, so that families are keyed two to one either way. Written as pairs; persons and institutions can answer them."""


def draft(material: Material) -> Mapping[str, str]:
    families, items = [], []
    for place, theme in enumerate(material.themes[: len(ITEMS)]):
        family, told = identifier(theme, place), {"de": theme.in_("de"), "en": theme.in_("en")}
        families.append(f"  {family}: {pair(material.labels(theme))}\n")
        for reverse, name, what, german, english in ITEMS[place]:
            wanted = WANTED.format(which=KEYED[reverse], about=theme.label, what=what)
            said = material.write(
                Slot(
                    f"longitudinal/{family}_{name}", wanted, german.format(**told), english.format(**told),
                    about=theme, family=family, reverse=reverse,
                )
            )  # fmt: skip
            keyed = "    reverse_coded: true\n" if reverse else ""
            items.append(
                f"  # from: {said.source}\n  - item_id: {family}_{name}\n    family: {family}\n{keyed}{said.lines('    ')}"
            )
    text = head(material, "longitudinal", "Stimmungsbild", "Views")
    return {"longitudinal.yaml": f"{text}scale: likert5\n\nfamilies:\n{''.join(families)}\nitems:\n{''.join(items)}"}
