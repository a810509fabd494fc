"""Sentences of the synthetic Delphi panel: claims by language and planted theme, openings, and reasons of round 3."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.seam import Language

# Claims begin in lower case wherever German allows it, because an opening may stand before them.
CLAIMS: Mapping[Language, Mapping[str, tuple[str, ...]]] = {
    "de": {
        "recovery": (
            "die Laichplätze brauchen Ruhe, damit genug Jungfische nachwachsen",
            "ohne längere Schonzeiten erholen sich Dorsch und Hering nicht",
            "der Dorsch hat kaum noch Laichtiere, da hilft nur Schonung",
            "wenn wir den Jungfischen zwei, drei gute Jahrgänge lassen, erholen sich die Bestände",
            "wir müssen Dorsch und Hering in der Laichzeit wirklich schonen",
        ),
        "warming": (
            "das Wasser wird immer wärmer, und manche Arten wandern nach Norden ab",
            "der Klimawandel verschiebt mit den Temperaturen das ganze Nahrungsnetz",
            "mit der Erwärmung kommen neue Arten, und die alten ziehen nach Norden",
            "die hohen Temperaturen im Wasser setzen den Larven zu",
            "kein anderer Faktor ist so stark wie der Klimawandel und die Erwärmung",
        ),
        "succession": (
            "es fehlt der Nachwuchs, kaum jemand will den Beruf noch lernen",
            "die meisten Kollegen sind über fünfzig und finden keinen Nachfolger für den Betrieb",
            "junge Leute gehen lieber in andere Berufe, weil die Ausbildung keine Perspektive bietet",
            "ohne Ausbildung und Nachfolger stirbt der Beruf einfach aus",
            "wer als junger Mensch einen Betrieb übernehmen will, bekommt keinen Kredit",
        ),
        "nutrients": (
            "zu viele Nährstoffe aus der Landwirtschaft lassen am Grund den Sauerstoff knapp werden",
            "der Dünger von den Feldern landet in den Flüssen und nährt die Algenblüten",
            "wo der Sauerstoff fehlt, lebt am Grund nichts mehr, und schuld ist der Dünger",
            "solange die Landwirtschaft so viel Gülle ausbringt, kippen die Buchten im Sommer um",
            "die Nährstoffe aus den Flüssen und die Algenblüten sind das unterschätzte Problem",
        ),
        "direct_sales": (
            "wer seinen Fang direkt am Kai verkauft, bekommt einen fairen Preis",
            "regionale Direktvermarktung hält das Geld im Ort",
            "Gäste kaufen gern frischen Fang direkt vom Kutter, das sollte man ausbauen",
            "die Direktvermarktung an Gasthäuser und Gäste ist eine echte Einnahme",
            "regional verkaufen statt billig an den Großhandel, so bleibt vom Preis etwas übrig",
        ),
        "comanagement": (
            "alle Beteiligten müssen an einen Tisch und gemeinsam entscheiden",
            "Regeln halten nur, wenn die Betroffenen mitentscheiden dürfen",
            "Praktiker und Wissenschaft sollten gemeinsam an einem runden Tisch planen",
            "Beteiligung darf nicht erst kommen, wenn alles entschieden ist",
            "es braucht feste Gremien, in denen die Betroffenen eine Stimme haben und mitentscheiden",
        ),
        "quota_shares": (
            "die Quoten sind ungerecht verteilt, die Großen haben fast alles",
            "bei der Zuteilung der Quoten gehen die Kleinen seit Jahren leer aus",
            "die Fangmengen müssten neu aufgeteilt werden, und zwar zugunsten der Kleinen",
            "eine gerechte Aufteilung der Quoten nach sozialen Kriterien ist überfällig",
            "wer schonend arbeitet, sollte bei der Zuteilung der Fangmengen zuerst dran sein",
        ),
        "bottom_trawls": (
            "Grundschleppnetze pflügen den Meeresboden um und gehören verboten",
            "in Schutzgebieten darf kein Schleppnetz mehr über den Meeresboden gezogen werden",
            "der Meeresboden braucht Jahrzehnte, bis er nach dem Schleppnetz wieder lebt",
            "echte Schutzgebiete ohne Grundschleppnetze wären ein Anfang",
            "solange Schleppnetze auch in Schutzgebieten erlaubt sind, bleibt der Schutz auf dem Papier",
        ),
        "seals": (
            "Kegelrobben und Kormorane holen mehr aus den Netzen als wir",
            "die Kormorane fressen ganze Jahrgänge weg, und niemand greift ein",
            "ohne Regulierung von Robben und Kormoranen ist alles andere umsonst",
            "angefressener Fang in den Netzen, das sind die Robben, jede Woche",
            "für Schäden durch Robben und Kormorane gibt es keinen ordentlichen Ausgleich",
        ),
        "label": (
            "ein glaubwürdiges Siegel wie MSC schafft Vertrauen beim Einkauf",
            "ohne Zertifizierung wird der Handel bald nichts mehr listen",
            "das MSC-Siegel muss strenger geprüft werden, dann hat es auch Wert",
            "die Zertifizierung öffnet Märkte, in die man sonst nicht hineinkommt",
            "Kunden greifen zum Siegel, also sollte die Zertifizierung bezahlbar sein",
        ),
    },
    "en": {
        "recovery": (
            "the spawning grounds need rest so that enough juveniles grow up",
            "without longer closed seasons cod and herring will not recover",
            "there are hardly any spawning cod left, so they have to be spared",
            "given two or three good year classes of juveniles the stocks would recover",
            "we really have to spare cod and herring during the spawning season",
        ),
        "warming": (
            "the water keeps getting warmer and some species are moving north",
            "climate change and rising temperatures shift the whole food web",
            "with the warming new species arrive and the old ones move north",
            "high temperatures in the water are hard on the larvae",
            "no other factor is as strong as climate change and the warming",
        ),
        "succession": (
            "hardly anyone wants to learn the trade, there are no apprentices",
            "most colleagues are over fifty and find no successor for the business",
            "young people choose other jobs because the training offers no prospects",
            "without apprentices and successors the trade simply dies out",
            "a young person who wants to take over a business gets no loan",
        ),
        "nutrients": (
            "too many nutrients from farming use up the oxygen near the bottom",
            "fertiliser from the fields ends up in the rivers and feeds the algal blooms",
            "where the oxygen is gone nothing lives, and fertiliser is to blame",
            "as long as farming spreads so much manure the bays will choke every summer",
            "nutrients from the rivers and algal blooms are the underrated problem",
        ),
        "direct_sales": (
            "those who sell their catch directly at the quay get a fair price",
            "regional direct sales keep the money in town",
            "visitors like to buy fresh catch directly from the boat, we should build on that",
            "direct sales to restaurants and visitors bring real income",
            "selling regionally instead of cheaply to wholesale leaves something of the price",
        ),
        "comanagement": (
            "everybody involved has to sit at one table and decide together",
            "rules only last if those affected may take part in deciding",
            "practitioners and researchers should plan together at a round table",
            "participation must not start when everything is already decided",
            "we need standing councils in which those affected have a voice and help deciding",
        ),
        "quota_shares": (
            "quotas are shared out unfairly, the big ones hold almost everything",
            "in the allocation of quotas the small ones have come away empty for years",
            "catch shares should be allocated anew, in favour of the small ones",
            "a fair allocation of quotas by social criteria is overdue",
            "those who work gently should come first when quotas are allocated",
        ),
        "bottom_trawls": (
            "bottom trawls plough up the seabed and should be banned",
            "in protected areas no trawl should be dragged across the seabed any more",
            "the seabed takes decades to come back to life after a trawl",
            "real protected areas without bottom trawls would be a start",
            "as long as trawls are allowed in protected areas the protection exists on paper only",
        ),
        "seals": (
            "grey seals and cormorants take more out of the nets than we do",
            "cormorants eat whole year classes and nobody steps in",
            "without control of seals and cormorants everything else is in vain",
            "half-eaten catch in the nets, that is the seals, every week",
            "there is no proper compensation for damage by seals and cormorants",
        ),
        "label": (
            "a credible label such as MSC creates trust when people shop",
            "without certification retailers will soon stop listing anything",
            "the MSC label has to be checked more strictly, then it is worth something",
            "certification opens markets that stay closed otherwise",
            "customers go for the label, so certification should be affordable",
        ),
    },
}

OPENINGS: Mapping[Language, tuple[str, ...]] = {
    "de": ("", "", "", "Ich finde, ", "Ich meine, ", "Für mich ist klar: ", "Ehrlich gesagt, ", "Ich sage es offen: "),
    "en": ("", "", "", "I think ", "To me, ", "In my view, ", "Honestly, ", "What I see is that "),
}

# By what happened: moved toward the median, held out against it, or was already there (also without feedback).
REASONS: Mapping[Language, Mapping[str, tuple[str, ...]]] = {
    "de": {
        "moved": (
            "Ich gehe einen Schritt auf die anderen zu, ihre Einschätzung leuchtet mir ein.",
            "Beim zweiten Nachdenken lag ich zu weit weg, ich passe meinen Wert an.",
            "Die Rückmeldung der Gruppe hat mich überzeugt, deshalb ändere ich meine Bewertung.",
            "Ich habe das erst anders gesehen, nehme die Mehrheit hier aber ernst.",
        ),
        "held": (
            "Ich bleibe bei meinem Wert, auch wenn die meisten das anders sehen.",
            "Die Mitte der Gruppe überzeugt mich nicht, meine Erfahrung ist eine andere.",
            "Ich kenne die Gegenargumente, ändere meine Einschätzung aber nicht.",
            "Hier will ich nicht nachgeben, dafür ist mir die Sache zu wichtig.",
        ),
        "agreed": (
            "Ich bleibe bei meiner Einschätzung, die anderen sehen es ähnlich.",
            "Für mich hat sich daran nichts geändert.",
            "Die Runde bestätigt, was ich ohnehin dachte.",
            "Das passt für mich weiterhin so.",
        ),
    },
    "en": {
        "moved": (
            "I take a step towards the others, their assessment makes sense to me.",
            "On second thought I was too far off, so I adjust my rating.",
            "The feedback of the group convinced me, so I change my rating.",
            "I saw this differently at first, but I take the majority seriously here.",
        ),
        "held": (
            "I stay with my rating even though most see it differently.",
            "The middle of the group does not convince me, my experience is another.",
            "I know the arguments against it, but I do not change my assessment.",
            "I will not give way here, it matters too much to me.",
        ),
        "agreed": (
            "I keep my assessment, the others see it much the same way.",
            "Nothing has changed about this for me.",
            "The round confirms what I thought anyway.",
            "This still seems right to me.",
        ),
    },
}
