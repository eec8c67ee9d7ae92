"""Requests to bring archived memories back, read from what a user typed, without a model.

Only a message that is such a request as a whole counts: it says all of "restore", "archived" and
"memories", and nothing else but courtesy. What is quoted, told, negated or asked about is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_LONGEST_RESTORE_REQUEST = 160
_RESTORE_END_MARKS = " \t\r\n.!\u2026"
# One of each is in every request; so few other messages hold both that the patterns, which take
# 30 ms to compile, are hardly ever needed.
_ARCHIVE_STEMS = ("archiv", "arquiv")
_MEMORY_STEMS = ("memo", "erinnerung", "souvenir", "recuerdo", "lembranca", "recordac", "ricord")


@dataclass(frozen=True, slots=True)
class RestoreLanguage:
    """How one language asks, in small letters without accents.

    In a form, names in capitals stand for the ``words``. ``lead`` may stand before it up to four
    times, ``close`` after it up to twice. Only what begins with ``asked``, a polite question with
    its verb in the form of ``questions``, may end in a question mark.
    """

    lead: str
    asked: str
    close: str
    words: Mapping[str, str]
    forms: tuple[str, ...]
    questions: tuple[str, ...]


_ENGLISH_RESTORING = RestoreLanguage(
    "ok(?:ay)?|hey|hi|hello|please|pls|so|now|and|just|well|thanks|actually|kindly",
    "(?:can|could|would|will) you",
    "please|pls|thanks|thank you|now|ok(?:ay)?|right now|again|for me",
    {
        "VERB": "(?:restore|recover|reinstate|return|retrieve|unarchive"
        "|(?:bring|get|put|give me) back)",
        "APART": "(?:bring|get|put|give me)",
        "WANT": "(?:i(?:'d| would) like you to |i (?:want|need) you to |you (?:can|should|may)"
        " |i (?:want|need) to |i(?:'d| would) like to )",
        "HAVE": "(?:i want|i need|i'd like|i would like)",
        "THEM": "(?:all|(?:all |all of )?(?:my|the|your|those|these))",
        "WHICH": "(?:(?:that|which) )?(?:(?:you|you've|you have|were|was|have been|got) )archived",
        "FROM": "(?:from|out of) (?:the|your|my) archives?",
    },
    (
        "(?:WANT)?VERB THEM archived memories",
        "VERB archived memories",
        "(?:WANT)?VERB (?:my|the|your) memory archive",
        "(?:WANT)?VERB THEM memories (?:WHICH|FROM)",
        "(?:WANT)?APART THEM archived memories back",
        "(?:WANT)?APART THEM memories back FROM",
        "(?:WANT)?APART THEM memories WHICH back",
        "(?:WANT)?un-?archive THEM memories",
        "HAVE THEM archived memories (?:back|restored)",
        "HAVE THEM memories WHICH back",
    ),
    (
        "VERB THEM archived memories",
        "VERB THEM memories (?:WHICH|FROM)",
        "APART THEM archived memories back",
        "APART THEM memories back FROM",
        "un-?archive THEM memories",
    ),
)
_GERMAN_RESTORING = RestoreLanguage(
    "ok(?:ay)?|bitte|hallo|hey|hi|also|und|so|jetzt|nun|danke|gut",
    "(?:(?:kannst|konntest|wurdest|magst) du|(?:konnen|konnten|wurden) sie)",
    "bitte|danke|jetzt|sofort|ok(?:ay)?",
    {
        "SET": "stell(?:e|en sie)?",
        "FETCH": "(?:hol|bring)(?:e|en sie)?",
        "BACK": "(?:wieder )?zur(?:u|ue)ck",
        "ANEW": "wieder ?her",
        "MEMS": "(?:(?:alle |samtliche )?(?:meine |die |deine |diese )?archivierten? erinnerungen"
        "|(?:alle )?(?:meine|die|deine) erinnerungen(?: aus (?:dem|deinem) archiv|WHICH,?))",
        "PLAIN": "(?:alle|(?:alle )?(?:meine|die|deine)) erinnerungen",
        "WHICH": ",? die (?:du archiviert hast|sie archiviert haben|archiviert (?:wurden|sind"
        "|worden sind))",
        "SOON": "(?:bitte |mir |jetzt |mir bitte |bitte mir )?",
    },
    (
        "SET SOONMEMS SOONANEW",
        "SET SOONPLAIN ANEWWHICH",
        "FETCH SOONMEMS SOONBACK",
        "FETCH SOONPLAIN BACKWHICH",
        "(?:gib|geben sie) SOONMEMS BACK",
        "MEMS SOON(?:wiederherstellen|wieder herstellen|zur(?:u|ue)ck(?:holen|bringen))",
        "ich (?:mochte|will|hatte gerne?) MEMS (?:BACK|zur(?:u|ue)ckhaben|wiederhaben"
        "|wiederherstellen)",
    ),
    ("SOONMEMS SOON(?:wiederherstellen|wieder herstellen|zur(?:u|ue)ck(?:holen|bringen|geben))",),
)
_FRENCH_RESTORING = RestoreLanguage(
    "ok|bon|alors|et|bonjour|salut|merci|maintenant|s'il (?:te|vous) plait|stp|svp",
    "(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|(?:est-ce que )?(?:tu peux|tu pourrais"
    "|vous pouvez|vous pourriez))",
    "s'il (?:te|vous) plait|stp|svp|merci|maintenant|ok",
    {
        "DO": "(?:restaure[rz]?|recupere[rz]?|retabli(?:s|r|ssez)|rends-moi|rendez-moi|ramene[rz]?"
        "|desarchive[rz]?|fai(?:s|tes) revenir)",
        "TO": "(?:restaurer|recuperer|retablir|ramener|desarchiver|faire revenir|me rendre)",
        "MEMS": "(?:tous |toutes )?(?:mes|les|tes|ces) (?:souvenirs|memoires) (?:archivee?s"
        "|que (?:tu as|vous avez) archivee?s|qui (?:ont ete|sont) archivee?s"
        "|(?:de l'|des |depuis l')archives?)",
    },
    ("DO MEMS", "je (?:veux|voudrais|souhaite|aimerais) TO MEMS"),
    ("TO MEMS",),
)
_SPANISH_RESTORING = RestoreLanguage(
    "ok|vale|bueno|hola|y|ahora|gracias|por favor|oye",
    "(?:me )?(?:puedes|podrias|podes|puede|podria)",
    "por favor|gracias|ahora|ya|vale|ok",
    {
        "DO": "(?:restaurar?|restaure|recuperar?|recupere|restablecer?|restablezca|desarchivar?"
        "|desarchive|devuelveme|devuelvame|tra(?:e|eme|iga) de vuelta)",
        "TO": "(?:restaurar|recuperar|restablecer|desarchivar|devolver(?:me)?|traer de vuelta)",
        "MEMS": "(?:todos |todas )?(?:mis|los|las|tus|esos|esas) (?:recuerdos|memorias)"
        " (?:archivad[oa]s|que (?:has archivado|archivaste|(?:fueron|estan) archivad[oa]s"
        "|se archivaron)|del archivo)",
    },
    (
        "DO MEMS",
        "tra(?:e|eme|iga) MEMS de vuelta",
        "(?:quiero|quisiera|me gustaria) TO MEMS",
    ),
    ("TO MEMS",),
)
_PORTUGUESE_RESTORING = RestoreLanguage(
    "ok|bom|ola|oi|e|agora|obrigad[oa]|por favor",
    "(?:voce pode|pode|podes|poderia|poderias|voce poderia)",
    "por favor|obrigad[oa]|agora|ja|ok|ta",
    {
        "DO": "(?:restaurar?|restaure|recuperar?|recupere|desarquivar?|desarquive"
        "|devolv[ea](?:-me)?|tra(?:z|ga|zer) de volta|rep(?:oe|onha))",
        "TO": "(?:restaurar|recuperar|desarquivar|devolver(?:-me)?|trazer de volta|repor)",
        "MEMS": "(?:todas |todos )?(?:as |os )?(?:minhas |meus |suas |tuas |essas |esses )?"
        "(?:memorias|lembrancas|recordacoes) (?:arquivad[oa]s|que (?:voce |tu )?(?:arquivou"
        "|arquivaste)|que (?:foram|estao) arquivad[oa]s|do arquivo)",
    },
    ("DO MEMS", "tra(?:z|ga) MEMS de volta", "(?:quero|queria|gostaria de) TO MEMS"),
    ("TO MEMS",),
)
_ITALIAN_RESTORING = RestoreLanguage(
    "ok|bene|ciao|e|ora|adesso|grazie|per favore|allora",
    "(?:puoi|potresti|puo|potrebbe)",
    "per favore|grazie|ora|adesso|subito|ok",
    {
        "DO": "(?:ripristina(?:re)?|ripristini|recupera(?:re)?|recuperi"
        "|riporta(?:re)?(?: indietro)?|restituiscimi|ridammi)",
        "TO": "(?:ripristinare|recuperare|riportare(?: indietro)?|restituirmi|ridarmi)",
        "MEMS": "(?:tutti |tutte )?(?:i |le |quei |quelle )(?:miei |mie |tuoi |tue )?"
        "(?:ricordi|memorie) (?:archiviat[ie]|che hai archiviat[oie]"
        "|che sono stat[ie] archiviat[ie]|dall'archivio)",
    },
    ("DO MEMS", "(?:voglio|vorrei) TO MEMS"),
    ("TO MEMS",),
)


def asks_to_restore(words: str) -> bool:
    """Whether a message asks to bring archived memories back.

    Of a message of more than 160 characters nothing is read. Case and accents do not count.
    """
    if len(words) > _LONGEST_RESTORE_REQUEST:
        return False
    letters = unicodedata.normalize("NFKD", words.replace("\u2019", "'").casefold())
    said = " ".join("".join(one for one in letters if not unicodedata.combining(one)).split())
    if not all(any(one in said for one in each) for each in (_ARCHIVE_STEMS, _MEMORY_STEMS)):
        return False
    asks = "?" in said[-3:]
    plain = said.strip("\u00bf\u00a1 ").rstrip(_RESTORE_END_MARKS + "?")
    return any(
        (polite if asks else form).fullmatch(plain) is not None
        for form, polite in _restore_patterns()
    )


@cache
def _restore_patterns() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """For each language what is a request, and what is one that is put as a question."""
    languages = (
        _ENGLISH_RESTORING,
        _GERMAN_RESTORING,
        _FRENCH_RESTORING,
        _SPANISH_RESTORING,
        _PORTUGUESE_RESTORING,
        _ITALIAN_RESTORING,
    )
    return tuple(map(_patterns_of_language, languages))


def _patterns_of_language(one: RestoreLanguage) -> tuple[re.Pattern[str], re.Pattern[str]]:
    lead = f"(?:(?:{one.lead})[ ,.!:]+){{0,4}}"
    close = f"(?:[ ,.!]+(?:{one.close})){{0,2}}"
    told, asked = (_spelled_restoring(forms, one.words) for forms in (one.forms, one.questions))
    polite = f"{lead}{one.asked} {lead}{asked}{close}"
    return re.compile(f"{lead}{told}{close}|{polite}"), re.compile(polite)


def _spelled_restoring(forms: tuple[str, ...], words: Mapping[str, str]) -> str:
    """Forms as one pattern, with the words that their names stand for; words may hold names."""
    spelled = "|".join(forms)
    name = re.compile("|".join(sorted(words, key=len, reverse=True)))
    for _ in range(2):
        spelled = name.sub(lambda found: words[found[0]], spelled)
    return f"(?:{spelled})"
