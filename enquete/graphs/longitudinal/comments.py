"""Sentences of the synthetic respondents' open comments: by language, family and side (True: agrees)."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.seam import Language

Sides = Mapping[bool, tuple[str, ...]]

VIEWS: Mapping[Language, Mapping[str, Sides]] = {
    "de": {
        "stock": {
            True: (
                "Ich sehe, dass sich die Bestände langsam erholen, wenn man ihnen Zeit lässt.",
                "Die Fänge der letzten Zeit machen mir eher Mut, da draußen ist mehr Fisch als oft behauptet.",
                "Ich glaube, wir reden den Zustand der Bestände schlechter, als er ist.",
            ),
            False: (
                "Der Dorsch ist fast weg, und ich sehe nicht, dass er bald wiederkommt.",
                "Mich beunruhigt, wie wenig Jungfisch nachwächst.",
                "Von einer Erholung der Bestände merke ich bisher nichts.",
            ),
        },
        "governance": {
            True: (
                "Die gemeinsame Fischereipolitik ist besser als ihr Ruf, ohne sie stünden wir schlechter da.",
                "Ich halte die Regeln im Großen und Ganzen für nachvollziehbar.",
                "Dass Quoten europäisch abgestimmt werden, finde ich richtig.",
            ),
            False: (
                "Über Quoten wird weit weg entschieden, und wir erfahren es zuletzt.",
                "Ich habe wenig Vertrauen, dass Brüssel unsere Lage versteht.",
                "Die Vorschriften ändern sich ständig und passen oft nicht zur Wirklichkeit.",
            ),
        },
        "market": {
            True: (
                "Das Siegel hilft, weil viele Leute inzwischen auf die Herkunft achten.",
                "Wer gut wirtschaftet, bekommt dafür auch einen ordentlichen Preis.",
                "Ich sehe auf dem Markt durchaus Chancen für zertifizierten Fisch.",
            ),
            False: (
                "Von den Preisen im Laden kommt vorne kaum etwas an.",
                "Ein Siegel kostet viel und ändert wenig, so erlebe ich es.",
                "Billige Importware drückt alles, daran ändert auch ein Logo nichts.",
            ),
        },
        "climate": {
            True: (
                "Das Wasser wird wärmer, aber darauf können wir uns einstellen, wenn wir jetzt anfangen.",
                "Ich traue uns zu, mit dem Klimawandel umzugehen, andere Arten kommen ja auch.",
                "Mit anderem Gerät und anderen Zielarten lässt sich auch bei wärmerem Wasser fischen.",
            ),
            False: (
                "Gegen das wärmere Wasser kommen wir mit Anpassung kaum an.",
                "Ich fürchte, der Klimawandel ist schneller, als wir umbauen können.",
                "Die warmen Winter nehmen uns mehr, als sich durch andere Methoden ausgleichen lässt.",
            ),
        },
    },
    "en": {
        "stock": {
            True: (
                "I see the stocks recovering slowly when they are given time.",
                "Recent catches give me some hope, there is more fish out there than people say.",
                "I believe we talk the stocks down more than they deserve.",
            ),
            False: (
                "The cod is nearly gone and I do not see it coming back soon.",
                "It worries me how few young fish are growing up.",
                "So far I notice nothing of a recovery.",
            ),
        },
        "governance": {
            True: (
                "The common fisheries policy is better than its reputation, we would be worse off without it.",
                "On the whole I find the rules understandable.",
                "I think it is right that quotas are agreed across Europe.",
            ),
            False: (
                "Quotas are decided far away and we are the last to hear about it.",
                "I have little trust that Brussels understands our situation.",
                "The rules keep changing and often do not fit what happens at sea.",
            ),
        },
        "market": {
            True: (
                "The label helps, because many people now look at where their fish comes from.",
                "Those who work well also get a decent price for it.",
                "I do see chances in the market for certified fish.",
            ),
            False: (
                "Hardly anything of the price in the shop reaches the people who catch the fish.",
                "A label costs a lot and changes little, that is my experience.",
                "Cheap imports push everything down, and a logo does not change that.",
            ),
        },
        "climate": {
            True: (
                "The water is getting warmer, but we can adjust to that if we start now.",
                "I trust us to cope with climate change, other species are arriving after all.",
                "With other gear and other target species there is fishing in warmer water too.",
            ),
            False: (
                "I do not think adapting will get us far against the warmer water.",
                "I fear climate change is faster than we can rebuild.",
                "The warm winters take more from us than other methods can make up for.",
            ),
        },
    },
}

NEUTRAL: Mapping[Language, Sides] = {
    "de": {
        True: (
            "Insgesamt sehe ich die Entwicklung eher positiv.",
            "Ich finde, es geht in die richtige Richtung.",
            "Das meiste davon kann ich unterstützen.",
        ),
        False: (
            "Insgesamt bin ich da eher skeptisch.",
            "Ich habe Zweifel, ob das so gut geht.",
            "Vieles davon überzeugt mich bisher nicht.",
        ),
    },
    "en": {
        True: (
            "On the whole I see this rather positively.",
            "I think it is going in the right direction.",
            "I can support most of it.",
        ),
        False: (
            "On the whole I am rather sceptical.",
            "I have doubts whether this will go well.",
            "Much of it does not convince me so far.",
        ),
    },
}

EXPERIENCE: Mapping[Language, tuple[str, ...]] = {
    "de": (
        "Nach allem, was ich zuletzt gelesen und diskutiert habe, sehe ich manches kritischer.",
        "Die Gespräche der letzten Zeit haben mich nachdenklich gemacht.",
        "Seit den letzten Debatten ist mir das noch wichtiger geworden.",
    ),
    "en": (
        "After all I have read and discussed lately I see some things more critically.",
        "The conversations of the past weeks have made me think.",
        "Since the recent debates this matters even more to me.",
    ),
}
