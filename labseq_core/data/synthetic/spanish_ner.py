"""Spanish-like news with named entities: gazetteers that overlap between types, and invented names never seen before."""

from __future__ import annotations

from labseq_core.data.synthetic.corpus import SyntheticCorpus
from labseq_core.data.synthetic.emissions import Capitalised, Choice, Coined, Emission, Mixture
from labseq_core.data.synthetic.grammars import Rules, compile_rules
from labseq_core.data.synthetic.hidden_chain import TOKEN, HiddenChain

# In capitals: symbols. In small letters: word classes or, where no class has that name, a word that stands for itself.
RULES: Rules = {
    "SENTENCE": {"PERSON APPOSITION say TIME que CLAUSE .": 4, "fuentes de la noun_f say_plural que CLAUSE .": 1, "CLAUSE .": 5,
                 "when , CLAUSE .": 2, "PLACE , number month ( acronym ) .": 1.5, "EVENT began en PLACE TAIL .": 1.5,
                 "el TEAM won EVENT TAIL .": 2},
    "CLAUSE": {"SOMEBODY do DEAL TAIL": 6, "el body_m do DEAL TAIL": 1, "la body_f do DEAL TAIL": 1},
    "SOMEBODY": {"PERSON": 4, "ORGANISATION": 4, "PLACE": 3},
    "APPOSITION": {"": 3, ", office de AFFILIATION ,": 2},
    "AFFILIATION": {"ORGANISATION": 3, "PLACE": 3},
    "DEAL": {"un noun_m": 4, "una noun_f": 4, "un noun_m con SOMEBODY": 3, "una noun_f para SOMEBODY": 2, "a SOMEBODY": 2,
             "la noun_f de AFFILIATION": 2, "« TITLE »": 1},
    "TAIL": {"": 14, "en PLACE TAIL": 4, "en ORGANISATION TAIL": 1, "el weekday TAIL": 2, ", según SOMEBODY": 2,
             "tras EVENT TAIL": 1},
    "TIME": {"": 3, "ayer_hoy": 2, "el weekday": 1},
    "PERSON": {"first_name surname": 6, "surname_alone": 5, "first_name initial surname": 1, "first_name surname surname": 1},
    "PLACE": {"place": 7, "san saint": 1, "puerto place_inside": 1, "villa de_place place_inside": 0.7},
    "ORGANISATION": {"acronym": 2, "firm": 4, "institution de_organisation place_organisation": 1.5,
                     "group firm_inside": 1.5, "firm company_kind": 1, "TEAM": 2},
    "TEAM": {"team": 3, "club place_organisation": 1},
    "EVENT": {"la cup de_misc theme": 3, "la cup de PLACE": 1, "el prize prize_name": 2, "el festival de_misc theme": 2},
    "TITLE": {"title": 1, "title de_misc theme": 1},
}  # fmt: skip

_SHARED_NAMES = "León*2 Aranda*2 Cuenca Soria*2 Toledo Segovia Medina*2 Lugo Valencia*2 Santiago*2 Zamora Robledo"
_FIRST_NAMES = (
    "Marta*3 Luis*3 Ana*3 Elena*2 Jorge*2 Lucía*2 Pablo*2 Alba*2 Irene Tomás Clara Andrés Inés Hugo Pilar Mercedes Santiago "
    "Martín Gonzalo Beatriz Nuria"
)
_SURNAMES = "Ríos*2 Vega*2 Fuentes*3 Prado*2 Soler*2 Cerezo Olmos Arroyo Peña Collado Martín Robledo Palacios Cordero"
_PLACES = "Madrid*3 Sevilla*2 Bilbao*2 Cádiz Gijón Olmos Prado Arroyo Alba Vigo Teruel Jaca"
_FIRMS = "Altamar*2 Norvia*2 Solterra Veltia Granda Lumen Cántaro Alborada*2 Horizonte*2 Brisa Marea Robledo Vega"
_THEMES = "Invierno Otoño*2 Primavera*2 Aguas Costas Bosques Oro Plata*2 Honor Teatro Cine Soria Valencia Lugo"
_TITLES = "Luz*2 Camino Horizonte Marea Sombras Alborada Ceniza Fuentes"

_BEGINNINGS = "Al Bar Bel Ber Cal Dor Est Fal Gal Land Mend Mor Nar Ort Pal Quin Rod Sal Tor Urb Val Zar"
_MIDDLES = "al and ar en ent er in ist ol or"


def _coined(ending: str) -> Coined:
    """Invented names share their beginnings; endings lean towards a type without deciding it."""
    return Coined(_BEGINNINGS, _MIDDLES, ending, (0.45, 0.5, 0.05))


_NEW_SURNAME = _coined("ez*6 ano*3 ero*3 ales*3 ado*2 osa")
_NEW_PLACE = _coined("illa*3 eda*3 osa*3 ar*2 uela ano*3 ero*3 ales*2")
_NEW_FIRM = _coined("ex*2 atel*2 avia*2 isol ano*2 ero illa osa*2")
_NEW_ACRONYM = Coined("TEL NOR BAN AER FER CON AGRO UN IB", "DE LI TRA VI", "SA COR MAR BRE PO", (0.6, 0.4))


def _name(*lists: tuple[float, str], coined: tuple[float, Emission]) -> Mixture:
    return Mixture(*((weight, Choice(words)) for weight, words in lists), coined)


_SURNAME = _name((5, _SURNAMES), (2, _SHARED_NAMES), coined=(4, _NEW_SURNAME))
_PLACE = _name((4, _PLACES), (3, _SHARED_NAMES), coined=(4, _NEW_PLACE))
_FIRM = _name((5, _FIRMS), coined=(4, _NEW_FIRM))
_PROPER = "NP*20 NC AQ"  # part of speech of a name: taggers err now and then

WORD_CLASSES: dict[str, tuple[str, str, Emission]] = {  # label, parts of speech, words
    "first_name": ("B-PER", _PROPER, _name((8, _FIRST_NAMES), coined=(2, _coined("ina*2 elio iana ino abel")))),
    "surname": ("I-PER", _PROPER, _SURNAME),
    "surname_alone": ("B-PER", _PROPER, _SURNAME),
    "initial": ("I-PER", "NP", Choice("A. B. C. J.*2 L. M.*2 P. R.")),
    "place": ("B-LOC", _PROPER, _PLACE),
    "san": ("B-LOC", "NP", Choice("San")),
    "saint": ("I-LOC", _PROPER, Choice("Martín*2 Andrés Pablo Luis Gonzalo Telmo")),
    "puerto": ("B-LOC", "NP*4 NC", Choice("Puerto*2 Sierra Cabo Valle")),
    "villa": ("B-LOC", "NP*4 NC", Choice("Villa Ribera Torre")),
    "de_place": ("I-LOC", "SP", Choice("de")),
    "place_inside": ("I-LOC", _PROPER, _PLACE),
    "acronym": ("B-ORG", "NP", Mixture((2, Choice("UCA FNC CIV AGT RNO")), (3, _NEW_ACRONYM))),
    "firm": ("B-ORG", _PROPER, _FIRM),
    "firm_inside": ("I-ORG", _PROPER, _FIRM),
    "company_kind": ("I-ORG", "NP", Choice("S.A.*2 S.L. 2000")),
    "institution": ("B-ORG", "NP*3 NC", Choice("Banco*2 Universidad*2 Ayuntamiento*2 Diario Museo Puerto")),
    "de_organisation": ("I-ORG", "SP", Choice("de")),
    "place_organisation": ("I-ORG", _PROPER, _PLACE),
    "group": ("B-ORG", "NP*3 NC", Choice("Grupo*3 Editorial Hoteles Radio")),
    "team": ("B-ORG", _PROPER, Choice(_SHARED_NAMES)),
    "club": ("B-ORG", "NP", Choice("Atlético*2 Deportivo Real")),
    "cup": ("B-MISC", "NP*3 NC", Choice("Copa*3 Liga*2 Feria*2 Vuelta")),
    "festival": ("B-MISC", "NP*3 NC", Choice("Festival*2 Torneo Plan")),
    "prize": ("B-MISC", "NP*3 NC", Choice("Premio*2 Torneo Trofeo Plan")),
    "prize_name": ("I-MISC", _PROPER, _name((5, _FIRMS), (2, _SURNAMES), coined=(2, _NEW_PLACE))),
    "de_misc": ("I-MISC", "SP", Choice("de")),
    "theme": ("I-MISC", _PROPER, Choice(_THEMES)),
    "title": ("B-MISC", "NP*3 NC*2", Choice(_TITLES)),
    "office": ("O", "NC*30 AQ", Choice("portavoz*3 representante*2 periodista*2 cantante atleta artista")),
    "fuentes": ("O", "NC", Choice("fuentes*4 vecinos expertos")),
    "say": ("O", "VM", Choice("dijo*4 afirmó*3 explicó*2 aseguró*2 señaló*2 recordó declaró")),
    "say_plural": ("O", "VM", Choice("dijeron*3 afirmaron*2 explicaron señalaron")),
    "do": ("O", "VM*30 NC", Choice(
        "anunció*3 presentó*3 preparó*2 apoyó*2 ofreció*2 celebró*2 anunciará*2 presentará*2 ofrecerá apoyará prepara*2 "
        "ofrece*2")),
    "won": ("O", "VM", Choice("ganó*3 perdió*2 jugó dejó")),
    "began": ("O", "VM", Choice("empezó*2 acabó terminó continuó*2 empezará*2")),
    "body_m": ("O", "NC*30 AQ", Choice("gobierno*3 museo*2 alcalde*2 jurado equipo*2 banco grupo")),
    "body_f": ("O", "NC*30 AQ", Choice("empresa*3 universidad*2 asociación*2 orquesta alcaldesa radio")),
    "noun_m": ("O", "NC*30 AQ VM", Choice(
        "acuerdo*3 plan*3 proyecto*3 concierto*2 premio*2 informe*2 viaje*2 homenaje encuentro*2 torneo")),
    "noun_f": ("O", "NC*30 AQ VM", Choice(
        "reforma*3 oferta*2 exposición*2 obra*2 fiesta*2 biblioteca*2 feria*2 propuesta*2 beca ley")),
    "when": ("O", "RG*5 NP", Choice("ayer*3 hoy*2 después*2 además")),
    "ayer_hoy": ("O", "RG", Choice("ayer*3 hoy*2")),
    "weekday": ("O", "NC*5 W*5", Choice("lunes martes miércoles jueves viernes sábado domingo")),
    "number": ("O", "Z", Choice({str(day): 1 for day in range(1, 29)})),
    "month": ("O", "NC", Choice("ene feb mar abr may jun jul ago sep oct nov dic")),
}  # fmt: skip
_PLAIN_WORDS = {
    "DA": "el la", "DI": "un una", "SP": "de en con para a según tras", "CS": "que",
    "Fc": ",", "Fp": ".", "Fpa": "(", "Fpt": ")", "Fe": "« »",
}  # fmt: skip
_NOUN_AT_THE_BEGINNING = "NC*3 NP*2"  # its capital letter misleads a tagger


def _word_classes() -> dict[str, tuple[str, Choice, Emission]]:
    plain = {word: ("O", pos, Choice(word)) for pos, words in _PLAIN_WORDS.items() for word in words.split()}
    classes, first = {}, {}
    for name, (label, parts_of_speech, words) in (WORD_CLASSES | plain).items():
        classes[name] = (label, Choice(parts_of_speech), words)
        misleading = label == "O" and parts_of_speech.startswith("NC")
        first_pos = Choice(_NOUN_AT_THE_BEGINNING if misleading else parts_of_speech)
        first["^" + name] = (label, first_pos, Capitalised(words))
    return classes | first


def _build_chain() -> HiddenChain:
    graph = compile_rules(RULES, mark_first=True)
    classes = _word_classes()
    labels, parts_of_speech, words = map(list, zip(*(classes[name] for name in graph.word_classes)))
    return HiddenChain(labels, graph.start, graph.transition, graph.stop, {TOKEN: words, "pos": parts_of_speech})


SPANISH_NER = SyntheticCorpus(
    name="spanish-ner",
    title="Spanish-like news with names",
    task="segment",
    description=(
        "News sentences from a small Spanish grammar with persons, places, organisations and other names in BIO labels. "
        "Many names belong to several types (Soria is a town, a surname and a team), and four in ten are invented, so that "
        "test names are often new: spelling (S2) and neighbouring words (S3) matter. All people and firms are fictional."
    ),
    columns=("pos",),
    build_chain=_build_chain,
)
