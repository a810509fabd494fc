import pytest

from enquete.instruments.pack import NEUTRAL, pack_named
from enquete.respondents.ground_truth import type_of, voice
from enquete.state.asking import Participant

FISHERIES = pack_named("fisheries")


def of_fisheries(who):
    return type_of(who, FISHERIES)


def who(kind, persona="", name="A"):
    return Participant(id="agent:1", name=name, stakeholder_type=kind, persona=persona)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Küstenfischer", "small_scale"), ("SmallScaleFisher", "small_scale"), ("small_scale_fisher", "small_scale"),
        ("Kutter- und Küstenfischerei", "small_scale"), ("IndustrialFishingCompany", "industrial"),
        ("Hochseefischerei", "industrial"), ("Freizeitangler", "angler"), ("RecreationalAngler", "angler"),
        ("EnvironmentalNGO", "ngo"), ("Umweltverband", "ngo"), ("Fischereiwissenschaftlerin", "scientist"),
        ("Marine Biologist", "scientist"), ("Fischereibehörde", "administration"),
        ("GovernmentAgency", "administration"), ("FishProcessor", "processor"), ("Fischhandel", "processor"),
        ("Verbraucherin", "consumer"), ("Küstengemeinde", "municipality"), ("Mayor", "municipality"),
    ],
)  # fmt: skip
def test_types_in_german_and_english(kind, expected):
    assert of_fisheries(who(kind)) == expected


def test_the_persona_helps_where_the_type_is_silent_and_other_populations_keep_their_own():
    assert of_fisheries(who("Person", "Sie forscht an Dorsch und Hering.")) == "scientist"
    assert of_fisheries(who("Fischer", "Kapitän eines Trawlers der Hochseeflotte")) == "industrial"
    assert of_fisheries(who("Fischer", "Stellnetzfischer in der Ostsee")) == "small_scale"
    bank = who("Bank", "A bank specialising in retail and commercial banking, regulated by an authority.")
    assert of_fisheries(bank) == "other:bank"
    assert of_fisheries(who("Bank", "another", "B")) == "other:bank"
    assert of_fisheries(who("Person", "x")) != of_fisheries(who("Person", "y"))  # no telling type: by persona


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_type_has_a_voice(language):
    for kind, known in FISHERIES.types.items():
        assert voice(kind, FISHERIES, language, 1) in known.voice[language]
    assert voice("other:bank", FISHERIES, language, 1) in pack_named(NEUTRAL).voice[language]
