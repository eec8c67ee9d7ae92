"""What assistants say about their memory, in the languages that are told apart: one pattern each.

A pattern describes a whole sentence in lower case, without decoration and full stop.
"""

# ruff: noqa: RUF001 - the patterns are in several scripts

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial


def _remark_pattern(words: Mapping[str, str], *remarks: str) -> re.Pattern[str]:
    """A pattern for one language; words in capitals stand for the fragments of that name.

    ACK may stand before a remark, LATER after it, and AND between two.
    """
    names = re.compile("|".join(sorted(words, key=len, reverse=True)))

    def spelled(pattern: str) -> str:
        return names.sub(lambda name: f"(?:{spelled(words[name[0]])})", pattern)

    one = f"(?:{'|'.join(map(spelled, remarks))})(?:{spelled('LATER')})?"
    lead = rf"(?:(?:{spelled('ACK')}[ ,，、;:–—-]+){{1,2}}(?:[^\W\d_]{{2,20}}, )?)?"
    return re.compile(rf"{lead}{one}(?:{spelled('AND')}{one})?(?:, [^\W\d_]{{2,20}})?")


_LANGUAGES = (
    partial(  # English
        _remark_pattern,
        {
            "ACK": "ok(?:ay)?|got it|sure(?: thing)?|of course|noted|all ?right|great|perfect|done"
            "|yes|understood|absolutely|certainly|no problem|good to know|nice|thank(?:s"
            "| you)(?: so much)?(?: for [a-z ]{3,30})?",
            "AND": ",? (?:and|so) ",
            "LATER": " (?:from now on|(?:going|moving) forward|now|too|as well|accordingly|for you"
            "|next time|(?:for|in) (?:the future|later|next time|(?:our |your )?(?:future"
            "|next) (?:reference|use|conversations?|chats?|interactions?|sessions?)))",
            "IT": "(?:all (?:of )?)?(?:this|that)|it|these|those|everything|(?:this|that|these"
            "|those|the|your)(?: new)? (?:info(?:rmation)?|details?|facts?|preferences?|name)",
            "WILL": "(?:i'll|i will|i'm going to|will)(?: (?:definitely|certainly|always|now|also"
            "|gladly|be sure to|make sure to|try to))?",
            "HAVE": "(?:i've|i have|i)(?: (?:now|just|also|successfully))?",
            "MINE": "(?:my|your|our)(?: long-term)? memor(?:y|ies)(?: bank)?",
            "TO": "(?:to|in|into) MINE|to memory",
            "SAVED": "saved|stored|added|recorded|noted|logged|committed|put|kept",
            "MADE": "added|saved|stored|created|updated|deleted|removed",
            "SOME": r"(?:\d{1,4}|one|two|three|several|a)(?: new)? memor(?:y|ies)",
        },
        "WILL (?:remember|memori[sz]e|not forget)(?: IT)?|i won't forget(?: IT)?",
        "WILL keep IT in (?:mind|MINE)|WILL note IT(?: down)?",
        "(?:WILL make|HAVE made) a (?:mental )?note(?: of IT)?|HAVE (?:noted"
        "|memori[sz]ed) IT(?: down)?",
        "HAVE SAVED IT TO|WILL (?:save|store|add|record|commit|keep) IT TO|i(?:'ve"
        "| have) got IT saved",
        "(?:HAVE )?updated MINE(?: with IT)?|(?:IT )?(?:SAVED to MINE|saved to memory)",
        "IT (?:has|have)(?: now)? been SAVED TO|MINE (?:has|have)(?: now)? been (?:updated|saved)",
        "memor(?:y|ies) (?:(?:has been|have been|successfully) )?MADE(?: successfully)?",
        "(?:HAVE )?MADE SOME(?:(?:,|,? and) (?:MADE )?SOME){0,3}(?: (?:to|from) MINE| about you)?",
    ),
    partial(  # German
        _remark_pattern,
        {
            "ACK": "ok(?:ay)?|alles klar|verstanden|gut|super|klar|gerne?|in ordnung|perfekt"
            "|natürlich|notiert|danke(?: für [a-zäöüß ]{3,30})?",
            "AND": ",? und ",
            "LATER": " (?:künftig|in zukunft|für später|ab jetzt|fürs nächste mal"
            "|für (?:die zukunft|das nächste mal|(?:künftige|zukünftige|spätere) (?:gespräche"
            "|unterhaltungen|chats)))",
            "IT": "das|dies|es|alles|diese (?:informationen?|details|infos?|vorlieben?)"
            "|(?:deine[n]?|ihre[n]?) (?:namen|vorlieben?|präferenz(?:en)?)",
            "HAVE": "(?:ich )?habe?|IT habe? ich",
            "MINE": "(?:mein|dein|ihr)(?:e[mnr]?)? (?:gedächtnis|erinnerung(?:en)?)",
            "SAVED": "gespeichert|hinzugefügt|abgelegt|aufgenommen|festgehalten|notiert",
        },
        "(?:ich )?merke? mir IT(?:LATER)?|IT merke ich mir(?:LATER)?|das vergesse ich nicht",
        "(?:(?:ich )?werde(?: mir)? IT|IT werde ich(?: mir)?)(?:LATER)? (?:merken|nicht vergessen)",
        "HAVE(?: mir)?(?: IT)?(?:LATER)? (?:gemerkt|notiert|vermerkt)",
        "HAVE(?: IT)? in MINE SAVED|HAVE(?: IT)? zu MINE hinzugefügt|HAVE MINE aktualisiert",
        "(?:ich )?werde IT im (?:hinterkopf|gedächtnis) behalten|ich behalte IT im hinterkopf",
        "(?:MINE|erinnerung(?:en)?|gedächtnis) (?:(?:wurden?|ist) )?(?:aktualisiert|SAVED"
        "|gelöscht)",
        r"(?:ich habe )?(?:\d{1,4}|eine|zwei)(?: neuen?)? erinnerung(?:en)? (?:aktualisiert|SAVED)",
    ),
    partial(  # French
        _remark_pattern,
        {
            "ACK": "ok|d'accord|entendu|compris|bien sûr|parfait|très bien|super|c'est noté|noté"
            "|merci(?: (?:pour|de) [a-zà-ÿ' ]{3,30})?",
            "AND": ",? et ",
            "LATER": " (?:à l'avenir|désormais|pour (?:l'avenir|plus tard|la prochaine fois)"
            "|pour nos (?:prochaine?s|future?s) (?:conversations|discussions|échanges))",
            "IT": "(?:tout )?(?:cela|ça)|ceci|cette (?:information|préférence)|ces (?:informations"
            "|détails)|(?:vos|tes) préférences|(?:votre|ton) nom",
            "MINE": "(?:ma|ta|votre|notre) mémoire|(?:mes|tes|vos) souvenirs",
            "SAVED": "(?:enregistré|sauvegardé|ajouté|stocké|noté|gardé|conservé|mis à jour)e?s?",
        },
        "je (?:m'en souviendrai|m'en rappellerai|vais m'en souvenir)|je me souviendrai de IT",
        "je (?:retiens|retiendrai|note|mémorise|vais (?:retenir|noter|mémoriser)) IT",
        "j'en prends (?:bonne )?note|j'en ai pris note|j'ai (?:bien )?(?:noté|retenu"
        "|pris note de) IT",
        "je l'ai (?:bien )?(?:noté|retenu|mémorisé)e?|je ne l'oublierai pas"
        "|je n'oublierai pas(?: IT)?",
        "(?:j'ai (?:bien )?SAVED IT|je l(?:'|es )ai (?:bien )?SAVED) (?:dans|à) MINE",
        "j'ai (?:bien )?mis à jour MINE|MINE (?:a|ont) (?:bien )?été SAVED|(?:mémoire"
        "|souvenirs?) (?:SAVED|mise à jour)|je (?:garde|garderai) IT (?:à l'esprit|en tête"
        "|en mémoire)",
        r"j'ai SAVED (?:\d{1,4}|une?|deux) (?:nouveaux? )?souvenirs?",
    ),
    partial(  # Spanish
        _remark_pattern,
        {
            "ACK": "ok|vale|de acuerdo|entendido|claro|por supuesto|perfecto|muy bien|anotado"
            "|genial|gracias(?: por [a-záéíóúñ ]{3,30})?",
            "AND": ",? y ",
            "LATER": " (?:en (?:el futuro|adelante|futuras conversaciones)|de ahora en adelante"
            "|a partir de ahora|para (?:la próxima(?: vez)?|el futuro|más adelante"
            "|(?:nuestras )?(?:futuras|próximas) conversaciones))",
            "IT": "(?:todo )?(?:eso|esto)|(?:esta|esa|la|tu|su) (?:información|preferencia)"
            "|est[eo]s? datos?|(?:tus|sus) preferencias|(?:tu|su) nombre",
            "MINE": "(?:mi|tu|su) memoria|(?:mis|tus|sus) (?:recuerdos|memorias)",
            "MADE": "guardado|añadido|agregado|almacenado|registrado|actualizado",
            "SAVED": "guardé|añadí|agregué|almacené|registré|(?:ya )?he MADE",
        },
        "(?:siempre )?lo recordaré(?: siempre)?|voy a recordar(?:lo| IT)|recordaré IT",
        "me acordaré(?: de IT)?|lo (?:tendré|tengo) (?:en cuenta|en mente|presente)",
        "tendré (?:en cuenta|presente|en mente) IT|tendré IT (?:en cuenta|presente|en mente)",
        "(?:tomo|tomaré|he tomado) nota(?: de IT)?|lo he anotado|no (?:lo olvidaré|se me olvidará)"
        "|no olvidaré IT",
        "(?:SAVED IT|(?:ya )?lo (?:SAVED)) (?:en|a) (?:MINE|la memoria)|(?:he actualizado"
        "|actualicé) MINE",
        "MINE (?:ha|han) sido (?:MADE|actualizad[ao]s?)|(?:memorias?|recuerdos?) (?:actualizad"
        "|guardad|añadid|agregad)[ao]s?",
        r"(?:SAVED|actualicé) (?:\d{1,4}|una?|dos) (?:nuev[oa]s? )?(?:recuerdo|memoria)s?",
    ),
    partial(  # Portuguese
        _remark_pattern,
        {
            "ACK": "ok|certo|entendi(?:do)?|claro|combinado|perfeito|ótimo|anotado|tudo bem|beleza"
            "|obrigad[oa](?: por [a-zà-ÿ ]{3,30})?",
            "AND": ",? e ",
            "LATER": " (?:no futuro|a partir de agora|daqui (?:em|para a) (?:diante|frente)|(?:para"
            "|em|nas) (?:a próxima(?: vez)?|o futuro|mais tarde|(?:nossas )?(?:próximas"
            "|futuras) conversas))",
            "IT": "(?:tudo )?(?:isso|isto)|(?:essa|esta|sua)s? (?:informaç(?:ão|ões)|preferências?)"
            "|seu nome",
            "ITS": "disso|disto|dess[ae]s? informaç(?:ão|ões)|d[ao]s? suas? preferências?"
            "|do seu nome",
            "MINE": "(?:(?:minha|sua|tua|nossa)s? )?memórias?",
            "DID": "(?:eu )?(?:já )?",
            "SAVED": "salvei|guardei|adicionei|registrei|armazenei|gravei|anotei",
        },
        "(?:eu )?(?:vou|irei) (?:me )?lembrar(?:-me)? ITS|(?:eu )?(?:me )?lembrarei ITS",
        "(?:eu )?vou (?:guardar|salvar|gravar) IT na MINE|(?:eu )?vou (?:memorizar|anotar) IT"
        "|DIDanotei IT",
        "DIDSAVED IT (?:n?às?|nas?|em) MINE|tom(?:ei|o) nota(?: ITS)?|DIDatualizei (?:as? )?MINE",
        "(?:eu )?não (?:vou )?(?:me )?esquec(?:er|erei)(?: ITS)?|(?:terei|vou (?:ter"
        "|manter)) IT em mente",
        "(?:as? )?MINE (?:(?:foi|foram) )?(?:atualizad|salv|adicionad|guardad)as?",
        r"DID(?:SAVED|atualizei) (?:\d{1,4}|uma|duas) (?:novas? )?memórias?",
    ),
    partial(  # Italian
        _remark_pattern,
        {
            "ACK": "ok|va bene|d'accordo|capito|certo|perfetto|ottimo|ricevuto|annotato"
            "|grazie(?: per [a-zà-ÿ' ]{3,30})?",
            "AND": ",? e ",
            "LATER": " (?:in futuro|d'ora in poi|da ora in poi|per (?:il futuro|la prossima volta"
            "|dopo)|(?:per|nel)le (?:nostre )?(?:prossime|future) conversazioni)",
            "IT": "(?:tutto )?questo|ciò|quest[ae] (?:informazion|preferenz)[eai]|le tue preferenze"
            "|il tuo nome",
            "MINE": "(?:la |nella |alla )(?:mia|tua|sua) memoria|(?:i |nei |ai )(?:miei|tuoi"
            "|suoi) ricordi",
            "MADE": "(?:salvat|memorizzat|aggiunt|registrat|annotat|aggiornat)[oaie]",
        },
        "(?:me lo|lo|me ne|mi) ricorderò(?: (?:di )?IT)?|ricorderò IT|memorizzerò IT|me lo segno",
        "lo (?:terrò|tengo) (?:a mente|presente|in mente)|(?:terrò|tengo) (?:a mente|presente) IT",
        "(?:ne )?(?:prendo|prenderò|ho preso) nota(?: di IT)?|l'ho (?:annotato|memorizzato)",
        "(?:ho MADE IT|l'ho MADE) MINE|ho aggiornato MINE|MINE (?:è stata|sono stati) MADE",
        "(?:memori[ae]|ricord[oi]) MADE|non (?:lo|me ne|me lo) dimenticherò|non dimenticherò IT",
        r"ho MADE (?:\d{1,4}|una?|uno|due) (?:nuov[oiae] )?(?:ricord[oi]|memori[ae])",
    ),
    partial(  # Russian
        _remark_pattern,
        {
            "ACK": "хорошо|понял[аи]?|понятно|отлично|ок(?:ей)?|конечно|принято|ясно"
            "|спасибо(?: за [а-яё ]{3,30})?",
            "AND": ",? и ",
            "LATER": " (?:на будущее|в будущем|впредь|(?:в|на) следующий раз|для (?:будущих"
            "|следующих) (?:разговоров|бесед|чатов))",
            "IT": "(?:вс[её] )?это|эту информацию|эти (?:данные|сведения|детали)|(?:ваши"
            "|твои) предпочтения|(?:ваше|тво[её]) имя",
            "IN": "в (?:(?:мо|сво|тво)(?:ей|ю) |ваш(?:ей|у) )?памят[ьи]",
            "MADE": "(?:обновл|сохран|добавл|удал)[её]н[аоы]?",
        },
        "(?:я )?(?:обязательно )?(?:IT )?(?:запомню|запомнила?)(?: IT)?"
        "|(?:я )?постараюсь IT запомнить",
        "(?:я )?буду (?:IT )?помнить(?: (?:IT|об этом))?|(?:я )?(?:IT )?не забуду(?: IT| об этом)?",
        "(?:я )?(?:уже )?(?:IT )?(?:сохранила?|записала?|добавила?|сохраню|запишу) (?:IT )?IN",
        "(?:я )?обновила? (?:мою|свою|вашу|твою) память|буду иметь (?:это )?в виду",
        "(?:(?:моя|ваша|твоя) )?(?:память|воспоминани[ея]) (?:была )?MADE"
        "|(?:я )?взяла? (?:это )?на заметку",
        r"(?:я )?(?:добавил|сохранил|обновил)а? (?:\d{1,4}|одно|два) (?:нов\w\w )?воспоминани[еяй]",
    ),
    partial(  # Chinese
        _remark_pattern,
        {
            "ACK": "好的?|明白了?|知道了|收到|[没沒][问問][题題]|了解了?|[谢謝]{2}(?:您"
            "|你)?(?:告[诉訴]我)?",
            "AND": "[，,] ?(?:[并並]且?)?",
            "LATER": "[，,]?(?:以便|以供)(?:[将將][来來]|以[后後]|今[后後])(?:[参參]考|使用)?",
            "IT": "(?:[这這](?:一?[点點]|件事|[个個]|些)?|此|[该該]|您的|你的)(?:信息|[资資][讯訊]"
            "|偏好|喜好|名字|[细細][节節]|事)?",
            "MINE": "(?:我的|您的|你的)?(?:[长長]期)?[记記][忆憶](?:中|里|裡|[库庫])?",
            "DONE": "已[经經]?(?:成功)?",
            "KEEP": "[记記](?:住|下[来來]?|得)",
            "SAVE": "保存|存[储儲]|[储儲]存|添加|加入|[记記][录錄]|存",
        },
        "我?(?:一定|以[后後]|今[后後])?[会會](?:一直|永[远遠]|好好|牢牢)?KEEP(?:IT)?的?",
        "我?(?:DONE)?(?:[把将將]IT)?(?:DONE)?KEEP了(?:IT)?|我?DONE(?:[把将將]IT)?KEEP(?:IT)?",
        "我?(?:DONE|[会會])?[把将將]IT(?:SAVE)(?:在|到|[进進]|至)?了?MINE了?|DONE(?:SAVE)(?:到|至"
        "|在)MINE",
        "(?:我?DONE更新了?|我更新了)MINE了?|MINEDONE(?:更新|删除|SAVE)了?|我?不[会會]忘[记記](?:的"
        "|IT)?",
        r"我?DONE?(?:[为為][您你])?(?:SAVE|更新|新增)了? ?(?:\d{1,4}|一"
        r"|[两兩]) ?[条條个個](?:新的?)?[记記][忆憶]",
    ),
    partial(  # Japanese
        _remark_pattern,
        {
            "ACK": "わかりました|承知(?:いた)?しました|了解(?:です|しました)|かしこまりました|はい"
            "|(?:教えてくれて)?ありがとうございます",
            "AND": "、",
            "LATER": "ね|よ",
            "IT": "(?:(?:それ|これ|[こそ]のこと|[こそ]の(?:情報|件)|お名前|ご希望|好み)(?:を|は|も"
            "|、)?)?",
            "THEN": "(?:今後の(?:(?:会話|参考)の)?ために|次回(?:の|から)?(?:ために)?|しっかりと?"
            "|ちゃんと|、)*",
            "DONE": "(?:ます|ました)",
            "MEMORY": "(?:(?:私|あなた)の)?(?:メモリー?|記憶)",
        },
        "ITTHEN(?:IT)?(?:覚えてお(?:きDONE|くようにします)|覚えました|(?:記憶"
        "|メモ)し(?:ておき)?DONE)",
        "(?:IT)?MEMORY(?:に|へ)(?:IT)?(?:保存|記録|追加)(?:し(?:ておき)?DONE|いたしました"
        "|されました)",
        "MEMORY[をが](?:更新|追加|保存|削除)(?:しました|されました|いたしました)",
        "(?:IT)?忘れません|(?:IT)?心に留めておきDONE",
        r"(?:\d{1,4}|一) ?[件個つ]の(?:新しい)?MEMORYを(?:追加|保存|更新|削除)しました",
    ),
)


@cache
def memory_remarks() -> tuple[re.Pattern[str], ...]:
    """The patterns, compiled when a text first needs them: at load they would cost 50 ms."""
    return tuple(language() for language in _LANGUAGES)


# At least one of these is in every remark: a text without them need not be read more closely.
REMARK_STEMS = tuple(
    "memor rememb forget note mind merk notier erinner gedächtnis vergess hinterkopf souv rappel"  # noqa: SIM905 - one line each otherwise
    " reti retenir retenu noté mémo oubli esprit tête record acord cuenta mente presente nota anot"
    " olvid recuerd lembr memór esque ricord segno dimentic запомн памят помн забуд виду заметк"
    " воспоминан 记 記 忘 覚え メモ 心に留".split()
)
