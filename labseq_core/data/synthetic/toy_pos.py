"""English-like sentences with parts of speech: ambiguous everyday words, and invented words known by their endings."""

from __future__ import annotations

from labseq_core.data.synthetic.corpus import SyntheticCorpus
from labseq_core.data.synthetic.emissions import Capitalised, Choice, Coined, Emission, Mixture
from labseq_core.data.synthetic.grammars import Rules, compile_rules
from labseq_core.data.synthetic.hidden_chain import TOKEN, HiddenChain

RULES: Rules = {
    "SENTENCE": {"CLAUSE full_stop": 9, "time_adverb comma CLAUSE full_stop": 1, "QUESTION question_mark": 1},
    "CLAUSE": {"SINGULAR_SUBJECT SINGULAR_PREDICATE TAIL": 7, "PLURAL_SUBJECT PLURAL_PREDICATE TAIL": 3},
    "QUESTION": {"wh_adverb did determiner NOMINAL base_verb": 3, "wh_adverb was determiner NOMINAL": 1,
                 "wh_pronoun past_verb determiner NOMINAL": 2},
    "SINGULAR_SUBJECT": {"singular_pronoun": 3, "determiner NOMINAL": 7},
    "PLURAL_SUBJECT": {"plural_pronoun": 3, "PLURAL_NOMINAL": 4, "plural_determiner PLURAL_NOMINAL": 3},
    "NOUN_PHRASE": {"determiner NOMINAL": 8, "PLURAL_NOMINAL": 2, "plural_determiner PLURAL_NOMINAL": 2},
    "NOMINAL": {"noun": 5, "ADJECTIVE noun": 4, "noun noun": 2},
    "PLURAL_NOMINAL": {"plural_noun": 5, "ADJECTIVE plural_noun": 3, "noun plural_noun": 1},
    "ADJECTIVE": {"adjective": 6, "degree_adverb adjective": 1, "superlative": 0.7, "adjective adjective": 0.5},
    "SINGULAR_PREDICATE": {"was STATE": 3, "ACTION": 7},
    "PLURAL_PREDICATE": {"were STATE": 3, "ACTION": 7},
    "STATE": {"ing_verb OBJECT": 1, "ing_verb": 1.5, "passive_verb": 3, "passive_verb by NOUN_PHRASE": 1, "ADJECTIVE": 4},
    "ACTION": {"past_verb OBJECT": 6, "manner_adverb past_verb OBJECT": 1, "past_verb manner_adverb": 2, "past_verb": 1,
               "linking_verb ADJECTIVE": 2, "modal base_verb OBJECT": 2, "modal base_verb": 1, "said that REPORT": 1},
    "REPORT": {"SINGULAR_SUBJECT past_verb": 1, "PLURAL_SUBJECT past_verb": 1},
    "OBJECT": {"NOUN_PHRASE": 6, "object_pronoun": 2, "that_pronoun": 0.5},
    "TAIL": {"": 6, "preposition NOUN_PHRASE": 5, "particle": 1.5, "manner_adverb": 1.5, "time_adverb": 1,
             "conjunction CLAUSE": 2.5},
}  # fmt: skip

# Chosen so that no combination is a rude word; "er", "est", "ing" and "en" also end bare stems, as in "sting" or "rest".
_STEM_BEGINNINGS = "bl br cl d dr f fl g gl gr k m n p pl r s sl sn st t tr v w z"
_STEM_ENDINGS = (
    "ald alm alp*2 and ark arm*2 arn ask eld elm elp*2 en*2 ent*2 er*2 est*2 ilm*2 ilt ind*2 ing*2 int olm*2 ond*2 orm*2 "
    "orp*2 osk ost ulm und*2 urm urn urp*2"
)


def _coined(ending: str) -> Coined:
    """An invented stem such as "bl" + "orp" with this ending; parts overlap, so "snest" is a bare stem or a superlative."""
    return Coined(_STEM_BEGINNINGS, _STEM_ENDINGS, ending, (0.0, 0.8, 0.2))


_BARE = Coined(_STEM_BEGINNINGS, _STEM_ENDINGS, _STEM_ENDINGS, (0.75, 0.25))


def _words(listed: str, coined_share: float = 0.0, coined: Emission | None = None) -> Emission:
    words = Choice(listed)
    return words if coined is None else Mixture((1 - coined_share, words), (coined_share, coined))


def _word_classes() -> dict[str, tuple[str, Emission]]:
    return {
        "determiner": ("DET", Choice("the*12 a*7 this*2 that*3 her*4 his*2 every some no each their*2")),
        "plural_determiner": ("DET", Choice("the*6 her*3 his*2 their*2 these*2 some*2 no")),
        "noun": ("NOUN", _words(
            "garden*2 river*2 teacher*3 baker*2 light*3 watch*3 plant*3 walk*3 paint*2 cook*3 play*2 ring*2 rest*2 water*3 "
            "back*2 well*2 round*2 painting*2 building*2 morning*2 friend*3 house*3 letter*2 boat cat*2 dog*2 tree*2 warmth "
            "growth north kitchen*2 village*2 still record*2 present*2 warm",
            0.4, Mixture((2, _BARE), (3, _coined("er*5 oth*3 ing*2"))))),
        "plural_noun": ("NOUN", _words(
            "friends*2 letters*2 plants walks teachers bakers lights boats trees gardens children*3 women men people*3 sheep "
            "houses stones", 0.4, _coined("s*4 ers*2 ings"))),
        "adjective": ("ADJ", _words(
            "green*3 tall*3 little*4 light*3 fast*2 still*2 round*2 clean*2 warm*2 dry*2 well back present*2 quiet*2 happy*2 "
            "wooden*2 golden friendly lovely late*2 broken*2 tired*2 painted charming young*2 clever fourth tenth big*3",
            0.4, Mixture((1, _BARE), (5, _coined("en*5 ed*2 ing*2 ly er y*2"))))),
        "superlative": ("ADJ", _words("tallest*2 greenest fastest best*3 happiest quietest", 0.4, _coined("est"))),
        "degree_adverb": ("ADV", Choice("very*4 rather*2 still so*3 quite*2 truly well")),
        "manner_adverb": ("ADV", _words(
            "slowly*3 quickly*3 well*3 fast*3 quietly*2 back still happily gladly together late",
            0.4, _coined("ly"))),
        "time_adverb": ("ADV", Choice("yesterday*3 today*2 then*3 later*2 once before*2 still")),
        "particle": ("ADV", Choice("back*3 down*2 away*2 round in off up*2")),
        "preposition": ("ADP", Choice("in*5 on*4 near*3 behind*2 before*3 after*3 by*2 down*2 round*2 with*4 under off")),
        "by": ("ADP", Choice("by")),
        "conjunction": ("CONJ", Choice("and*6 but*3 before*2 after*2 while*2 when*2 so*2 where")),
        "that": ("CONJ", Choice("that")),
        "that_pronoun": ("PRON", Choice("that*3 this*2 some")),
        "singular_pronoun": ("PRON", Choice("she*4 he*4 I*2 it*2 this that")),
        "plural_pronoun": ("PRON", Choice("they*3 we*3 you these some")),
        "object_pronoun": ("PRON", Choice("her*4 him*2 them*3 it*4 us*2 you")),
        "wh_pronoun": ("PRON", Choice("who*4 what*2")),
        "wh_adverb": ("ADV", Choice("where*3 when*2 why*2 how")),
        "did": ("AUX", Choice("did")),
        "was": ("AUX", Choice("was")),
        "were": ("AUX", Choice("were")),
        "modal": ("AUX", Choice("will*4 can*3 must*2 did may")),
        "said": ("VERB", Choice("said*3 thought*2 knew*2 felt heard")),
        "linking_verb": ("VERB", _words("felt*3 looked*2 kept*2 turned", 0.4, _coined("ed"))),
        "past_verb": ("VERB", _words(
            "found*3 saw*3 kept*2 left*3 painted*3 watched*3 planted*2 opened*3 met*2 felt*2 heard*2 carried turned*2 broke "
            "lit*2 wrote*2", 0.4, _coined("ed"))),
        "ing_verb": ("VERB", _words(
            "painting*3 watching*3 building*2 reading*2 planting lighting ringing cooking*2 opening carrying charming",
            0.4, _coined("ing"))),
        "passive_verb": ("VERB", _words(
            "painted*3 found*2 seen*2 broken*3 taken*2 written*2 opened*2 lit left*2 planted driven tired*2",
            0.4, Mixture((3, _coined("ed")), (2, _coined("en"))))),
        "base_verb": ("VERB", _words(
            "light*2 watch*3 plant*2 walk*2 paint*3 cook*2 play*2 ring*2 rest water*2 record*2 present clean*2 dry warm back "
            "round find*2 keep*2 like*2", 0.25, _BARE)),
        "comma": ("PUNCT", Choice(",")),
        "full_stop": ("PUNCT", Choice(".*12 !")),
        "question_mark": ("PUNCT", Choice("?")),
    }  # fmt: skip


def _build_chain() -> HiddenChain:
    graph = compile_rules(RULES, mark_first=True)
    classes = _word_classes()
    classes |= {"^" + name: (label, Capitalised(words)) for name, (label, words) in classes.items()}
    of_states = [classes[name] for name in graph.word_classes]
    emissions = {TOKEN: [words for _, words in of_states]}
    return HiddenChain([label for label, _ in of_states], graph.start, graph.transition, graph.stop, emissions)


TOY_POS = SyntheticCorpus(
    name="toy-pos",
    title="Jabberwocky parts of speech",
    task="token",
    description=(
        "English-like sentences with ten parts of speech. Many everyday words have several (light, watch, that, her, round), "
        "and about one content word in three is invented: only its ending (-ing, -ed, -en, -ly, -er, -est, -th) and its "
        "neighbours tell what it is."
    ),
    columns=(),
    build_chain=_build_chain,
)
