"""Forms of messages that ask to erase memories, as data: eleven languages, whole messages.

A message is compared in small letters, without its end marks. In a form, names in capitals stand
for the words of its language; ``DAY`` is read as a day of the calendar afterwards. ``asked`` is how
one asks politely: only such a message may end in a question mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ErasureScope = Literal["everything", "chat", "day", "imported", "tools"]


@dataclass(frozen=True, slots=True)
class ErasureLanguage:
    """How one language asks; ``word`` is what its speakers are asked to type.

    One of ``stems`` is in every request. ``lead`` may stand before it up to four times, ``close``
    after it up to twice. ``days`` are the words for today, yesterday and the day before.
    """

    code: str
    word: str
    stems: str
    lead: str
    asked: str
    close: str
    days: tuple[str, str, str]
    words: Mapping[str, str]
    forms: Mapping[ErasureScope, tuple[str, ...]]


_ENGLISH_ERASURE = ErasureLanguage(
    "en",
    "erase",
    "forget|delete|erase|remove|wipe|clear|purge",
    "ok(?:ay)?|hey|hi|hello|please|pls|so|now|and|also|just|well|thanks|actually|assistant|kindly",
    "(?:can|could|would|will) you ",
    "please|pls|thanks|thank you|now|ok(?:ay)?|right now|immediately",
    ("today|from today", "yesterday|from yesterday", "the day before yesterday"),
    {
        "WANT": "(?:i(?:'d| would) like you to |i (?:want|need) you to |you (?:can|should|may|must)"
        " )?(?:please |now |just )?",
        "DEL": "(?:forget|delete|erase|remove|wipe|clear|purge)",
        "EACH": "(?:everything|all|anything|whatever|what|all the things|the things)(?: that)?",
        "KNOWN": "(?:you (?:know|remember|have on file)|you(?:'ve| have) (?:learned|learnt|stored"
        "|saved|remembered|noted))",
        "TOLD": "(?:i|we)(?:'ve| have)?(?: just| ever)? (?:told you|said(?: to you)?|mentioned"
        "|shared with you|wrote(?: to you)?|discussed|talked about)",
        "HERE": "(?:this|the current|our current|our) (?:chat|conversation|session|thread)",
        "MEMS": "(?:(?:all|all of) )?(?:my |your |the )?(?:memories|memory|stored memories)",
    },
    {
        "everything": (
            "WANTforget (?:absolutely )?everything",
            "WANTDEL (?:absolutely )?(?:everything|all)(?: that)? KNOWN about me",
            "WANTforget (?:everything|all)(?: that)? KNOWN",
            "WANTDEL (?:everything|all)(?: that)? i(?:'ve| have)? ever told you(?: about me)?",
            "WANTforget everything(?: that)? i(?:'ve| have)? told you(?: about me)?",
            "WANTDEL (?:everything|all|all data|all information|all the information)(?: you have)?"
            " (?:about|on) me",
            "WANTDEL (?:(?:all|all of|every one of) )?(?:my|your) (?:whole |entire )?(?:memories"
            "|memory)(?: (?:about|of|on) me)?",
            "WANTDEL all(?: of)?(?: the)? memories(?: (?:about|of|on) me)?",
            "WANTDEL (?:all )?(?:the )?memories (?:about|of|on) me",
        ),
        "chat": (
            "WANTDEL EACH TOLD (?:in|during|within) HERE",
            "WANTDEL (?:everything|all) (?:you(?:'ve| have)? )?(?:learned|learnt|saved|remembered"
            "|stored) (?:in|from|during) HERE",
            "WANTforget everything (?:in|from|about) HERE",
            "WANTforget (?:this|our current|the current) (?:chat|conversation)",
            "WANTDEL MEMS (?:from|of|made in|saved in) HERE",
        ),
        "day": (
            "WANTDEL EACH TOLD (?:on )?DAY",
            "WANTDEL (?:everything|all) (?:you(?:'ve| have)? )?(?:learned|learnt|saved|remembered"
            "|stored) (?:on )?DAY",
            "WANTDEL MEMS (?:from|of|made on|saved on) DAY",
            "WANTforget everything from DAY",
        ),
        "imported": (
            "WANTDEL EACH (?:was|were|has been|have been|i|i've|i have) imported",
            "WANTDEL (?:all )?(?:of )?(?:the |my )?(?:imported memories|imports)",
            "WANTDEL MEMS (?:that )?(?:were |i )?imported",
        ),
        "tools": (
            "WANTDEL EACH (?:the )?tools? (?:have |has )?(?:saved|stored|wrote|written|added"
            "|remembered)",
            "WANTDEL EACH (?:was |were )?(?:saved|stored|written|added) by (?:the )?tools?",
            "WANTDEL MEMS (?:that )?(?:were )?(?:saved|stored|written|added|made) by (?:the )?"
            "tools?",
            "WANTDEL MEMS (?:from|of) (?:the )?tools?",
        ),
    },
)
_GERMAN_ERASURE = ErasureLanguage(
    "de",
    "löschen",
    "verg[ei]ss|lösch|entfern",
    "ok(?:ay)?|bitte|hallo|hey|hi|also|und|so|jetzt|nun|danke|gut",
    "(?:kannst|könntest|würdest|magst) du (?:bitte )?(?:jetzt )?",
    "bitte|danke|jetzt|sofort|ok(?:ay)?",
    ("heute", "gestern", "vorgestern"),
    {
        "VERG": "(?:vergiss|vergesse|vergessen sie)(?: bitte)?(?: einfach| jetzt)?",
        "DEL": "(?:vergiss|vergesse|vergessen sie|lösche?|löschen sie|entferne?|entfernen sie)"
        "(?: bitte)?(?: jetzt)?",
        "END": "(?:vergessen|löschen|entfernen)",
        "KNOWN": ",? was du (?:über mich|von mir) (?:weißt|gelernt hast|gespeichert hast)",
        "SAID": "(?:gesagt|erzählt|geschrieben|mitgeteilt) habe?",
        "EACH": "(?:,? (?:alles|das))?,? was",
        "HERE": "(?:diesem|dem aktuellen|unserem) (?:chat|gespräch|verlauf)",
        "MEMS": "(?:alle |die |meine |deine |sämtliche ){0,2}erinnerungen",
        "TOOLS": "(?:tools|werkzeuge)",
    },
    {
        "everything": (
            "VERG (?:wirklich )?alles(?: (?:über mich|von mir))?",
            "DEL alles(?:KNOWN|,? was ich dir (?:je |jemals )?SAID| (?:über mich|von mir))",
            "DEL (?:alle |sämtliche )(?:meine |deine )?erinnerungen(?: (?:an|über) mich)?",
            "DEL (?:meine|deine) erinnerungen(?: (?:an|über) mich)?",
            "DEL (?:mein|dein)(?: ganzes| gesamtes)? gedächtnis(?: (?:an|über) mich)?",
            "ASKEDalles(?:KNOWN,?| (?:über mich|von mir)) END",
            "ASKEDalles vergessen",
            "ASKED(?:alle|sämtliche)(?: meine| deine)? erinnerungen(?: (?:an|über) mich)? END",
        ),
        "chat": (
            "DELEACH ich(?: dir)? in HERE SAID",
            "VERG (?:diesen chat|dieses gespräch)",
            "VERG alles aus HERE",
            "DEL MEMS aus HERE",
            "ASKEDalles,? was ich(?: dir)? in HERE SAID,? END",
        ),
        "day": (
            "DELEACH ich(?: dir)? (?:am )?DAY SAID",
            "DEL MEMS (?:von|vom) DAY",
            "VERG alles (?:von|vom) DAY",
            "ASKEDalles,? was ich(?: dir)? (?:am )?DAY SAID,? END",
        ),
        "imported": (
            "DELEACH (?:importiert wurde|ich importiert habe?)",
            "DEL (?:alle |die |meine ){0,2}importierten erinnerungen",
        ),
        "tools": (
            "DELEACH (?:die )?TOOLS gespeichert haben",
            "DELEACH von (?:den )?(?:tools|werkzeugen) gespeichert wurde",
            "DEL MEMS (?:von|aus) (?:den )?(?:tools|werkzeugen)",
        ),
    },
)
_FRENCH_ERASURE = ErasureLanguage(
    "fr",
    "effacer",
    "oubli|effac|supprim",
    "ok|bon|alors|et|bonjour|salut|merci|maintenant|s'il (?:te|vous) plaît|stp|svp",
    "(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|tu peux|tu pourrais) ",
    "s'il (?:te|vous) plaît|stp|svp|merci|maintenant|ok",
    ("aujourd'hui", "hier", "avant-hier"),
    {
        "FORG": "(?:oublier?|oubliez)",
        "DEL": "(?:oublier?|oubliez|effacer?|effacez|supprimer?|supprimez)",
        "KNOWN": "ce que (?:tu sais|vous savez|tu as appris|tu as retenu)",
        "EACH": "(?:tout )?ce que (?:je t'ai|je vous ai|j'ai)",
        "SAID": "(?:dit|raconté|écrit|confié)",
        "HERE": "(?:cette|notre) (?:conversation|discussion)",
        "MEMS": "(?:tous |toutes )?(?:les |mes |tes )?(?:souvenirs|mémoires)",
    },
    {
        "everything": (
            "FORG(?: absolument)? tout(?: (?:sur|de|à propos de) moi)?",
            "DEL tout(?: KNOWN)? (?:sur|de|à propos de) moi",
            "FORG tout KNOWN",
            "DEL tout ce que je (?:t'ai|vous ai) (?:jamais )?SAID",
            "DEL (?:tous |toute )(?:mes|tes|ma|ta|les|la) (?:souvenirs|mémoire)"
            "(?: (?:sur|de) moi)?",
            "DEL (?:mes|tes|ma|ta) (?:souvenirs|mémoire)(?: (?:sur|de) moi)?",
        ),
        "chat": (
            "DEL EACH SAID (?:dans|pendant) (?:HERE|ce chat)",
            "FORG (?:HERE|ce chat)",
            "DEL MEMS de (?:HERE|ce chat)",
        ),
        "day": (
            "DEL EACH SAID (?:le )?DAY",
            "DEL MEMS (?:de |d'|du )DAY",
        ),
        "imported": (
            "DEL tout ce qui a été importé",
            "DEL (?:tout )?ce que j'ai importé",
            "DEL MEMS importée?s",
        ),
        "tools": (
            "DEL tout ce que les outils ont (?:enregistré|sauvegardé|mémorisé)",
            "DEL tout ce qui a été (?:enregistré|sauvegardé) par (?:les|des) outils",
            "DEL MEMS (?:enregistrée?s par les|des) outils",
        ),
    },
)
_SPANISH_ERASURE = ErasureLanguage(
    "es",
    "borrar",
    "olvid|borr|elimin|suprim",
    "ok|vale|bueno|hola|y|ahora|gracias|por favor|oye",
    "(?:puedes|podrías|podes|puede|podría) (?:por favor,? )?",
    "por favor|gracias|ahora|ya|vale|ok",
    ("hoy|de hoy", "ayer|de ayer", "anteayer|antes de ayer"),
    {
        "FORG": "(?:olvida(?:r|te|te de)?|olvide)",
        "DEL": "(?:olvida(?:r|te|te de)?|olvide|borrar?|borre|eliminar?|elimine|suprime)",
        "EACH": "(?:todo )?lo que",
        "KNOWN": "lo que (?:sabes|has aprendido|recuerdas|has guardado|sabe)",
        "SAID": "(?:te )?(?:dije|he dicho|conté|he contado|escribí)",
        "HERE": "(?:(?:este|nuestro) chat|(?:esta|nuestra) conversación)",
        "MEMS": "(?:todos |todas )?(?:los |las |mis |tus )?(?:recuerdos|memorias)",
    },
    {
        "everything": (
            "FORG(?: absolutamente)? todo(?: (?:sobre|de|acerca de) mí)?",
            "DEL todo(?: KNOWN)? (?:sobre|de|acerca de) mí",
            "FORG todo KNOWN",
            "DEL todo lo que te he (?:dicho|contado)(?: (?:sobre|de) mí)?",
            "DEL (?:todos |toda )(?:mis|tus|mi|tu|los|la) (?:recuerdos|memorias?)"
            "(?: (?:sobre|de) mí)?",
            "DEL (?:mis|tus|mi|tu) (?:recuerdos|memorias?)(?: (?:sobre|de) mí)?",
        ),
        "chat": (
            "DEL EACH SAID en HERE",
            "FORG HERE",
            "DEL MEMS de HERE",
        ),
        "day": (
            "DEL EACH SAID (?:el )?DAY",
            "DEL MEMS (?:de|del) DAY",
        ),
        "imported": (
            "DEL EACH (?:fue importado|se importó|se ha importado|importé|he importado)",
            "DEL MEMS importad[oa]s",
        ),
        "tools": (
            "DEL EACH (?:las )?herramientas (?:guardaron|han guardado)",
            "DEL EACH (?:guardaron|han guardado|fue guardado por) (?:las )?herramientas",
            "DEL MEMS de (?:las )?herramientas",
        ),
    },
)
_PORTUGUESE_ERASURE = ErasureLanguage(
    "pt",
    "apagar",
    "esque|apag|elimin|exclu|remov",
    "ok|bom|olá|oi|e|agora|obrigad[oa]|por favor",
    "(?:você pode|pode|podes|poderia|poderias|você poderia) (?:por favor,? )?",
    "por favor|obrigad[oa]|agora|já|ok|tá",
    ("hoje|de hoje", "ontem|de ontem", "anteontem|de anteontem"),
    {
        "FORG": "(?:esque(?:ce|ça|cer)(?:-te)?(?: de)?)",
        "DEL": "(?:esque(?:ce|ça|cer)(?:-te)?(?: de)?|apag(?:a|ue|ar)|elimin(?:a|e|ar)"
        "|exclu(?:a|i|ir)|remov(?:a|e|er))",
        "EACH": "(?:tudo )?o que",
        "KNOWN": "o que (?:você sabe|sabes|você aprendeu|aprendeste|guardou)",
        "SAID": "(?:eu )?(?:te |lhe )?(?:disse|contei|falei|escrevi)",
        "HERE": "(?:neste chat|nesta conversa)",
        "THIS": "(?:este chat|esta conversa)",
        "MEMS": "(?:todas |todos )?(?:as |os |minhas |meus |suas |tuas )?(?:memórias|lembranças"
        "|recordações)",
    },
    {
        "everything": (
            "FORG tudo(?: (?:sobre|de) mim)?",
            "DEL tudo(?: KNOWN)? (?:sobre|de) mim",
            "FORG tudo KNOWN",
            "DEL tudo o que (?:eu )?(?:te |lhe )?(?:disse|contei|falei)(?: sobre mim)?",
            "DEL (?:todas )(?:as )?(?:as|minhas|suas|tuas|tua|sua|minha) (?:memórias?|lembranças"
            "|recordações)(?: (?:sobre|de) mim)?",
            "DEL (?:toda )?(?:a )?(?:minhas|suas|tuas|tua|sua|minha) (?:memórias?|lembranças"
            "|recordações)(?: (?:sobre|de) mim)?",
        ),
        "chat": (
            "DEL EACH SAID HERE",
            "FORG THIS",
            "DEL MEMS d(?:este chat|esta conversa)",
        ),
        "day": (
            "DEL EACH SAID (?:em |no dia )?DAY",
            "DEL MEMS (?:de |do dia )?DAY",
        ),
        "imported": (
            "DEL EACH (?:foi importado|importei|eu importei)",
            "DEL MEMS importad[oa]s",
        ),
        "tools": (
            "DEL EACH as ferramentas (?:guardaram|salvaram|gravaram)",
            "DEL EACH foi (?:guardado|salvo|gravado) (?:por|pelas) ferramentas",
            "DEL MEMS das ferramentas",
        ),
    },
)


def latin_erasure_languages() -> tuple[ErasureLanguage, ...]:
    """The languages of this module."""
    return (
        _ENGLISH_ERASURE,
        _GERMAN_ERASURE,
        _FRENCH_ERASURE,
        _SPANISH_ERASURE,
        _PORTUGUESE_ERASURE,
    )
