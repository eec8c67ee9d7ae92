"""Forms of messages that ask to erase memories, continued: further languages, further scripts."""

# ruff: noqa: RUF001 - the forms are in several scripts

from __future__ import annotations

from functools import cache

from adaptive.privacy.erasure_requests_forms import ErasureLanguage, latin_erasure_languages

_ITALIAN_ERASURE = ErasureLanguage(
    "it",
    "cancella",
    "dimentic|cancell|elimin|rimuov",
    "ok|bene|allora|ciao|e|ora|adesso|grazie|per favore",
    "(?:puoi|potresti|può|potrebbe) (?:per favore,? )?",
    "per favore|grazie|ora|adesso|subito|ok",
    ("oggi|di oggi", "ieri|di ieri", "l'altro ieri|ieri l'altro"),
    {
        "FORG": "(?:dimentica(?:re|ti|ti di)?|dimentichi)",
        "DEL": "(?:dimentica(?:re|ti|ti di)?|dimentichi|cancell(?:a|are|i)|elimin(?:a|are|i)"
        "|rimuov(?:i|ere|a))",
        "EACH": "(?:tutto )?(?:ciò|quello) che",
        "KNOWN": "(?:ciò|quello) che (?:sai|hai imparato|ricordi|hai salvato)",
        "SAID": "(?:ti )?ho (?:detto|raccontato|scritto)",
        "HERE": "(?:questa chat|questa conversazione)",
        "MEMS": "(?:tutti |tutte )?(?:i |le )?(?:miei |mie |tuoi |tue )?(?:ricordi|memorie)",
    },
    {
        "everything": (
            "FORG tutto(?: (?:su|di) (?:di )?me)?",
            "DEL tutto(?: KNOWN)? (?:su|di) (?:di )?me",
            "FORG tutto KNOWN",
            "DEL tutto (?:ciò|quello) che ti ho (?:detto|raccontato)(?: (?:su|di) (?:di )?me)?",
            "DEL (?:tutti |tutte )(?:i |le )?(?:miei |mie |tuoi |tue )?(?:ricordi|memorie)"
            "(?: (?:su|di) (?:di )?me)?",
            "DEL (?:tutta )?(?:la )(?:tua|mia) memoria(?: (?:su|di) (?:di )?me)?",
            "DEL (?:i |le )?(?:miei |mie |tuoi |tue )(?:ricordi|memorie)(?: su di me)?",
        ),
        "chat": (
            "DEL EACH SAID in HERE",
            "FORG HERE",
            "DEL MEMS di HERE",
        ),
        "day": (
            "DEL EACH SAID (?:il )?DAY",
            "DEL MEMS (?:di |del )?DAY",
        ),
        "imported": (
            "DEL EACH (?:è stato importato|ho importato)",
            "DEL MEMS importat[ie]",
        ),
        "tools": (
            "DEL EACH gli strumenti hanno (?:salvato|memorizzato)",
            "DEL EACH è stato salvato (?:da|dagli) strumenti",
            "DEL MEMS degli strumenti",
        ),
    },
)
_DUTCH_ERASURE = ErasureLanguage(
    "nl",
    "wissen",
    "vergeet|vergeten|wis|verwijder",
    "ok(?:é|ay)?|hoi|hallo|hey|en|dus|nu|alsjeblieft|bedankt|graag",
    "(?:kun|kan|zou|wil) (?:je|u|jij)(?: alsjeblieft)? ",
    "alsjeblieft|alstublieft|graag|bedankt|nu|oké|ok",
    ("vandaag", "gisteren", "eergisteren"),
    {
        "FORG": "(?:vergeet)(?: alsjeblieft)?",
        "DEL": "(?:vergeet|wis|verwijder)(?: alsjeblieft)?",
        "END": "(?:vergeten|wissen|verwijderen)",
        "KNOWN": ",? wat je (?:over|van) m(?:ij|e) (?:weet|hebt geleerd|hebt opgeslagen)",
        "EACH": "(?:alles )?wat ik(?: je| jou| u)?",
        "SAID": "(?:heb (?:verteld|gezegd|geschreven)|(?:verteld|gezegd|geschreven) heb)",
        "HERE": "(?:deze chat|dit gesprek)",
        "MEMS": "(?:al |alle |de )?(?:mijn |je |jouw )?herinneringen",
    },
    {
        "everything": (
            "FORG (?:echt )?alles(?: (?:over|van) m(?:ij|e))?",
            "DEL alles(?:KNOWN| (?:over|van) mij|,? wat ik je (?:ooit )?SAID)",
            "DEL (?:al |alle )(?:mijn |je |jouw )?herinneringen(?: (?:aan|over) m(?:ij|e))?",
            "DEL (?:mijn|je|jouw) (?:hele )?(?:herinneringen|geheugen)(?: (?:aan|over) m(?:ij|e))?",
            "ASKEDalles(?:KNOWN| (?:over|van) m(?:ij|e)) END",
            "ASKEDalles vergeten",
            "ASKED(?:al |alle )(?:mijn |je |jouw )?herinneringen(?: aan mij)? END",
        ),
        "chat": (
            "DEL EACH in HERE SAID",
            "FORG HERE",
            "DEL MEMS (?:uit|van) HERE",
        ),
        "day": (
            "DEL EACH (?:op )?DAY SAID",
            "DEL MEMS van DAY",
        ),
        "imported": (
            "DEL alles wat (?:is geïmporteerd|geïmporteerd is|ik heb geïmporteerd)",
            "DEL (?:alle |de )?geïmporteerde herinneringen",
        ),
        "tools": (
            "DEL alles wat (?:de )?(?:tools|hulpmiddelen) hebben (?:opgeslagen|bewaard)",
            "DEL alles wat door (?:de )?(?:tools|hulpmiddelen) is opgeslagen",
            "DEL MEMS van (?:de )?(?:tools|hulpmiddelen)",
        ),
    },
)
_POLISH_ERASURE = ErasureLanguage(
    "pl",
    "usuń",
    "zapomn|usu|wyma|skas",
    "ok|okej|cześć|hej|i|teraz|proszę|dzięki|dobrze",
    "(?:czy )?(?:możesz|mógłbyś|mogłabyś|może pan|może pani) (?:proszę )?",
    "proszę|dzięki|dziękuję|teraz|natychmiast|ok",
    ("dzisiaj|dziś|z dzisiaj", "wczoraj|z wczoraj", "przedwczoraj"),
    {
        "FORG": "(?:zapomnij|zapomnieć)(?: proszę)?",
        "DEL": "(?:zapomnij|zapomnieć|usuń|usunąć|wymaż|wymazać|skasuj|skasować)(?: proszę)?",
        "KNOWN": ",? co (?:o mnie wiesz|wiesz o mnie|zapamiętałeś o mnie|zapamiętałaś o mnie)",
        "EACH": "(?:wszystko|wszystkim|to|tym),? co ci",
        "SAID": "(?:powiedziałem|powiedziałam|mówiłem|mówiłam|napisałem|napisałam)",
        "HERE": "(?:tym czacie|tej rozmowie|tym czasie)",
        "MEMS": "(?:wszystkie )?(?:moje |swoje |twoje )?wspomnienia",
    },
    {
        "everything": (
            "FORG (?:o )?(?:wszystko|wszystkim)(?: o mnie)?",
            "DEL (?:o )?(?:wszystko|wszystkim)(?: o mnie|KNOWN|,? co ci (?:kiedykolwiek )?SAID)",
            "DEL wszystkie (?:moje |swoje |twoje )?wspomnienia(?: o mnie)?",
            "DEL (?:moje|swoje|twoje) wspomnienia(?: o mnie)?",
            "DEL (?:całą )?(?:swoją|moją|twoją) pamięć(?: o mnie)?",
        ),
        "chat": (
            "DEL (?:o )?EACH SAID w (?:tym czacie|tej rozmowie)",
            "FORG (?:o )?(?:tę rozmowę|ten czat|tej rozmowie|tym czacie)",
            "DEL MEMS z (?:tego czatu|tej rozmowy)",
        ),
        "day": (
            "DEL (?:o )?EACH (?:w dniu )?DAY SAID",
            "DEL (?:o )?EACH SAID (?:w dniu )?DAY",
            "DEL MEMS z (?:dnia )?DAY",
        ),
        "imported": (
            "DEL (?:wszystko|to),? co (?:zostało zaimportowane|zaimportowano|zaimportowałem"
            "|zaimportowałam)",
            "DEL (?:wszystkie )?zaimportowane wspomnienia",
        ),
        "tools": (
            "DEL (?:wszystko|to),? co zapisały narzędzia",
            "DEL (?:wszystko|to),? co zostało zapisane przez narzędzia",
            "DEL MEMS z narzędzi",
        ),
    },
)
_RUSSIAN_ERASURE = ErasureLanguage(
    "ru",
    "удалить",
    "забу|забы|удал|сотр|стер|очист",
    "ок|хорошо|привет|и|а|так|теперь|сейчас|пожалуйста|спасибо",
    "(?:ты )?(?:можешь|можете|мог бы|могла бы|не мог бы ты|не могли бы вы)(?: пожалуйста)? ",
    "пожалуйста|спасибо|сейчас|немедленно|теперь",
    ("сегодня|за сегодня", "вчера|за вчера", "позавчера"),
    {
        "FORG": "(?:забудь(?:те)?|забыть)(?:,? пожалуйста,?)?",
        "DEL": "(?:забудь(?:те)?|забыть|удали(?:те|ть)?|сотри(?:те)?|стереть)(?:,? пожалуйста,?)?",
        "KNOWN": ",? что (?:ты |вы )?(?:обо мне )?(?:знаешь|знаете|помнишь|запомнил|запомнила)"
        "(?: обо мне)?",
        "EACH": "(?:(?:вс[её]|то),? )?что я (?:тебе |вам )?",
        "SAID": "(?:говорил|говорила|сказал|сказала|рассказывал|рассказывала|рассказал|рассказала"
        "|писал|писала)(?: тебе| вам)?",
        "HERE": "в этом (?:чате|разговоре|диалоге)",
        "MEMS": "(?:все )?(?:мои |свои |твои )?воспоминания",
    },
    {
        "everything": (
            "FORG (?:обо мне )?вс[её](?: обо мне)?",
            "DEL (?:обо мне )?вс[её](?:KNOWN| обо мне|,? что я (?:тебе |вам )?(?:когда-либо )?"
            "SAID)",
            "DEL все (?:мои |свои |твои )?воспоминания(?: обо мне)?",
            "DEL (?:мои|свои|твои) воспоминания(?: обо мне)?",
            "(?:сотри|очисти|удали)(?:те)? (?:всю )?(?:свою|мою|твою) память(?: обо мне)?",
        ),
        "chat": (
            "DEL EACHSAID HERE",
            "DEL EACHHERE SAID",
            "FORG (?:этот|про этот|об этом) (?:чат|разговор|чате|разговоре)",
            "DEL MEMS из этого (?:чата|разговора)",
        ),
        "day": (
            "DEL EACHSAID DAY",
            "DEL EACHDAY SAID",
            "DEL MEMS (?:за|от) DAY",
        ),
        "imported": (
            "DEL вс[её],? что (?:было импортировано|импортировано|я импортировал|я импортировала)",
            "DEL (?:все )?импортированные воспоминания",
        ),
        "tools": (
            "DEL вс[её],? что (?:сохранили|записали) инструменты",
            "DEL вс[её],? что было сохранено инструментами",
            "DEL MEMS инструментов",
        ),
    },
)
_CHINESE_ERASURE = ErasureLanguage(
    "zh",
    "删除",
    "忘|[删刪]|清",
    "好的?|请|請|现在|現在|麻烦|麻煩|谢谢|謝謝|你好",
    "(?:[请請]?你?(?:可以|能不能|能|可不可以)|(?:可以|能)[请請]你)(?:[帮幫]我)?|好[吗嗎]|可以[吗嗎]",
    "谢谢|謝謝|吧|好吗|好嗎|吗|嗎|可以吗|可以嗎",
    ("今天", "昨天", "前天"),
    {
        "WANT": "[请請]?你?(?:[帮幫]我)?(?:把)?",
        "DEL": "(?:忘[记記]|忘掉|忘了|[删刪]除|[删刪]掉|清除|清空)",
        "ALL": "(?:所有|全部|一切)",
        "MEM": "(?:[记記][忆憶]|信息|[资資]料|事情|事|[内內]容)",
        "SAID": "我?(?:[对對]你|跟你|和你)?(?:[说說]|[讲講]|告[诉訴]|提)(?:[过過]|你)?",
        "HERE": "(?:这|這)(?:次|个|個)(?:聊天|[对對][话話]|交[谈談])",
    },
    {
        "everything": (
            "WANT忘(?:[记記]|掉|了)ALL",
            "WANTDEL(?:你(?:所)?知道的)?(?:[关關][于於]我的)ALL(?:的?MEM)?",
            "WANTDEL你(?:所)?知道的(?:[关關][于於]我的)?ALL(?:的?MEM)?",
            "WANTDELALL(?:[关關][于於]|有[关關])我的(?:[记記][忆憶]|信息|[资資]料|事情?)",
            "WANTDEL[你我]?的?ALL的?[记記][忆憶]",
            "WANTDEL[你我]的[记記][忆憶]",
            "WANTALL(?:[关關][于於]我的)?[记記][忆憶](?:都|全部)?DEL",
            "WANT[关關][于於]我的[记記][忆憶](?:都|全部)?DEL",
            "WANT(?:你知道的)?[关關][于於]我的(?:ALL(?:的?MEM)?|事情?)(?:都|全部)?DEL",
        ),
        "chat": (
            "WANTDEL我?在?HERE[中里裡]SAID的(?:ALL)?(?:的?MEM|[话話])?",
            "WANT忘(?:[记記]|掉|了)HERE[中里裡]?的?(?:ALL)?(?:的?(?:[内內]容|[记記][忆憶]))?",
            "WANTDELHERE[中里裡]?的(?:ALL的?)?[记記][忆憶]",
        ),
        "day": (
            "WANTDEL我?DAYSAID的(?:ALL)?(?:的?MEM|[话話])?",
            "WANTDELDAY的(?:ALL)?的?(?:[记記][忆憶])",
        ),
        "imported": ("WANTDEL(?:ALL)?[导導]入的(?:ALL)?(?:的?MEM)?",),
        "tools": (
            "WANTDEL(?:ALL)?由?工具(?:保存|[储儲]存|存[储儲]|[记記][录錄])的(?:ALL)?(?:的?MEM)?",
        ),
    },
)
_JAPANESE_ERASURE = ErasureLanguage(
    "ja",
    "削除",
    "忘れて|消して|削除して",
    "はい|では|じゃあ|すみません|お願い|ねえ|今すぐ|どうか",
    "くれますか|くれる|もらえますか|もらえる|いただけますか|くださいますか",
    "お願い|お願いします|ありがとう|ね",
    ("今日", "昨日|きのう", "一昨日|おととい"),
    {
        "DEL": "(?:忘れて|消して|削除して)(?:ください|下さい|くれますか|くれる|くれ|ほしい"
        "|欲しい|ね|もらえますか|もらえる|いただけますか|くださいますか|よ)?",
        "ME": "(?:私|僕|俺|わたし|自分)",
        "ALL": "(?:すべて|全て|全部|ぜんぶ|何もかも)",
        "HERE": "(?:この|今の)(?:チャット|会話)",
        "SAID": "(?:話した|言った|伝えた|教えた)",
    },
    {
        "everything": (
            "ALL(?:を)?、?(?:忘れて)(?:ください|下さい|くれ|ほしい|欲しい|ね)?",
            "MEに(?:ついて|関する)(?:知っている)?(?:こと|記憶|情報)?(?:は|を|の)?、?ALL(?:を)?、?DEL",
            "ME(?:の|に関する|についての)(?:こと|記憶|情報)(?:は|を)?ALL(?:を)?、?DEL",
            "(?:ALLの記憶|記憶をALL|記憶はALL)(?:を)?、?DEL",
            "MEに(?:関する|ついての)ALLの(?:記憶|情報|こと)を、?DEL",
            "MEについて知っていることを?ALL、?DEL",
        ),
        "chat": (
            "HEREで(?:ME[がの])?SAID(?:こと|内容)(?:を|は)?(?:ALL)?、?DEL",
            "HERE(?:の(?:内容|記憶|こと))?を(?:ALL)?、?(?:忘れて)(?:ください|下さい|くれ|ね)?",
        ),
        "day": (
            "DAY(?:に)?、?(?:ME[がの])?SAID(?:こと|内容)(?:を|は)?(?:ALL)?、?DEL",
            "DAYの記憶(?:を|は)?(?:ALL)?、?DEL",
        ),
        "imported": (
            "(?:インポート|取り込み|取り込ん)(?:した|された|だ)(?:もの|記憶|情報|内容)?(?:を|は)?(?:ALL)?、?DEL",
        ),
        "tools": ("ツールが(?:保存|記録)した(?:もの|記憶|情報|内容|こと)(?:を|は)?(?:ALL)?、?DEL",),
    },
)


@cache
def erasure_languages() -> tuple[ErasureLanguage, ...]:
    """All languages, in the order in which a message is compared."""
    return (
        *latin_erasure_languages(),
        _ITALIAN_ERASURE,
        _DUTCH_ERASURE,
        _POLISH_ERASURE,
        _RUSSIAN_ERASURE,
        _CHINESE_ERASURE,
        _JAPANESE_ERASURE,
    )
