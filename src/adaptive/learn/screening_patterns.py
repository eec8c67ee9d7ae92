"""Patterns by which proposed facts are screened, as data: fragments of nine languages in frames.

A pattern describes wordings that leave no doubt; a fact that fits none is kept, since losing a true
fact is worse than keeping a trivial one.
"""

# ruff: noqa: RUF001 - the patterns are in several scripts

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from adaptive.learn.screening_languages import (
    CHINESE_SCREENING,
    FRENCH_SCREENING,
    ITALIAN_SCREENING,
    JAPANESE_SCREENING,
    PORTUGUESE_SCREENING,
    RUSSIAN_SCREENING,
    SPANISH_SCREENING,
)

ScreeningKind = Literal[
    "conversation",
    "lasting",
    "question",
    "assistant",
    "passing",
    "knowledge",
    "personal",
    "subject",
]

# One frame per kind, for the languages with spaces; a word in capitals stands for the fragment of
# that name. A language without a fragment lacks that branch; its own entry for a kind replaces the
# frame.
#   conversation: wishes on this answer or this conversation; lasting: signs that they hold beyond
#   question: also reported ones; question marks are the rule's own business
#   assistant: what an assistant says, advises or offers
#   passing: states that end within a day; the whole sentence is of this form
#   knowledge: general; personal: whoever's people and things are named, it is not
#   subject: the user as the grammatical subject
_FRAMES: Mapping[str, str] = {
    "conversation": r"^(?:PLEASE )?(?:EDIT[ -]THIS|EDITIT)\b|^(?:PLEASE"
    r" )?ANSWER\b.{0,60}\bHERE\b|^HERE,? ANSWER\b|^USER ASKS (?:TEXT)\b|^USER"
    r" .{1,80}\bREPLY\b.{0,60}\bHERE$|^USER TASK\b",
    "lasting": r"\bALWAYS\b",
    "question": r"^ASK\b|^USER WONDERS\b",
    "assistant": r"^ASAI|^ADVICE\b|^HELPER SAID\b",
    "passing": "^(?:NAMED BE MODSTATE(?:WHEN| NOW){0,2}|USER BE MODMOODWHEN{1,2}|USER BE TODAY"
    " MODMOOD|USER HAVE MODACHE(?:WHEN| NOW){0,2}|USER BE MODPLACE(?:WHEN| NOW){0,2}"
    "|USER DOING)$",
    "knowledge": r"^GENERAL\b| ISCAPITAL|BOILS -?\d| ISA (?:[\w'-]+,? ){0,4}KIND\b|^\d+(?:"
    r" ?[-+*/x×÷^] ?\d+)+ ?(?:=|equals|is|makes|ist|sind|fait|es|é|è|равно) ?\d",
    "personal": r"\bMINE\b",
    "subject": r"^USER\b",
    "NAMED": r"USER|[\w' -]{2,40}",
    "MOD": "(?:(?:TODAY|NOW|VERY) ){0,3}",
    "WHEN": ",? (?:TODAY|THEN)",
    "DATE": r"(?:[^\W\d_]{2,12},? ){0,2}\d[\w ,./-]{0,24}",
}
_ENGLISH: Mapping[str, str] = {
    "USER": "(?:the |this )?user|i",
    "PLEASE": "please|(?:can|could) you(?: please)?",
    "EDIT": "make|translate|rewrite|rephrase|reword|shorten|expand|summari[sz]e|explain|fix"
    "|correct|format|repeat|continue|improve|simplify|redo|change|convert|say|try",
    "EDITIT": "(?:try|continue|go on|once more)(?: again)?$",
    "THIS": "it|this|that|these|those|again|the (?:above|following|last|previous|same|REPLY|text)",
    "ANSWER": "answer|reply|respond|write|speak|talk",
    "HERE": "this time|for now|(?:just|only) (?:this )?once|(?:in|for) (?:this|the current)"
    " (?:chat|conversation|answer|reply|response|session|thread|question|task|text)",
    "ASKS": "(?:(?:really|also|now|just|has) )?(?:wants?|wanted|would like|asks?|asked"
    "|is asking|requests?|requested|is requesting|needs?|needed|wishes)(?: that| for"
    "| to (?:have|get|see))?",
    "TEXT": r"(?:the|this|that) (?:(?:above|previous|last|current|next|whole) )?REPLY\b(?! (?:of"
    r"|from|by|to (?:his|her|the|their|an?))\b)|(?:this|that|the (?:above|previous|last"
    "|following|pasted)) (?:text|code|email|letter|story|poem|essay|message|paragraph|list"
    "|table|sentence|version|article|image)|an? (?:[a-z]{3,12}er|more [a-z]+|less [a-z]+|brief"
    "|short|detailed) (?:REPLY|version|text)(?! from| by)",
    "REPLY": "answers?|response|reply|output|explanation|summary|translation|wording|draft",
    "TASK": "(?:has )?(?:asks|asked|requests|requested)(?: (?:the )?(?:assistant|ai|chatbot|model"
    "|chatgpt|you))? to (?:forget|delete|erase)|(?:(?:asks|asked|wants|wanted"
    "|would like|requests|requested)(?: for)? (?:the"
    " (?:assistant|ai|chatbot|model)|assistant|chatgpt|you|me) (?:to|should)|(?:asks|asked"
    "|requests|requested) to) (?:(?:translate|rewrite|rephrase|reword|shorten|summari[sz]e"
    "|proofread|regenerate) |(?:explain|correct|fix|improve|continue|repeat|change|convert|make"
    "|check) (?:it|this|that|the (?:text|code|story|poem|list|conversation|REPLY)))"
    "|(?:has )?(?:(?:asked|asks|is asking) for|(?:requested|requests|is requesting)(?: for)?)"
    r" (?:(?:an?|the|another|some|more|[0-9]+|two|three|five|ten) )?(?:[\w-]+ ){0,2}(?:REPLY"
    "|poem|story|joke|recipe|script|outline|essay|suggestions?|recommendations?|tips|ideas"
    r"|advice|examples?|information|clarification)\b(?! of (?:his|her|their|my)\b)|is asking for"
    " help|.{1,60} (?:in|during|for) (?:this|the current) (?:chat|conversation|thread|session)$",
    "ALWAYS": "always|never|from now on|in general|generally|usually|normally|prefer(?:s|red)?"
    "|(?<!would )(?<!'d )likes?|loves?|hates?|dislikes?|(?:every|each) (?:time|day|week|answer"
    "|reply|chat)|all (?:answers|replies|responses|future)|whenever|by default|in (?:the"
    " )?future|going forward",
    "ASK": "(?:what|where|when|why|who|how|which)(?:'s|'re| (?:is|are|was|were|do|does|did|can"
    "|could|should|would|will|has|have))|(?:is|does|did|has|can|will|should|was) (?:the )?user",
    "WONDERS": "(?:(?:also|just|often|is) )?(?:(?:ask(?:s|ed|ing)?|inquire[sd]?|wonder(?:s|ed"
    "|ing)|wants? to know|wanted to know|would like to know) (?:about )?(?:what|where|when|why"
    "|who|how|which|whether|if)|(?:asks|asked|is asking|inquired|inquires) about(?! (?:his|her"
    "|their|my|our)))",
    "ASAI": "as an? (?:ai(?: language)? (?:model|assistant)|ai,|(?:large )?language model"
    "|virtual assistant)|i(?:'m| am) (?:just |only )?an? (?:ai(?: (?:language )?model"
    "| assistant|$|,| and)|language model|virtual assistant|chatbot)",
    "ADVICE": "i(?: would|'d)? (?:strongly |highly )?(?:recommend|suggest|advise)|i(?:'m"
    "| am) (?:happy|glad|here) to (?:help|assist)|i(?:'m| am) sorry(?:,? but| to hear)"
    "|i can (?:help|assist) you|i(?:'ll| will) (?:remember|note|keep (?:this|that) in mind)"
    "|you (?:should|could|can|might|may|must|need to|ought to|will want to)(?! (?:know|remember"
    "|call me|keep))|it(?:'s| is) (?:advisable|recommended) (?:that|to)|here (?:is|are) (?:an?"
    "|some|the|your)|(?:sure|certainly|of course), |(?:let me know if|feel free to|(?:i )?hope"
    " this helps)|(?:the )?user (?:should|could|may want to|might want to) (?:consider|consult)",
    "HELPER": "(?:the |this )?(?:ai|assistant|chatbot|model|chatgpt)(?: has| had)?",
    "SAID": "(?:recommend|suggest|advis|explain|offer)e?(?:s|d|ed)|provided|says?|said|told"
    "|answered|responded|thinks|cannot|can help|will help|helped",
    "BE": "is|was|am|are|feels?|felt|(?:is|was|am) feeling|seems",
    "VERY": "very|so|a bit|a little|quite|really|just|still|extremely|too|pretty|rather|completely",
    "NOW": "now|currently|already|after work",
    "TODAY": "today|right now|just now|at (?:the|this) moment|at present|tonight|this"
    " (?:morning|afternoon|evening)",
    "THEN": "yesterday|last night|on (?:the )?DATE",
    "STATE": "WORN(?: and WORN)?|having a (?:bad|good|great|rough|busy) (?:day|morning|evening)"
    "|in a hurry|in an? (?:good|bad|great|terrible) mood|hung ?over|running late|jet-?lagged",
    "WORN": "tired|exhausted|sleepy|hungry|thirsty|bored",
    "MOOD": "sick|ill|unwell|under the weather|at (?:work|home|school|the office)|busy|stressed"
    "|sad|happy|angry|nervous|upset|cold|hot|excited|lonely|anxious|overwhelmed|not feeling well",
    "HAVE": "(?:currently |now )?(?:has|have|had)(?: got)?",
    "ACHE": "(?:an? )?(?:(?:slight|bad|terrible|bit of a|little|mild|splitting)"
    " ){0,2}(?:headache|cold|hangover|stomach ?ache|sore throat|runny nose|hiccups)",
    "PLACE": "(?:sitting |stuck )?(?:on (?:the|an?|his|her|their|my) (?:(?:train|bus|plane"
    r"|ferry|way)(?: to \w+)?|tram|subway|way home|phone)|at the (?:airport|gym|supermarket"
    "|station|checkout|hairdresser)|in (?:an?|the) (?:meeting|shower|queue|traffic jam"
    "|waiting room|bath|lift|taxi)|in bed|in traffic)",
    "DOING": "BE MOD(?:eating|drinking|cooking|waiting for|sitting|lying|driving|walking"
    "|watching|listening to|going to (?:bed|sleep)|heading|having (?:breakfast|lunch|dinner"
    r"|(?:a )?(?:coffee|tea|snack|drink|break|nap)))(?: [\w' -]{1,40})?WHEN|(?:had|ate|drank"
    r"|is having) [\w ,'-]{2,50}for (?:breakfast|lunch|dinner|supper)WHEN{0,2}|(?:has )?slept"
    " (?:badly|well|poorly)WHEN{0,2}|(?:can't|cannot|could not|couldn't) sleepWHEN{1,2}",
    "GENERAL": "(?:the )?(?:(?:capital(?: city)?|population|currency|official language) of"
    "|(?:boiling|melting|freezing) point|square root|speed of (?:light|sound)|chemical"
    " (?:symbol|formula)|atomic (?:number|weight)|time complexity|(?:earth|sun|human (?:body"
    "|heart)|photosynthesis|gravity|world war (?:i|ii|one|two)|(?:first|second) world war"
    "|french revolution|roman empire|berlin wall|eiffel tower|mona lisa|universe|solar system)"
    " (?:is|are|was|were|has|have|orbits|rises|sets|began|ended|fell|started|consists|contains"
    "|stands|hangs))|there are [a-z0-9]+ (?:continents|planets|oceans|bones in|days in"
    "|minutes in|hours in|seconds in|bits in|bytes in|letters in)",
    "ISCAPITAL": r"stands for .*\b(?:language|protocol|interface|network|system)$|(?:is"
    "|was) the (?:capital(?: city)?|(?:largest|biggest|smallest) (?:country|city|planet|ocean"
    "|continent|island|desert)|longest river|(?:highest|tallest) (?:mountain|building)) (?:of"
    r"|in|on)\b|(?:was (?:discovered|invented) by|is (?:defined as|the process (?:of|by which)"
    r"|the study of))\b|is an? (?:[\w-]+ ){0,3}(?:city|town|river|mountain|island|country|region"
    r"|province) (?:in|of|on)\b(?!.*\bwhere\b)",
    "BOILS": "(?:boils|freezes|melts|evaporates) at(?: about| around)?",
    "ISA": "(?:is|are) (?:an?|the|one of the)",
    "KIND": "(?:programming|markup|query|scripting) languages?|language(?:$| (?:for|used))"
    "|operating system|data structure|chemical element|sorting algorithm|network protocol"
    "|(?:planet|continent|mammal|reptile|theorem)s?(?:$| (?:in|of) the)",
    "MINE": r"user(?:'?s)?|i|my|mine|we|our|his|her|hers|their|me|us|[\w-]+(?:'s|s')",
}
_GERMAN: Mapping[str, str] = {
    "USER": "(?:der |die |dieser )?(?:be)?nutzer(?:in)?|ich",
    "PLEASE": "bitte|(?:kannst|könntest) du(?: bitte)?",
    "EDIT": "(?:mache?|übersetze?|fasse?|kürze?|formuliere?|erkläre?|wiederhole?|korrigiere?"
    "|verbessere?|schreibe?)(?: bitte)?",
    "EDITIT": "(?:noch ?mal|weiter)$",
    "THIS": "es|das|dies(?:en?|es)?|den text|die REPLY|noch ?mal",
    "ANSWER": "antworte|schreibe?|rede|sprich",
    "HERE": "diesmal|dieses (?:eine )?mal|ausnahmsweise|(?:in diese[mr]|für diese) (?:chat"
    "|gespräch|antwort|unterhaltung|frage)",
    "ASKS": "(?:möchte|will|wünscht(?: sich)?|verlangt|hätte gern|bittet(?: darum)?|bat(?:"
    " darum)?)(?: um|,? dass)?",
    "TEXT": r"(?:(?:die|diese) (?:(?:letzte|obige|vorige) )?|eine (?:\w+ere|kurze|andere)"
    r" )REPLY\b(?! (?:de[rs]|vo[nm]|seine|ihre|auf|für))|den (?:obigen|folgenden|eingefügten)"
    " text",
    "REPLY": "antwort|zusammenfassung|übersetzung|erklärung|ausgabe|formulierung",
    "TASK": "(?:bittet|bat) um (?:eine? |einen )?(?:kurze )?(?:REPLY|gedicht|rezept)$|(?:bittet"
    "|bat)(?: darum)?,? (?:den (?:text|absatz|satz)|die antwort|das|es) .{0,20}zu (?:übersetzen"
    "|kürzen|korrigieren|verbessern|erklären|wiederholen)|(?:bittet|bat)(?: darum)?,? .{1,60} zu"
    " (?:vergessen|löschen)$",
    "ALWAYS": "immer|nie(?:mals)?|grundsätzlich|generell|ab jetzt|künftig|in zukunft|stets"
    "|bevorzugt?|mag|jede[rsmn]? (?:antwort|mal)",
    "ASK": "(?:was|wo|wann|warum|wieso|wer|wie|welche[rs]?|woher|wohin) (?:ist|sind|war|kann"
    "|soll|muss|heißt|bedeutet|wohnt|funktioniert|gibt|lautet)",
    "WONDERS": "(?:fragte?(?: sich)?|(?:möchte|will|wollte) wissen),? (?:ob|was|wo|wann|warum"
    "|wer|wie|welche[rs]?|woher|wohin|nach de[rm])",
    "ASAI": r"als (?:ki|sprachmodell|künstliche intelligenz|ki-(?:modell|assistent\w*))(?:,"
    r"| (?:kann|habe|bin)\b)",
    "ADVICE": "ich (?:empfehle|rate|schlage) (?:dir|ihnen|euch)|(?:du|sie|ihr) (?:solltest"
    "|solltet|sollten|könntest|könnten)(?! wissen)|du kannst|es wird empfohlen",
    "HELPER": "der assistent|die ki",
    "SAID": "hat|empfiehlt|empfahl|schlägt|sagt|meint|erklärt",
    "BE": "ist|war|bin|(?:fühlte?|fühle) (?:sich|mich)",
    "VERY": "sehr|total|ziemlich|etwas|ein bisschen|ein wenig|so|noch|wieder|echt",
    "NOW": "aktuell|momentan|derzeit",
    "TODAY": "heute(?: abend| morgen)?|gerade|jetzt|im moment",
    "THEN": "gestern(?: abend)?|am DATE",
    "STATE": "müde|erschöpft|hungrig|durstig|schläfrig|gelangweilt|verkatert|in eile|spät dran"
    "|(?:schlecht|gut) gelaunt",
    "MOOD": "krank|gestresst|traurig|glücklich|wütend|nervös|beschäftigt|unwohl",
    "HAVE": "hat|habe|hatte",
    "ACHE": "hunger|durst|einen kater",
    "PLACE": "im (?:zug|bus|auto|flugzeug|stau|wartezimmer|bett|meeting)|in der (?:bahn|u-bahn"
    "|straßenbahn|schlange)|am (?:flughafen|bahnhof)|beim (?:zahnarzt|friseur)|auf dem"
    " (?:heimweg|weg (?:nach hause|zur arbeit))",
    "DOING": "(?:sitzt|sitze|steht|stehe) MODPLACEWHEN{0,2}|(?:hat|habe) TODAY"
    " MOD(?:kopfschmerzen|kopfweh|bauchschmerzen|fieber|schnupfen|keine lust|schlecht"
    " geschlafen)",
    "GENERAL": "(?:die (?:hauptstadt|währung|einwohnerzahl|lichtgeschwindigkeit|quadratwurzel)"
    "|der (?:siede|schmelz|gefrier)punkt) .{1,60} (?:ist|beträgt|lautet|liegt)|(?:die (?:erde"
    "|sonne|berliner mauer)|der (?:erste|zweite) weltkrieg) (?:ist|hat|dreht|kreist|fiel|begann"
    "|endete)",
    "ISCAPITAL": r"ist die hauptstadt (?:von|der|des)\b|ist eine? (?:[\w-]+ ){0,2}(?:stadt|fluss"
    r"|land|berg|insel) (?:in|im|an)\b(?!.*, (?:wo|in de[mr])\b)",
    "BOILS": "(?:siedet|kocht|gefriert|schmilzt) bei(?: etwa| rund)?",
    "ISA": "ist eine?",
    "KIND": "programmiersprache|auszeichnungssprache|sprache$|planet|säugetier|chemisches"
    " element|betriebssystem|naturgesetz",
    "MINE": r"\w*nutzer(?:s|in)?|ich|mir|mich|meine?[mnrs]?|wir|uns|unser\w{0,2}|seine?[mnrs]?"
    "|ihre?[mnrs]?",
}
_LATIN = (
    _ENGLISH,
    _GERMAN,
    FRENCH_SCREENING,
    SPANISH_SCREENING,
    PORTUGUESE_SCREENING,
    ITALIAN_SCREENING,
)
# Letters that tell which languages a text may be in.
_LANGUAGES_BY_LETTERS = {
    re.compile("[a-z]"): _LATIN,
    re.compile("[а-яё]"): (RUSSIAN_SCREENING,),
    re.compile("[\u4e00-\u9fff]"): (CHINESE_SCREENING,),
    re.compile("[\u3041-\u30ff]"): (JAPANESE_SCREENING,),
}
_TABLES = (_FRAMES, *_LATIN, RUSSIAN_SCREENING, CHINESE_SCREENING, JAPANESE_SCREENING)
# Facts are far shorter; what is longer leaves doubt.
_LONGEST_PLAIN = 400


def plain(text: str) -> str:
    """A text as patterns expect it: lower case, straight apostrophes, no full stop."""
    words = " ".join(text.lower().replace("’", "'").split())
    return words.strip(' "“”„«»*_').rstrip(".!。！… ")


def fits(kind: ScreeningKind, text: str) -> bool:
    """Whether a ``plain`` text is of a kind, in any of the languages that its letters may be of."""
    if len(text) > _LONGEST_PLAIN:
        return False
    return any(pattern.search(text) for pattern in _patterns_for(kind, text))


def without_subject(text: str) -> str:
    """A ``plain`` text without the user as its subject: "lives in Porto"."""
    for pattern in _patterns_for("subject", text):
        text = pattern.sub("", text)
    return text.strip()


def _patterns_for(kind: ScreeningKind, text: str) -> Iterator[re.Pattern[str]]:
    for letters in _LANGUAGES_BY_LETTERS:
        if letters.search(text):
            yield from _patterns_of(kind, letters)


def spelled_out(pattern: str, *tables: Mapping[str, str]) -> str:
    """A pattern whose words in capitals are replaced by the fragments of these names.

    Names may stand side by side. Of several tables the first that has a name counts; a name that
    none of them has never matches.
    """
    known = {name for table in (*_TABLES, *tables) for name in table if name.isupper()}
    names = re.compile("|".join(sorted(known, key=lambda name: (-len(name), name))))

    def fragment(found: re.Match[str]) -> str:
        own = next((table[found[0]] for table in tables if found[0] in table), "(?!)")
        return f"(?:{names.sub(fragment, own)})"

    return names.sub(fragment, pattern)


@cache
def _patterns_of(kind: ScreeningKind, letters: re.Pattern[str]) -> tuple[re.Pattern[str], ...]:
    """Compiled when a fact first needs them: at load all of them would cost 0.2 s."""
    return tuple(
        re.compile(spelled_out(language.get(kind) or _FRAMES[kind], language, _FRAMES))
        for language in _LANGUAGES_BY_LETTERS[letters]
    )
