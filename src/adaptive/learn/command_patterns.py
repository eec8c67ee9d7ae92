"""Forms of commands to memory, as data: sentences in nine languages, without their end marks.

A lead is what may stand before a command in the same sentence.

The named group of a form tells its kind:

- ``fact``: what to remember; ``own``: the same, if it has a first person; ``clause``: the same, if
  it is a clause, which English leaves open; ``dass``: a German subordinate clause; ``list``: its
  items may stand on the lines below; ``errand``: something to do; ``bare``: the sentence before;
- ``subject``: what to forget; ``all``: everything.
"""

# ruff: noqa: RUF001 - the forms are in several scripts

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from adaptive.learn.screening_patterns import spelled_out

_ENGLISH_WORDS: Mapping[str, str] = {
    "LEAD": "(?:(?:ok(?:ay)?|oh|hey|hi|hello|so|and|but|also|now|well|thanks|great|btw"
    "|by the way|one more thing|from now on|first|please|pls|assistant)["
    " ,.!:]+){0,4}(?:(?:(?:can|could|would|will) you|i(?:'d| would) (?:like|want) you to"
    "|i (?:want|need) you to|you (?:should|must|may|can|could|need to|have to)(?: now)?"
    "|make sure(?: to| that you| you)?|be sure to|try to)[ ,]+)?(?:(?:please|always|also|just"
    "|kindly)[ ,]+){0,3}",
    "KEEP": "remember|memori[sz]e",
    "NOT": "(?:don't|dont|do not|never) forget",
    "NOTE": "(?:keep|bear) in mind|(?:take |make a )?note(?: down)?|for (?:future|your)"
    " (?:reference|information)|write down|jot down",
    "MEM": "(?:your |my |the )?(?:long-term )?memor(?:y|ies)",
    "DEL": "delete|erase|remove|wipe|clear",
}
_ENGLISH_COMMANDS = (
    "KEEP(?: this| that| something| one thing| the following| these (?:things|facts))?(?: about"
    " me| for (?:me|later))? ?[:–—] ?(?P<list>.*)",
    "(?:KEEP|NOT)(?: for me| please)?,? that (?P<clause>.+)",
    r"(?:KEEP|NOT)(?: for me| please)?,? (?P<fact>(?:i|i'm|i've|i'd|im|ive)\b(?! (?:said|told"
    r"|asked|mentioned)\b).+)",
    r"(?:KEEP|NOT),? (?P<fact>(?:my|our) (?:(?!who|that|which)[\w'-]+ ){1,6}?(?:is|are|was|were"
    "|has|have|had|will|can|can't|cannot|needs?|likes?|loves?|hates?|lives?|works?|turns|starts"
    "|means) .+)",
    r"KEEP (?P<fact>(?:my|our) [\w' -]{2,40}: .+)",
    r"NOTE(?: of this| this)?(?:,? that |[:,] ?| (?=(?:i|i'm|i've|my|our|we)\b))(?P<own>.+)",
    "(?:save|store|add|put|keep|record)(?: this| it| the following)?(?: in| to| into) MEM(?:,?"
    " that |[:,] ?)(?P<fact>.+)",
    "(?:save|store|add|put|keep) (?:that )?(?P<fact>.+?) (?:in|to|into) MEM",
    "(?:KEEP|NOT) to (?P<errand>[a-z].+)",
    "(?P<bare>(?:KEEP|NOT|save|note|keep)(?: this| that| it)(?: down| in mind| for (?:me|later"
    "|next time|the future))?)",
    "forget (?:that|about the fact that) (?P<subject>(?:i|i'm|i've|my|we|our|he|she"
    r"|they)\b(?! (?:ever )?(?:asked|said|mentioned|told you)(?: it| that| anything| this)?$).+)",
    "(?:forget|DEL) (?:about )?(?:what|everything|anything|all|whatever)(?: that)? (?:i|we"
    "|you)(?:'ve| have)? (?:ever )?(?:said|told you|mentioned|wrote|shared|know|remember"
    "|learned)(?: to you| earlier| before)? (?:about|on|regarding) (?:(?P<all>me|myself|us)"
    "|(?P<subject>.+))",
    "(?:forget|DEL) (?P<all>(?:everything|all)(?: (?:that )?(?:you (?:know|remember"
    "|have learned|have stored|saved)|i(?:'ve| have)? (?:ever )?told you))?(?: (?:about|on"
    "|of) (?:me|us))?|(?:all )?(?:of )?(?:my|your|the)(?: whole| entire)? (?:memory"
    "|memories)(?: (?:about|of) me)?)",
    r"forget (?:about )?(?!.*(?:for (?:a|one|the) \w+|tonight|for now)$)(?P<subject>(?:my|our"
    r"|(?-i:[A-Z])\w+'s) .+?)(?: from MEM| now)?",
    "forget (?P<subject>the .+?) (?:that )?i (?:gave|told|mentioned to|shared with|sent) ?you.*",
    "DEL (?:(?:all|any|every|the|your|my|that|those|of) )*(?:memory|memories|facts?|entry"
    "|entries)(?: you have)? (?:of|about|on|regarding|that|concerning) (?:(?P<all>me|myself|us)"
    "|(?P<subject>.+))",
    "DEL (?P<subject>(?:my|our|that|the|what) .+?) from MEM",
    "stop remembering (?:that )?(?P<subject>.+)",
)
_GERMAN_WORDS: Mapping[str, str] = {
    "LEAD": "(?:(?:ok(?:ay)?|und|ach|also|übrigens|danke|hey|hallo|gut|bitte)[ ,.!:]+){0,4}",
    "KEEP": "(?:merke?|merken sie) (?:dir|euch|sich)|denke? (?:bitte )?(?:daran|dran)"
    "|behalte?(?: bitte)?(?: im (?:kopf|hinterkopf|gedächtnis))?|erinnere dich(?: bitte)? daran"
    "|(?:kannst|könntest) du dir(?: bitte)? merken",
    "NOT": "vergiss(?: bitte)? (?:nicht|nie|niemals)|vergessen sie (?:bitte )?nicht",
    "NOTE": "(?:notiere?|speichere?)(?: dir| sie(?: sich)?)?|beachte|schreib(?:e|en sie)?"
    " (?:dir )?auf",
}
_GERMAN_COMMANDS = (
    "(?:KEEP|NOT)(?: bitte)?(?: das| folgendes| dies)?,? (?:bitte,? )?dass (?P<dass>.+)",
    "(?:KEEP|merken?)(?: bitte)?(?: das| folgendes| dies)? ?[:–] ?(?P<list>.*)",
    r"KEEP(?: bitte)? (?P<fact>(?:ich|mein\w{0,2}|unser\w{0,2}) .*\b(?:bin|ist|sind|habe?|hat"
    r"|heißt|wohne?|mag)\b.+)",
    r"(?:KEEP|NOT)(?: bitte)?, (?P<fact>(?:ich|mein\w{0,2}|wir|unser\w{0,2}) .+)",
    r"NOTE(?: bitte)?(?: das| folgendes)?, dass (?P<dass>.*\b(?:ich|mein\w{0,2}|mir|mich|wir"
    r"|uns)\b.*)",
    "NOTE(?: bitte)?(?: das| folgendes)? ?: ?(?P<own>.+)",
    r"NOT(?: bitte)?,? (?P<errand>.{2,80} zu \w+|.{2,80}zu\w{2,}en)",
    "(?P<bare>(?:KEEP|NOTE)(?: bitte)?(?: das| dies| es)(?: bitte)?)",
    "vergiss(?: bitte)?,? dass (?P<subject>(?!ich (?:das|es) (?:gesagt|gefragt)).+)",
    "(?:vergiss|lösche?|entferne?)(?: bitte)?(?: alles)?,? was (?:ich|du)(?: dir)? (?:über|von"
    "|zu) (?:(?P<all>mich"
    "|mir)|(?P<subject>.+?))(?: (?:gesagt|erzählt|geschrieben) habe?| weißt)?",
    "vergiss(?: bitte)? (?P<subject>(?:meine?[mnrs]?|unsere?[mnrs]?) .+)",
    "(?:lösche?|entferne?)(?: bitte)? (?P<subject>(?:meine?[mnrs]?|unsere?[mnrs]?) .+?) aus"
    " (?:deinem|dem) (?:gedächtnis|speicher)",
    "du (?:kannst|darfst) (?P<subject>(?:meine?[mnrs]?|unsere?[mnrs]?) .+?)(?: wieder"
    "| jetzt)? vergessen",
    "(?:lösche?|entferne?)(?: bitte)? (?:(?:alle|die|deine|meine|den) )*(?:erinnerung(?:en)?"
    "|einträge?|eintrag) (?:an|über|zu|von) (?:(?P<all>mich|mir)|(?P<subject>.+))",
    "(?P<all>vergiss(?: bitte)? alles(?: über mich|,? was du (?:über mich|von mir) weißt)?"
    "|lösche?(?: bitte)? (?:alle |deine |dein |meine |das )+(?:erinnerungen|gedächtnis)(?: an"
    " mich| über mich)?)",
)
_FRENCH_WORDS: Mapping[str, str] = {
    "LEAD": "(?:(?:ok|et|ah|bon|alors|au fait|merci|salut|bonjour|s'il (?:te|vous) plaît)["
    " ,.!:]+){0,4}(?:(?:peux-tu|pourrais-tu|pouvez-vous|je veux que tu|j'aimerais que tu)[ ,]+)?",
    "KEEP": "souviens-toi|souvenez-vous|(?:te |vous )?(?:souvenir|souviennes)|rappelle-toi"
    "|rappelez-vous|retiens|retenez|retenir|mémorise[rz]?|n'oubliez? (?:pas|jamais)",
    "NOTE": "notez?|gardez? (?:à l'esprit|en tête|en mémoire)|sachez?|prends note",
    "PLEASE": ",? s'il (?:te|vous) plaît,?",
}
_FRENCH_COMMANDS = (
    "KEEP(?: bien)?(?:PLEASE)? qu(?:e |')(?P<fact>.+)",
    "KEEP(?: bien)?(?: ceci| cela)? ?: ?(?P<list>.*)",
    "KEEP(?: bien)?, (?P<fact>(?:je |j'|mon |ma |mes ).+)",
    "NOTE(?: bien)?(?:PLEASE)?(?: qu(?:e |')| ?: ?)(?P<own>.+)",
    r"n'oubliez? pas (?:de |d')(?P<errand>\w.+)",
    "(?P<bare>(?:souviens-t'en|retiens(?: bien)? (?:ça|cela)|note(?:-le| ça| cela)))",
    "oubliez?(?:PLEASE)? qu(?:e |')(?P<subject>(?!j'ai (?:dit|demandé)).+)",
    "(?:oublie|efface|supprime)z? (?:tout )?ce que (?:je t'ai|je vous ai|j'ai|tu sais)(?: dit"
    "| raconté| écrit)?"
    " (?:sur|de|d'|à propos de|concernant|au sujet de) ?(?:(?P<all>moi|nous)|(?P<subject>.+))",
    "(?:tu peux )?oubli(?:ez?|er) (?P<subject>(?:mon|ma|mes|notre|nos) .+)",
    "(?:efface|supprime)z? (?:(?:le|la|les|tes|ta|tous|mes|ton) )*(?:souvenirs?|mémoire"
    "|informations?) (?:sur|de|d'|à propos de|concernant) ?(?:(?P<all>moi|nous)|(?P<subject>.+))",
    "(?P<all>oubliez? tout(?: ce que tu sais)?(?: (?:sur|de|à propos de) moi)?|(?:efface"
    "|supprime)z? (?:toute |tous )?(?:ta|ma|la|tes|mes|les) (?:mémoire|souvenirs))",
)
_SPANISH_WORDS: Mapping[str, str] = {
    "LEAD": "(?:(?:ok|vale|y|ah|bueno|además|gracias|hola|por favor)[ ,.!:]+){0,4}(?:(?:puedes"
    "|podrías|quiero que)[ ,]+)?(?:por favor,? )?",
    "KEEP": "recuerda|recuerde|recuerdes|recordar|acuérdate(?: de)?|acuérdese(?: de)?|memoriza"
    "|no (?:te )?olvides(?: de)?|no se olvide(?: de)?",
    "NOTE": "ten(?:ga)? (?:en cuenta|presente|en mente)|anota|apunta|guarda(?: en (?:tu"
    "|la) memoria)?|toma nota de",
}
_SPANISH_COMMANDS = (
    "KEEP,? que (?P<fact>.+)",
    "KEEP(?: esto| lo siguiente)? ?: ?(?P<list>.*)",
    "NOTE(?: que|:) ?(?P<own>.+)",
    r"KEEP (?P<errand>\w{2,}[aei]r(?:me|te|le|lo|la|les|los|las)?\b.*)",
    "(?P<bare>(?:recuérdalo|recuerda (?:esto|eso)|anótalo|no lo olvides))",
    "olvida(?:te)?(?: de)? que (?P<subject>.+)",
    "(?:olvida|borra|elimina) (?:todo )?lo que (?:te )?(?:dije|he dicho|conté|sabes) (?:sobre|de"
    "|del|acerca de)"
    " (?:(?P<all>mí)|(?P<subject>.+))",
    "olvid(?:a|ar)(?:te)?(?: de)? (?P<subject>(?:mis?|nuestr[oa]s?) .+)",
    "(?:borra|elimina) (?:(?:el|la|los|las|tus?|mis?|todos|todas) )*(?:recuerdos?|memorias?"
    "|datos?) (?:sobre|de|del|acerca de) (?:(?P<all>mí)|(?P<subject>.+))",
    "(?P<all>olvida todo(?: lo que sabes)?(?: (?:sobre|de) mí)?|(?:borra|elimina) (?:toda "
    "|todos )?(?:tus?|mis?|la|los) (?:memoria|recuerdos))",
)
_PORTUGUESE_WORDS: Mapping[str, str] = {
    "LEAD": "(?:(?:ok|e|ah|bom|obrigad[oa]|olá|oi|por favor)[ ,.!:]+){0,4}(?:(?:você pode|pode"
    "|podes|quero que)[ ,]+)?(?:por favor,? )?",
    "KEEP": "(?:se )?lembr(?:e|a|ar|es)(?:-te|-se)?(?: de)?|memoriz[ae]|não (?:te |se"
    " )?esque(?:ças?|ce)(?: de)?",
    "NOTE": "ten(?:ha|s) em mente|tem em mente|anot[ae]|guard[ae](?: na (?:tua |sua )?memória)?"
    "|tom[ae] nota de",
}
_PORTUGUESE_COMMANDS = (
    "KEEP que (?P<fact>.+)",
    "KEEP(?: disto| disso| isto| o seguinte)? ?: ?(?P<list>.*)",
    "NOTE(?: que|:) ?(?P<own>.+)",
    r"KEEP (?P<errand>\w{2,}[aei]r\b.*)",
    "(?P<bare>(?:lembr[ae](?:-te|-se)? disso|anot[ae] isso|não (?:te |se )?esqueças? disso))",
    "esque(?:ce|ça)(?: de)? que (?P<subject>.+)",
    "(?:esque(?:ce|ça)|apag(?:a|ue)|elimin[ae]|remov[ae]) (?:tudo )?o que (?:eu |você |tu )?"
    "(?:te |lhe )?(?:disse|contei|falei|sabes?) (?:sobre"
    "|d[aeo]s?) (?:(?P<all>mim)|(?P<subject>.+))",
    "esque(?:ce|ça|cer)(?: d?[oa]s?)? (?P<subject>(?:meus?|minhas?|noss[oa]s?) .+)",
    "(?:apag|elimin|remov)[ae] (?:(?:[oa]s?|tuas?|suas?|minhas?|todas) )*(?:memórias?"
    "|lembranças?|recordações) (?:sobre|d[aeo]s?) (?:(?P<all>mim)|(?P<subject>.+))",
    "(?P<all>esque(?:ce|ça) tudo(?: o que (?:você sabe|sabes))?(?: (?:sobre|de) mim)?"
    "|apag[ae] (?:toda )?(?:a )?(?:tua|sua|minha) memória)",
)
_ITALIAN_WORDS: Mapping[str, str] = {
    "LEAD": "(?:(?:ok|e|ah|bene|allora|grazie|ciao|per favore)[ ,.!:]+){0,4}(?:(?:puoi|potresti"
    "|voglio che tu)[ ,]+)?(?:per favore,? )?",
    "KEEP": "ricorda(?:ti|re)?|si ricordi|memorizza(?:re)?|non (?:ti )?dimenticare|tieni (?:a"
    " mente|presente|in mente)",
    "NOTE": "annota(?:ti)?|segna(?:ti)?|nota|salva(?: in memoria)?|prendi nota",
}
_ITALIAN_COMMANDS = (
    "KEEP che (?P<fact>.+)",
    "KEEP(?: questo| quanto segue)? ?: ?(?P<list>.*)",
    "NOTE(?: che|:) ?(?P<own>.+)",
    r"KEEP di (?P<errand>\w.+)",
    "(?P<bare>(?:ricordalo|ricordatelo|tienilo a mente|segnatelo|ricorda questo))",
    "dimentica(?:ti)?(?: di)? che (?P<subject>.+)",
    "(?:dimentica|cancella|elimina|rimuovi) (?:tutto )?(?:ciò|quello) che (?:ti )?(?:ho detto"
    "|ho raccontato|sai) (?:su|di"
    "|del|della|riguardo a) ?(?:(?P<all>me)|(?P<subject>.+))",
    "dimentica(?:re|ti)?(?: del(?:la)?)? (?:il |la |i |le |lo )?(?P<subject>(?:mi[oae]|miei"
    "|nostr[oaie]) .+)",
    "(?:cancella|elimina|rimuovi) (?:(?:il|i|la|le|tutti|tutte|tuoi|tue|tuo|tua|miei)"
    " )*(?:ricord[oi]|memori[ae]|informazion[ei]) (?:su|di|del|della|riguardo a) (?:(?P<all>me)"
    "|(?P<subject>.+))",
    "(?P<all>dimentica tutto(?: (?:ciò|quello) che sai)?(?: (?:su|di) (?:di )?me)?|cancella"
    " (?:tutta )?(?:la )?(?:tua|mia) memoria)",
)
_RUSSIAN_WORDS: Mapping[str, str] = {
    "LEAD": "(?:(?:и|а|но|ок|хорошо|привет|спасибо|пожалуйста|кстати)[ ,.!:]+){0,4}(?:(?:можешь"
    "|можете|ты можешь)[ ,]+)?(?:пожалуйста,? )?",
    "KEEP": "запомни(?:те|ть)?|помни(?:те)?|не (?:забудь|забывай)(?:те)?",
    "NOTE": "имей(?:те)? в виду|учти(?:те)?|запиши(?:те)?|сохрани(?:те)?(?: в памяти)?",
}
_RUSSIAN_COMMANDS = (
    "KEEP,? (?:пожалуйста,? )?что (?P<fact>.+)",
    "KEEP(?: это| следующее)? ?[:—–] ?(?P<list>.*)",
    r"KEEP,? (?:пожалуйста,? )?(?P<fact>(?:я|у меня|мо[йяеёи]|меня|мне|мы|у нас|наш\w{0,2}) .+)",
    "NOTE(?:,? что |: ?|, )(?P<own>.+)",
    r"KEEP (?P<errand>\w{2,}(?:ть|ти|ться)\b.*)",
    "(?P<bare>KEEP (?:это|об этом))",
    "забудь(?:те)?(?: о том)?,? что (?P<subject>(?!я (?:это )?(?:сказал|говорил|спросил)а?$).+)",
    "забудь(?:те)? (?:вс[её],? )?что я (?:тебе |вам )?(?:говорил|рассказывал|сказал"
    r"|писал)\w?(?: тебе| вам)? (?:обо?|про) (?:(?P<all>мне|меня|себе|себя)|(?P<subject>.+))",
    "(?:забудь|удали|сотри)(?:те)? (?:вс[её],? )?что (?:ты |вы )?(?:знаешь|знаете|помнишь|помните)"
    " (?:обо?|о|про) (?:(?P<all>мне|меня)|(?P<subject>.+))",
    "(?:забудь(?:те)?|забыть) (?:про |о |об )?(?P<subject>(?:мо[йяюеёи]|моего|моей|мо[её]м|моих"
    r"|наш\w{0,3}) .+)",
    "(?:удали|сотри)(?:те)? (?:вс[её] )?(?:воспоминани[ея]|записи|память|данные) (?:обо?"
    "|про) (?:(?P<all>мне|меня)|(?P<subject>.+))",
    "(?P<all>забудь(?:те)? (?:обо мне )?вс[её](?:,? что (?:ты )?(?:обо мне )?знаешь)?(?: обо"
    " мне)?|(?:сотри|очисти|удали)(?:те)? (?:всю )?(?:свою |мою )?память)",
)
_CHINESE_WORDS: Mapping[str, str] = {
    "LEAD": "(?:好的?|对了|另外|谢谢)?[，, ]?(?:[请請])?你?(?:一定要?|可以)?(?:[帮幫]我)?",
    "KEEP": "[记記]住|[记記]下来?|牢[记記]|[记記]一下",
    "NOT": "[记記]得|[别別]忘[了记記]?|不要忘[了记記]",
    "DEL": "忘[记記]|忘掉|忘了|[删刪]除|[删刪]掉",
}
_CHINESE_COMMANDS = (
    "KEEP(?:[：:，,、 ]|一下)*(?P<fact>(?![这這那你]).{3,})",
    "NOT[：:，, ]*(?P<fact>我.{2,})",
    "NOT(?P<errand>[^我这這那你].+)",
    "(?P<bare>KEEP(?:[这這][个個一]?[点點]?|它)?)",
    "DEL(?P<all>(?:你?知道的)?(?:[关關][于於]我的?)?(?:一切|所有"
    "|全部)(?:[关關][于於]我的?)?(?:[记記][忆憶]|信息|事情?)?|[关關][于於]我的(?:一切|所有.*"
    "|全部.*))",
    "DEL(?:我[说說告][过過诉訴你的]{1,4})?(?:[关關][于於]"
    "|有[关關])?(?P<subject>我.{2,}?)(?:的(?:[记記][忆憶]|信息|事情?))?吧?",
    "DEL(?:[关關][于於]|有[关關])(?P<subject>[^我].+?)(?:的(?:[记記][忆憶]|信息|事情?|一切))?",
    "把(?P<subject>我.+?)DEL吧?",
)
_JAPANESE_WORDS: Mapping[str, str] = {
    "KEEP": "(?:覚えて|おぼえて|忘れないで|記憶して|記録して|メモして|保存して)(?:おいて"
    "|いて)?(?:ください|下さい|くれ(?:る|ますか)?|ほしい|ね|よ)?",
    "DEL": "(?:忘れて|削除して|消して)(?:ください|下さい|くれ(?:る|ますか)?|いい(?:です)?よ?"
    "|ほしい|ね)?",
}
_JAPANESE_COMMANDS = (
    "(?P<fact>.{3,}?(?<!の))(?:という|って)?こと(?:を|は|も)?、?(?:ちゃんと|よく|どうか"
    "|しっかり)?KEEP",
    "(?P<fact>.{3,}?[だるたいす])(?:と|って)KEEP",
    "KEEP(?:[：、]|: ?)(?P<fact>.{3,})",
    "(?P<errand>.{2,}?の)を?忘れないで(?:ください|ね|よ)?",
    "(?P<bare>(?:これ|それ|このこと)(?:を|は)?KEEP)",
    "(?P<subject>.*?(?:私|僕|俺|わたし|について|に関する).*?)(?:という|って)?(?:こと|件|情報"
    "|記憶|話)?(?:を|は)?DEL",
    "(?P<all>(?:(?:私|僕|俺)(?:について|に関すること|のこと)(?:は|を)?)?(?:全部|すべて"
    "|全て)(?:の(?:記憶|こと))?(?:を)?DEL)",
)
_LATIN_COMMANDS = (
    (_ENGLISH_WORDS, _ENGLISH_COMMANDS),
    (_GERMAN_WORDS, _GERMAN_COMMANDS),
    (_FRENCH_WORDS, _FRENCH_COMMANDS),
    (_SPANISH_WORDS, _SPANISH_COMMANDS),
    (_PORTUGUESE_WORDS, _PORTUGUESE_COMMANDS),
    (_ITALIAN_WORDS, _ITALIAN_COMMANDS),
)
# Letters that tell in which languages a command may be.
_COMMANDS_BY_LETTERS = {
    re.compile("[a-z]"): _LATIN_COMMANDS,
    re.compile("[а-яё]"): ((_RUSSIAN_WORDS, _RUSSIAN_COMMANDS),),
    re.compile("[\u4e00-\u9fff]"): ((_CHINESE_WORDS, _CHINESE_COMMANDS),),
    re.compile("[\u3041-\u30ff]"): ((_JAPANESE_WORDS, _JAPANESE_COMMANDS),),
}
# At least one of these is in every command.
_COMMAND_STEMS = re.compile(
    r"remember|memor|forget|\bnote\b|in mind|for (?:future|your)|write down|jot down|save|store"
    r"|record|delete|erase|remove|wipe|clear|\bput\b|\badd\b|\bkeep\b|merk|denk|behalt|erinner"
    "|vergiss|vergessen|notier|speicher|beacht|schreib|lösch|entfern|souv|rappel|reti?en|mémo"
    r"|oubli|\bnot|gard|sache|prends|efface|supprime|rec[uo]?e?rd|acuérd|olvid|\bten|anot|apunt"
    r"|guard|toma|borra|elimin|lembr|esque|\btom|apag|remov|ricor|dimentic|tieni|annot|segn|salv"
    "|prendi|cancell|rimuov|помни|забу|забы|забыв|имей|учти|запиш|сохран|удали|сотри|очисти"
    "|[记記忘]|[删刪]|覚え|おぼえ|忘れ|記|メモ|保存|削除|消し",
    re.IGNORECASE,
)


def command_matches(sentence: str) -> Iterator[re.Match[str]]:
    """How a sentence fits forms of commands; the span leaves out the lead."""
    if _COMMAND_STEMS.search(sentence):
        lowered = sentence.lower()
        for letters in _COMMANDS_BY_LETTERS:
            if letters.search(lowered):
                yield from _matches_in(sentence, letters)


def _matches_in(sentence: str, letters: re.Pattern[str]) -> Iterator[re.Match[str]]:
    for lead, forms in _forms_of(letters):
        found = lead.match(sentence)
        start = found.end() if found else 0
        for form in forms:
            if match := form.fullmatch(sentence, start):
                yield match


@cache
def _forms_of(
    letters: re.Pattern[str],
) -> tuple[tuple[re.Pattern[str], tuple[re.Pattern[str], ...]], ...]:
    """For each language its lead and its forms, compiled when first needed."""
    return tuple(
        (
            re.compile(words.get("LEAD", ""), re.IGNORECASE),
            tuple(re.compile(spelled_out(form, words), re.IGNORECASE) for form in forms),
        )
        for words, forms in _COMMANDS_BY_LETTERS[letters]
    )
