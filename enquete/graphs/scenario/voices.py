"""Sentences of the synthetic open answers: how a future is taken, and what one would do in it (True: wished for)."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.seam import Language

Sides = Mapping[bool, tuple[str, ...]]

# By planted scenario.
REACTIONS: Mapping[Language, Mapping[str, Sides]] = {
    "de": {
        "erholung": {
            True: (
                "Endlich wieder Dorsch und Hering in der Ostsee, das wäre ein guter Morgen.",
                "Gesunde Bestände und volle Netze, darauf habe ich lange gehofft.",
                "Dass sich der Dorsch erholt hat, würde ich erst einmal feiern.",
            ),
            False: (
                "Auf dem Papier klingt das gut, mir bringt die Erholung der Bestände aber wenig.",
                "Dorsch und Hering sind zurück, doch das Siegel überall macht mich misstrauisch.",
                "Gesunde Bestände allein lösen meine Sorgen nicht.",
            ),
        },
        "kollaps": {
            True: (
                "Ohne Dorsch und Hering beginnt eben etwas Neues, die Aquakultur kann das auffangen.",
                "Der Zusammenbruch wäre bitter, aber Fisch aus Anlagen ist auch eine Lösung.",
            ),
            False: (
                "Leere Netze und ein halb leerer Hafen, davor fürchte ich mich.",
                "Wenn Dorsch und Hering weg sind, ist etwas verloren, das nicht wiederkommt.",
                "Fisch nur noch aus der Aquakultur, das ist nicht die Ostsee, die ich kenne.",
            ),
        },
        "festung_europa": {
            True: (
                "Ein knappes Drittel des Meeres unter Schutz, das finde ich richtig.",
                "Große Schutzgebiete geben der Natur endlich Ruhe.",
                "Dass Europa seine eigenen Gewässer schützt, kann ich gutheißen.",
            ),
            False: (
                "Zölle, Sperrgebiete und Verbote, damit wird uns das Meer abgeschlossen.",
                "So viele Schutzgebiete auf einmal lassen kaum noch Platz zum Fischen und Angeln.",
                "Eine EU, die sich abschottet, schadet am Ende allen an der Küste.",
            ),
        },
        "privatisierung": {
            True: (
                "Handelbare Quoten schaffen klare Verhältnisse, damit kann man planen.",
                "Große Betriebe mit eigenen Quoten wirtschaften vernünftig, das hat Vorteile.",
            ),
            False: (
                "Wenn die Quoten an der Börse landen, gehört das Meer ein paar Konzernen.",
                "Nur noch große Betriebe, das wäre das Ende der Küstenfischerei.",
                "Fangrechte zu verkaufen, die allen gehören, halte ich für falsch.",
            ),
        },
    },
    "en": {
        "erholung": {
            True: (
                "Cod and herring back in the Baltic at last, that would be a good morning.",
                "Healthy stocks and full nets, I have long hoped for that.",
                "I would first of all celebrate that the cod has recovered.",
            ),
            False: (
                "It sounds good on paper, but the recovery of the stocks does little for me.",
                "Cod and herring are back, yet a label on everything makes me suspicious.",
                "Healthy stocks alone do not solve my worries.",
            ),
        },
        "kollaps": {
            True: (
                "Without cod and herring something new begins, aquaculture can make up for it.",
                "The collapse would be bitter, but fish from tanks is a solution too.",
            ),
            False: (
                "Empty nets and a half-empty harbour, that is what I am afraid of.",
                "When cod and herring are gone, something is lost that will not come back.",
                "Fish from aquaculture only, that is not the Baltic I know.",
            ),
        },
        "festung_europa": {
            True: (
                "Almost a third of the sea under protection, I think that is right.",
                "Large protected areas finally give nature some rest.",
                "I can approve of Europe protecting its own waters.",
            ),
            False: (
                "Tariffs, closed areas and bans, that locks us out of the sea.",
                "So many protected areas at once leave hardly any room for fishing and angling.",
                "An EU that shuts itself off harms everyone on the coast in the end.",
            ),
        },
        "privatisierung": {
            True: (
                "Tradable quotas make things clear, one can plan with that.",
                "Large operators with quotas of their own work sensibly, that has advantages.",
            ),
            False: (
                "If quotas end up on an exchange, the sea belongs to a few corporations.",
                "Only large operators left, that would be the end of coastal fishing.",
                "Selling fishing rights that belong to everybody is wrong in my eyes.",
            ),
        },
    },
}

# By stakeholder type.
ACTIONS: Mapping[Language, Mapping[str, Sides]] = {
    "de": {
        "small_scale": {
            True: (
                "Ich würde mein Boot überholen und einen Lehrling einstellen.",
                "Ich würde morgens rausfahren und meinen Fang direkt am Kai verkaufen.",
            ),
            False: (
                "Ich würde mein Boot verkaufen und mir an Land Arbeit suchen.",
                "Ich würde mich mit den anderen Kutterfischern zusammentun und auf die Straße gehen.",
            ),
        },
        "industrial": {
            True: (
                "Ich würde in ein neues, sparsames Schiff investieren.",
                "Ich würde weitere Quoten kaufen und die Besatzung vergrößern.",
            ),
            False: (
                "Ich würde unsere Schiffe in andere Fanggebiete verlegen.",
                "Ich würde Schiffe stilllegen und gegen die Regeln klagen.",
            ),
        },
        "angler": {
            True: (
                "Ich würde am Wochenende mit der Rute rausfahren und meine Enkel mitnehmen.",
                "Ich würde meinem Verein vorschlagen, wieder ein Angelfest zu veranstalten.",
            ),
            False: (
                "Ich würde zum Angeln nach Norwegen fahren, hier hätte es keinen Sinn mehr.",
                "Ich würde mit meinem Verein Unterschriften sammeln und mich an Abgeordnete wenden.",
            ),
        },
        "ngo": {
            True: (
                "Ich würde darauf achten, dass die Regeln auch wirklich kontrolliert werden.",
                "Ich würde zeigen, was Schutz bewirkt, und dasselbe für andere Meere fordern.",
            ),
            False: (
                "Ich würde eine Kampagne starten und notfalls vor Gericht ziehen.",
                "Ich würde öffentlich machen, wer das zu verantworten hat.",
            ),
        },
        "scientist": {
            True: (
                "Ich würde die Daten weiter erheben und prüfen, ob der Zustand von Dauer ist.",
                "Ich würde untersuchen, welche Maßnahme den Unterschied gemacht hat.",
            ),
            False: (
                "Ich würde messen, was noch da ist, und vor den Folgen warnen.",
                "Ich würde mich um ein Forschungsprojekt zu den Ursachen bemühen.",
            ),
        },
        "administration": {
            True: (
                "Ich würde die Regeln beibehalten und mit allen Gruppen im Gespräch bleiben.",
                "Ich würde die Kontrollen anpassen und den Erfolg nach Brüssel berichten.",
            ),
            False: (
                "Ich würde ein Hilfsprogramm für die betroffenen Betriebe auflegen.",
                "Ich würde einen runden Tisch einberufen und nachsteuern, wo es geht.",
            ),
        },
        "processor": {
            True: (
                "Ich würde Lieferverträge mit den Fangbetrieben abschließen und eine neue Linie aufbauen.",
                "Ich würde mit dem Produkt werben und mehr Leute in der Verarbeitung einstellen.",
            ),
            False: (
                "Ich würde die Ware anderswo einkaufen und das Sortiment umstellen.",
                "Ich würde die Produktion verkleinern und auf andere Fischarten ausweichen.",
            ),
        },
        "consumer": {
            True: (
                "Ich würde öfter frischen Fisch kaufen und gern etwas mehr dafür zahlen.",
                "Ich würde auf den Markt gehen und nach Fisch aus der Region fragen.",
            ),
            False: (
                "Ich würde weniger Fisch essen und genauer fragen, woher er kommt.",
                "Ich würde beim Einkauf auf anderes ausweichen, so will ich das nicht unterstützen.",
            ),
        },
        "municipality": {
            True: (
                "Ich würde in den Hafen investieren und Gäste mit regionalem Fisch anlocken.",
                "Ich würde Liegeplätze und Ausbildungsplätze im Ort sichern.",
            ),
            False: (
                "Ich würde den Ort auf Tourismus und andere Arbeitsplätze umstellen.",
                "Ich würde beim Land um Hilfe für den Strukturwandel im Hafen kämpfen.",
            ),
        },
    },
    "en": {
        "small_scale": {
            True: (
                "I would overhaul my boat and take on an apprentice.",
                "I would go out in the morning and sell my catch directly at the quay.",
            ),
            False: (
                "I would sell my boat and look for work on land.",
                "I would join the other small boats and take to the streets.",
            ),
        },
        "industrial": {
            True: (
                "I would invest in a new, fuel-saving vessel.",
                "I would buy more quota and take on more crew.",
            ),
            False: (
                "I would move our vessels to other fishing grounds.",
                "I would lay up vessels and take the rules to court.",
            ),
        },
        "angler": {
            True: (
                "I would go out with my rod at the weekend and take my grandchildren along.",
                "I would suggest to my club that we hold an angling festival again.",
            ),
            False: (
                "I would travel to Norway for angling, there would be no point in it here.",
                "I would collect signatures with my club and write to members of parliament.",
            ),
        },
        "ngo": {
            True: (
                "I would make sure that the rules are really enforced.",
                "I would show what protection achieves and call for the same in other seas.",
            ),
            False: (
                "I would start a campaign and go to court if need be.",
                "I would make public who is responsible for this.",
            ),
        },
        "scientist": {
            True: (
                "I would keep collecting data and check whether this state lasts.",
                "I would study which measure made the difference.",
            ),
            False: (
                "I would measure what is still there and warn of the consequences.",
                "I would apply for a research project on the causes.",
            ),
        },
        "administration": {
            True: (
                "I would keep the rules and stay in dialogue with all groups.",
                "I would adapt the inspections and report the success to Brussels.",
            ),
            False: (
                "I would set up an aid programme for the businesses affected.",
                "I would call a round table and readjust wherever possible.",
            ),
        },
        "processor": {
            True: (
                "I would sign supply contracts with the fishing businesses and set up a new line.",
                "I would advertise the product and hire more people in processing.",
            ),
            False: (
                "I would buy supplies elsewhere and change the product range.",
                "I would cut production and switch to other species of fish.",
            ),
        },
        "consumer": {
            True: (
                "I would buy fresh fish more often and gladly pay a little more for it.",
                "I would go to the market and ask for fish from the region.",
            ),
            False: (
                "I would eat less fish and ask more closely where it comes from.",
                "I would buy something else, I do not want to support it like this.",
            ),
        },
        "municipality": {
            True: (
                "I would invest in the harbour and attract visitors with regional fish.",
                "I would secure berths and apprenticeships in our town.",
            ),
            False: (
                "I would turn the town towards tourism and other jobs.",
                "I would fight for state aid for the structural change in the harbour.",
            ),
        },
    },
}

# For types and scenarios that nobody planted: nothing about the sea.
NEUTRAL_ACTIONS: Mapping[Language, Sides] = {
    "de": {
        True: (
            "Ich würde mich einbringen und dabei helfen, dass es so bleibt.",
            "Ich würde meinen Alltag darauf einrichten und die Chancen nutzen.",
        ),
        False: (
            "Ich würde mich mit anderen zusammentun, um etwas daran zu ändern.",
            "Ich würde nach Alternativen suchen und mich unabhängiger machen.",
        ),
    },
    "en": {
        True: (
            "I would get involved and help to keep it that way.",
            "I would arrange my daily life around it and use the opportunities.",
        ),
        False: (
            "I would join others to change something about it.",
            "I would look for alternatives and make myself more independent.",
        ),
    },
}

NEUTRAL_REACTIONS: Mapping[Language, Sides] = {
    "de": {
        True: (
            "In so einer Zukunft könnte ich gut leben.",
            "Das wäre für mich eine erfreuliche Entwicklung.",
        ),
        False: (
            "So eine Zukunft wünsche ich mir nicht.",
            "Das würde mir ernsthaft Sorgen machen.",
        ),
    },
    "en": {
        True: (
            "I could live well in a future like that.",
            "That would be a welcome development for me.",
        ),
        False: (
            "That is not a future I wish for.",
            "That would seriously worry me.",
        ),
    },
}
