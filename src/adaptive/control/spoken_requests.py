"""Spoken requests to erase or restore memories, read by a closed vocabulary of eleven languages.

A message is a request where each of its words is one of these and the kinds of words come together.
So whatever is told, negated or about something else is none; a false hit costs a dialog.
"""

# ruff: noqa: RUF001 - the words are in several scripts

from __future__ import annotations

import contextlib
import re
import time
import unicodedata
from datetime import date, timedelta
from typing import Literal

from adaptive.control.requests import ErasureRequest, ErasureScope
from adaptive.core.messages import Message, local_time, said_at
from adaptive.settings.hook import Hook

# How the names of months begin, in eleven languages, without accents.
_MONTHS = (
    "jan ene gen sty янв|feb fev lut фев|mar maa мар|apr avr abr kwi апр|may mai mag mei maj мая"
    "|jun juin giu cze июн|jul juil lug lip июл|aug aou ago sie авг|sep set wrz сен"
    "|oct okt out ott paz окт|nov lis ноя|dec dez dic gru дек"
)
_DATES = (
    r"(?:(?P<y>\d{4})[-年]|(?=\d\d?月))(?P<m>\d{1,2})[-月](?P<d>\d{1,2})日?",
    r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|o)?[ ./-]{1,2}(?:of |de )?(?P<m>\d{1,2}|[^\W\d]{3,})"
    r"[ .,/-]*(?:de )?(?P<y>\d{4})?(?: года)?",
    r"(?P<m>[^\W\d]{3,}) (?P<d>\d{1,2})(?:st|nd|rd|th)?,? ?(?P<y>\d{4})?",
)

_LONGEST_REQUEST = 160
_KINDS = {
    "erasing": "delete erase remove wipe clear purge lösch lösche löschen entferne efface effacer"
    " supprime supprimer borra borrar apaga apague apagar exclua elimina eliminar elimine eliminare"
    " cancella cancellare rimuovi wis wissen verwijder verwijderen usuń usunąć удали удалить сотри"
    " стереть 删除 清空 清除 削除して 消して",
    # These need "everything" beside them alone.
    "forgetting": "forget vergiss vergisst vergessen oublie oublies oublier olvida olvides olvidar"
    " esqueça esquece esquecer dimentica dimenticare dimentichi vergeet vergeten zapomnij zapomnieć"
    " забудь забыть 忘记 忘れて",
    "polite": "can could would will kannst könntest könnten peux peux-tu pourrais-tu pourriez-vous"
    " puedes podrías pode puoi potresti kun kan możesz можешь 可以 くれますか",
    "want": "want like need möchte hätte veux voudrais quiero quero voglio vorrei",
    "subject": "i you ich du je j'ai tu ik ja ty я ты",
    "all": "everything all whatever anything alles alle tout tous toda todas todo todos tudo tutto"
    " tutti tutte al wszystko wszystkie всё все 一切 全部 所有 すべて",
    "whose": "me mich moi mi mim mij mnie мне 我 私 my your meine dein mes tes mis tus tua minhas"
    " suas miei tuoi mie mijn je moje мои свою 你的",
    "memories": "memory memories erinnerungen gedächtnis souvenirs mémoires recuerdos memoria"
    " memorias lembranças ricordi memorie herinneringen geheugen wspomnienia воспоминания память"
    " 记忆 記憶",
    "said": "know remember learned learnt told said mentioned talked saved stored weißt gelernt"
    " gesagt erzählt gespeichert sais dit raconté enregistré sabes dije dicho conté guardaron"
    " guardado sabe disse salvaram sai detto raccontato salvato weet verteld gezegd opgeslagen"
    " wiesz powiedziałem powiedziałam zapisały знаешь говорил говорила сказал сказала сохранили 说"
    " 告诉 保存 話した 保存した",
    "chat": "chat conversation session gespräch discussion conversación conversa conversazione"
    " gesprek czacie rozmowę чате разговоре разговор 聊天 对话 チャット 会話",
    "imported": "imported importiert importierten importé importés importado importato"
    " geïmporteerd zaimportowane импортировано 导入 インポートした",
    "tools": "tool tools werkzeugen outils herramientas ferramentas strumenti narzędzia"
    " инструменты 工具 ツール",
    "0": "today heute aujourd'hui hoy hoje oggi vandaag dzisiaj сегодня 今天 今日",
    "1": "yesterday gestern hier ayer ontem ieri gisteren wczoraj вчера 昨天 昨日",
    "2": "day-before-yesterday vorgestern avant-hier anteayer anteontem eergisteren позавчера",
    "restoring": "restore restored recover reinstate retrieve unarchive un-archive return bring"
    " get put give back wiederherstellen stell stelle hol hole gib zurück zurückholen"
    " zurückbringen bringe restaure restaurez restaurer rétablis récupère récupérer ramène"
    " rends-moi revenir restaura restaurar recupera recuperar devuélveme devolver vuelta recupere"
    " volta devolva-me ripristina ripristinare recuperare riporta ridammi",
    "archived": "archived archive unarchive un-archive archiv archivierte archivierten archiviert"
    " archivés archivées archivados archivadas archivaste archivado archivo arquivadas arquivou"
    " archiviati archiviate archiviato",
    "filler": "please pls ok okay hi hey thanks thank kindly now just the of from in on at to that"
    " which what this our current you've i've i'd have has been was were by for about and ever"
    " wieder her aus dem der die das dass dir mir an über im am vom von wurde wurden hast habe"
    " haben bitte diesem dieses einfach gerne sie ce que cette de dans les s'il te plaît t'ai as"
    " sur le la a été qui merci fais est-ce vous avez ont lo los las el en este esta he por favor"
    " fue han has trae o os as um eu em neste nesta você foi sobre com traga quello ciò che ti ho"
    " il su di da gli hanno hai per favore grazie questa è stato indietro wat heb op hebt hebben is"
    " deze dit over van alsjeblieft co ci to w tym tę o czy zostało что то тебе обо этом этот"
    " в было пожалуйста 请 的 你 把 关于 在 这个 这次 中 话 对 吗 のこと を に関する こと について"
    " の ください この で に が",
}
# The kind that must be there for a scope, and those of which one must be there beside it.
_SCOPES: tuple[tuple[ErasureScope, str, frozenset[str]], ...] = (
    ("imported", "imported", frozenset({"all", "memories"})),
    ("tools", "tools", frozenset({"said", "memories"})),
    ("chat", "chat", frozenset({"forgetting", "said", "memories"})),
    ("day", "day", frozenset({"all", "said", "memories"})),
    ("everything", "memories", frozenset({"all", "whose"})),
    ("everything", "all", frozenset({"forgetting", "whose", "said"})),
)


def spoken_request(
    hook: Hook, typed: tuple[Message, str] | None
) -> ErasureRequest | Literal["restore"] | None:
    """What the user's newest message, with the words typed in it, asks the memory for.

    Other people's ask nothing.
    """
    if typed is None or hook.told_kind not in ("saved", "temporary", "api"):
        return None
    message, words = typed
    if asks_to_restore(words):
        return "restore"
    today = local_time(said_at(message, time.time()), *hook.time_zones).date()
    return read_erasure_request(words, today)


def read_erasure_request(words: str, today: date) -> ErasureRequest | None:
    """What a message asks to erase, if it does; ``today`` is the day where the user lives."""
    plain, day = _without_day(_folded(words), today)
    kinds = _kinds_of(plain)
    day = next((today - timedelta(past) for past in range(3) if str(past) in kinds), day)
    if day is not None:
        kinds.add("day")
    for scope, needed, others in _SCOPES if kinds & {"erasing", "forgetting"} else ():
        if needed in kinds and kinds & others:
            return ErasureRequest(scope, day if scope == "day" else None)
    return None


def _without_day(plain: str, today: date) -> tuple[str, date | None]:
    """A folded text without the day that it names, and the last such day up to today.

    A day is written in figures, the day before the month, or with the name of its month.
    """
    for found in (found for form in _DATES for found in re.finditer(form, plain)):
        stems = enumerate(_MONTHS.split("|"), 1)
        months = (number for number, one in stems if found["m"].startswith(tuple(one.split())))
        month = int(found["m"]) if found["m"].isdecimal() else next(months, 0)
        for year in [int(found["y"])] if found["y"] else range(today.year, today.year - 9, -1):
            with contextlib.suppress(ValueError):
                if (day := date(year, month, int(found["d"]))) <= today:
                    return f"{plain[: found.start()]} {plain[found.end() :]}", day
    return plain, None


def asks_to_restore(words: str) -> bool:
    """Whether a message asks to bring archived memories back."""
    return _kinds_of(_folded(words)) >= {"restoring", "archived", "memories"}


def _kinds_of(plain: str) -> set[str]:
    """Of which kinds the words are; none where one is unknown, asked about or told of somebody."""
    pieces = [_VOCABULARY.get(piece.strip(), {"unknown"}) for piece in _WORD.findall(plain)]
    found = set[str]().union(*pieces)
    told = bool(pieces) and "subject" in pieces[0] and "want" not in found
    unclear = "unknown" in found or ((told or "?" in plain) and "polite" not in found)
    return set() if unclear else found


def _folded(text: str) -> str:
    """A short text in small letters without accents; nothing of a longer one."""
    small = text.casefold().replace("’", "'") if len(text) <= _LONGEST_REQUEST else ""
    signs = unicodedata.normalize("NFKD", small.replace("day before y", "day-before-y"))
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


_VOCABULARY: dict[str, set[str]] = {}
for _kind, _words in _KINDS.items():
    for _word in _words.split():
        _VOCABULARY.setdefault(_folded(_word), set()).add(_kind)
# Words of scripts that leave no blanks, the longest first; else all up to a blank or stop.
_UNSPACED = [word for word in _VOCABULARY if re.match(r"[\u3040-\u9fff]", word)]
_WORD = re.compile("|".join([*sorted(_UNSPACED, key=len)[::-1], r"[^\s.,!?¿¡。、]+"]))
