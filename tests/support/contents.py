"""Answers in words as people, small models (SmolLM2-135M, SmolLM2-1.7B) and chat models give them, each with what is
wrong with it.

Bad ones marked * are verbatim from a 135M model's interviews; the others are written after what such models do.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from enquete.analysis.content import Beside

DE_SCALE = ("stimme überhaupt nicht zu", "stimme eher nicht zu", "weder noch", "stimme eher zu", "stimme voll zu")
EN_SCALE = ("strongly disagree", "somewhat disagree", "neither agree nor disagree", "somewhat agree", "strongly agree")
DE = Beside(
    ("Welche Erfahrung oder Überlegung hat diese Antworten am stärksten geprägt?",
        "Fangquoten werden gerecht auf die Betriebe verteilt."),
    DE_SCALE,
)  # fmt: skip
EN = Beside(
    ("Which experience or consideration has shaped these answers most?", "The EU's Common Fisheries Policy secures the "
        "future of German fisheries."),
    EN_SCALE,
)  # fmt: skip


class Text(NamedTuple):
    """`note`: the code that a reader would give it; "" for an answer with content, however short or clumsy."""

    note: str
    language: str
    text: str

    @property
    def beside(self) -> Beside:
        return DE if self.language == "de" else EN


TEXTS: Final = (
    # With content: long, short, elliptic, with foreign words, with words of the question or the scale.
    Text("", "de", "Ich habe 2019 meinen zweiten Kutter verkauft, weil die Quote nicht mehr reichte."),
    Text("", "de", "Die Quotenkürzungen der letzten Jahre."),
    Text("", "de", "Bürokratie"),
    Text("", "de", "Nein."),
    Text("", "de", "Vor allem Gespräche mit Kollegen im Hafen, sonst wenig."),
    Text("", "de", "Dieselpreise, Quoten, Brüsseler Auflagen, fehlender Nachwuchs, Konkurrenz durch Importe, Wetter"),
    Text("", "de", "Das MSC-Siegel ist für mich ein Label wie jedes andere, reines Greenwashing, sorry."),
    Text("", "de", "Ich stimme eher zu, weil mein Bruder nach der Sperrung wieder Dorsch gefangen hat."),
    Text("", "de", "Fangquoten werden gerecht verteilt, sagen die in Brüssel; bei uns im Hafen sieht das keiner so."),
    Text("", "de", "Weiß nicht so recht, das ist weit weg von meinem Alltag."),
    Text("", "de", "Wie oben an der Küste gefischt wird, das prägt alles, was ich über den Bestand denke und sage."),
    Text("", "de", "Dr. Vogt hat mir im Workshop die ICES-Zahlen gezeigt. Das hat mich überzeugt."),
    Text("", "de", "Als Behörde stützen wir uns auf die Gutachten des Thünen-Instituts und die Vorgaben der EU."),
    Text("", "de", "Keine Ahnung, ehrlich gesagt."),
    Text("", "de", "Mehr Schonzeiten! Weniger Schleppnetze! Faire Preise!"),
    Text("", "en", "I sold my second boat in 2019 because the quota no longer paid for it."),
    Text("", "en", "Cuts to the herring quota."),
    Text("", "en", "Bureaucracy"),
    Text("", "en", "No."),
    Text("", "en", "Mostly talks with colleagues in the harbour, little else."),
    Text("", "en", "Fuel prices, quotas, Brussels paperwork, ageing crews, cheap imports, bad weather, no successors"),
    Text("", "en", "The sea is warmer. The cod is gone. My son went to work for Siemens in Hamburg."),
    Text("", "en", "I somewhat agree since my brother caught cod again after the closure."),
    Text("", "en", "What has shaped these answers most is the winter of 2018, when we caught nothing for six weeks."),
    Text("", "en", "The Common Fisheries Policy secures nothing for us, whatever they write about German fisheries."),
    Text("", "en", "Not sure, it is far from my daily life."),
    Text("", "en", "As I said to the reporter before the last vote, small boats pay for what the big ones break."),
    Text("", "en", "My Oma's Fischbrötchen in Rostock, und natürlich the stories of the old fishermen she knew."),
    Text("", "en", "Our guests ask where the fish is from; a few years ago nobody did."),
    Text("", "en", "We fear for our jobs. We fear for our boats. We fear for the whole coast and its villages."),
    # Without.
    Text("no_sentence", "en", "…"),  # *
    Text("no_sentence", "en", "A"),  # *
    Text("no_sentence", "en", "1.00,1.00,1.00,1.00,1.00,1.00,1.00,1.00,1.00,1.00,1.00,1.00,1.00"),  # *
    Text("no_sentence", "de", "k. A."),
    Text("no_sentence", "de", "Ihre Antwort hier"),
    Text("no_sentence", "en", "N/A"),
    Text("no_sentence", "en", '{"text": "…"}'),
    Text("no_sentence", "en", "The market is heavily influenced by the market's decision-making process. The fish "
         "market has changed the market's decision-making process. The fish market has changed the decision-making "
         "process of the market, and the fish market has changed the market's decision-making process. The market's "
         "decision-making process has changed, and the market's decision-making process has changed."),  # *
    Text("no_sentence", "en", "Beer and fish are very bad in the North Sea. It is not fair to small businesses. It is "
         "not fair to small businesses. The quotas are unfair. They are unfair to small businesses. They are unfair to "
         "small businesses. They are unfair to small businesses."),  # *
    Text("no_sentence", "de", "der Fisch der Fisch der Fisch der Fisch der Fisch der Fisch der Fisch"),
    Text("refers_back", "en", "Same as above."),  # *
    Text("refers_back", "en", "See my previous answer"),
    Text("refers_back", "de", "siehe oben"),
    Text("refers_back", "de", "Das Gleiche wie oben."),
    Text("repeats_scale", "en", "1 = strongly disagree; 2 = somewhat disagree; 3 = neither agree nor disagree; 4 = "
        "somewhat agree; 5 = strongly agree"),  # *
    Text("repeats_scale", "en", "I somewhat agree."),
    Text("repeats_scale", "de", "Stimme voll zu"),
    Text("repeats_scale", "de", "Ich stimme dem eher nicht zu."),
    Text("repeats_question", "en", "Which experience or consideration has shaped these answers most?"),
    Text("repeats_question", "en", "The EU's Common Fisheries Policy secures the future of German fisheries."),  # *
    Text("repeats_question", "de", "Die Erfahrung oder Überlegung, welche hat diese Antworten am stärksten geprägt."),
    Text("repeats_question", "de", "Fangquoten werden gerecht auf die Betriebe verteilt"),
    Text("other_language", "en", "Außenfähigkeiten, die die neuernen wenigen einzelnen Spielschwimmelbein der der "
        "Europäischen Bremen und der der Nordschwimminen möglicherlich steht. Unterhälteren "
        "Kündungs-Landschwimmelbeinen durchmeldern können sie nicht zu beträgt."),  # *
    Text("other_language", "en", "Ich habe meinen Kutter verkauft, weil die Quote nicht mehr reichte."),
    Text("other_language", "de", "I sold my boat because the quota was no longer enough for us."),
    Text("other_language", "de", "Les quotas sont trop bas et nos enfants ne veulent plus aller en mer."),
    Text("other_language", "en", "Las cuotas son demasiado bajas y nuestros hijos ya no quieren salir al mar."),
    Text("other_language", "de", "Квоты слишком низкие, и дети не хотят выходить в море."),
    Text("other_language", "en", "配额太低了,我们的孩子不想出海。"),
)  # fmt: skip

HELD_OUT: Final = (
    Text("", "de", "Meine Großeltern hatten drei Kutter, ich habe keinen mehr."),
    Text("", "de", "Ehrlich gesagt die Preise im Großmarkt."),
    Text("", "de", "Das Thema Klimawandel, weil wir jedes Jahr weniger Eis und mehr fremde Arten sehen."),
    Text("", "de", "Kommt drauf an."),
    Text("", "de", "Ich bin neutral, mir fehlt schlicht das Wissen."),
    Text("", "de", "Naja, die Politik halt. Immer dasselbe mit denen."),
    Text("", "de", "Wir haben 2021 auf MSC umgestellt und seitdem zwei neue Kunden, aber auch 12.000 Euro Kosten im "
        "Jahr."),
    Text("", "de", "Ja, und zwar voll und ganz: Schleppnetze gehören aus Schutzgebieten heraus."),
    Text("", "en", "My grandparents had three boats, I have none left."),
    Text("", "en", "Honestly, wholesale prices."),
    Text("", "en", "It depends."),
    Text("", "en", "Neither side convinces me, I lack the knowledge to judge."),
    Text("", "en", "Politics, as always. The same people, the same promises, the same result year after year."),
    Text("", "en", "We switched to MSC in 2021: two new customers, 12,000 euros of cost a year."),
    Text("", "en", "I strongly disagree with the idea that bans work; poachers laugh at them."),
    Text("", "en", "The experience of having my quota cut by 60% in a single year."),
    Text("no_sentence", "de", "-"),
    Text("no_sentence", "de", "Text"),
    Text("no_sentence", "en", "none"),
    Text("no_sentence", "en", "It's very important, it's very important, it's very important, it's very important for "
        "the world."),
    Text("no_sentence", "de", "Die Fischerei ist wichtig für die Fischerei und die Fischerei ist wichtig für die "
        "Fischerei und die Fischerei."),
    Text("no_sentence", "en", "4, 4, 3, 5, 2"),
    Text("refers_back", "en", "As stated above."),
    Text("refers_back", "de", "s. o."),
    Text("refers_back", "de", "Wie schon zuvor gesagt."),
    Text("repeats_scale", "en", "Neither agree nor disagree."),
    Text("repeats_scale", "de", "4 = stimme eher zu"),
    Text("repeats_scale", "en", "My answer is: strongly agree"),
    Text("repeats_question", "en", "The experience or consideration that has shaped these answers most."),
    Text("repeats_question", "de", "Welche Erfahrung oder Überlegung hat diese Antworten am stärksten geprägt? Die "
        "Erfahrung."),
    Text("other_language", "en", "Die Quoten sind zu niedrig und unsere Kinder wollen nicht mehr auf See."),
    Text("other_language", "de", "Honestly the prices at the wholesale market have gone down every year."),
    Text("other_language", "de", "De quota zijn te laag en onze kinderen willen niet meer naar zee."),
    Text("other_language", "en", "Kvoterne er for lave, og vores børn vil ikke længere ud at fiske."),
)  # fmt: skip
"""Written after the rules were fixed."""
