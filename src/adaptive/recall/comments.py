"""Taking sentences out of earlier answers that only comment on memory.

A model that reads "I've updated my memory." in its own earlier answers goes on writing it. Such
remarks open or close an answer, so only its first and its last line are looked at; a sentence goes
where each of its words is one of a closed vocabulary and the kinds of words come together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

from adaptive.core.markdown import rewritten_answers
from adaptive.core.messages import has_words

_LONGEST_REMARK = 160
# A low line stands for a blank. A "vow" says it all; what is kept needs "I" beside it, since the
# user may be told to keep something; what is saved needs a memory, since files are saved, too; and
# what is to be written needs both.
_KINDS = {
    "vow": "i_won't_forget souviendrai rappellerai j'en_prends_note j'en_prends_bonne_note"
    " oublierai recordaré lo_tendré_en_cuenta lo_tengo_en_cuenta tomo_nota no_lo_olvidaré"
    " vou_lembrar vou_me_lembrar não_vou_esquecer não_vou_me_esquecer lo_terrò_a_mente"
    " lo_tengo_a_mente ricorderò prendo_nota запомню запомнил запомнила не_забуду"
    " буду_иметь_это_в_виду 不会忘记 不會忘記 覚えておきます 忘れません",
    "self": "i i'll i_will i've i_have ich je я 我",
    "keep": "remember memorize keep_that_in_mind keep_this_in_mind keep_it_in_mind noted"
    " made_a_note make_a_note make_a_mental_note merke_mir merken merke gemerkt notiert"
    " nicht_vergessen retiens retiendrai note 记住 記住",
    "write": "save store add update delete record",
    "save": "saved stored added updated deleted recorded"
    " committed gespeichert hinzugefügt aktualisiert enregistré enregistrée ajouté mis_à_jour"
    " mise_à_jour sauvegardé guardado guardada he_guardado lo_he_guardado he_actualizado"
    " actualizada he_añadido añadida salvei guardei adicionei atualizei atualizada salva"
    " ho_salvato ho_aggiunto ho_aggiornato aggiornata salvata обновил обновила обновлена"
    " сохранил сохранила сохранено 保存 更新 添加 保存しました 更新しました 追加しました",
    "memory": "memory memories to_memory to_my_memory to_your_memory in_my_memory in_your_memory"
    " erinnerung erinnerungen gedächtnis mémoire souvenir souvenirs memoria recuerdo recuerdos"
    " memória memórias ricordo ricordi память памяти 记忆 記憶 メモリ",
    "filler": "a an that this it these those all your my our new now just also and for of to you"
    " down been has have was were will definitely sure thing certainly got ok okay noted done"
    " great thanks thank_you for_letting_me_know for_telling_me for_sharing going_forward"
    " from_now_on make_sure_to in_the_future in_future future conversation conversations chat"
    " chats reference next time later preferences preference information details name bank"
    " successfully one two three das dies mir mich habe hab werde wurde in_meinem in_deinem meine"
    " deine für die zukunft künftig das_nächste_mal alles klar verstanden gut danke neue neuen"
    " cela ça m'en j'ai je_l'ai ma ta votre dans cette information ces informations d'accord"
    " pour la prochaine fois bien noté compris merci à_l'avenir eso esto en mi tu su esta"
    " información para próxima vez entendido vale claro perfecto gracias futuro uno una"
    " disso isso minha sua na novas nova no certo entendi obrigado obrigada perfeito me lo ne"
    " questa informazione nella mia tua per prossima volta perfetto capito grazie un uno"
    " это этом об свою мою в хорошо понял понятно спасибо за_информацию я_это 好的 会 會 的 这一点"
    " 這一點 已经 已經 已 了 将 把 这些信息 到 我的 您的 你的 中 条 條 "
    "わかりました ね よ その情報 を に の 件",
}
_TELLING = ({"vow"}, {"self", "keep"}, {"save", "memory"}, {"self", "write", "memory"})
_VOCABULARY: dict[str, set[str]] = {}
for _remark_kind, _remark_words in _KINDS.items():
    for _remark_word in _remark_words.split():
        _VOCABULARY.setdefault(_remark_word.replace("_", " "), set()).add(_remark_kind)
# Words of several parts or of scripts that leave no blanks, the longest first; else all up to a
# blank or a stop.
_JOINED = [one for one in _VOCABULARY if " " in one or re.match(r"[\u3040-\u9fff]", one)]
_JOINED.sort(key=len, reverse=True)
_REMARK_WORD = re.compile(
    rf"(?:{'|'.join(_JOINED)})(?![a-zà-ÿа-я'])|\d{{1,4}}|[^\s.,!…。，、！—–]+"
)
_EMOJI = "\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff"
_REMARK_SENTENCE = re.compile(
    rf"[^.!?…。！？]*[.!?…。！？]+[*_)\]）\"”»」]*(?:[\s{_EMOJI}]*$|\s*)|[^.!?…。！？]+$"
)
_DECORATION = re.compile(rf"^[\s{_EMOJI}¡*_(\[（]+|[\s{_EMOJI}*_)\]）.!…。！]+$")
# A list, a quotation, a heading, a table, or code.
_CITING_LINE = re.compile(r"\s|[-+*•]\s|\d{1,9}[.)]\s|[>#|]")


def without_memory_comments(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without remarks on memory in the answers before the newest user message.

    A message in which nothing changes is the same object, and no text becomes empty.
    """
    newest = max((at for at, one in enumerate(messages) if one.get("role") == "user"), default=0)
    return [*rewritten_answers(messages[:newest], text_without_remarks), *messages[newest:]]


def text_without_remarks(text: str) -> str:
    """The text without sentences that only comment on memory; as it is if nothing else is in it."""
    left = _without_last(_without_first(text))
    return left if has_words(left) else text


def _without_first(text: str) -> str:
    line, end, below = text.lstrip("\n").partition("\n")
    sentences = _REMARK_SENTENCE.findall(line)
    gone = _count_remarks(line, sentences)
    if not gone:
        return text
    kept = "".join(sentences[gone:])
    return f"{kept}{end}{below}" if kept else below.lstrip("\n")


def _without_last(text: str) -> str:
    above, end, line = text.rstrip().rpartition("\n")
    announced = above.rstrip("*_ \t\r\n").endswith((":", "："))  # shown, not said
    if announced or above.count("```") % 2:
        return text
    sentences = _REMARK_SENTENCE.findall(line)
    gone = _count_remarks(line, reversed(sentences))
    if not gone:
        return text
    kept = "".join(sentences[: len(sentences) - gone]).rstrip()
    return f"{above}{end}{kept}" if kept else above.rstrip()


def _count_remarks(line: str, sentences: Iterable[str]) -> int:
    """How many sentences from the first on are remarks; none in a line that is no plain text."""
    return 0 if _CITING_LINE.match(line) else sum(1 for _ in takewhile(_is_remark, sentences))


def _is_remark(sentence: str) -> bool:
    if len(sentence) > _LONGEST_REMARK or "?" in sentence or "？" in sentence:
        return False
    bare = _DECORATION.sub("", sentence).casefold().replace("’", "'")
    kinds = {
        kind
        for word in _REMARK_WORD.findall(bare)
        for kind in _VOCABULARY.get(word, {"filler" if word.isdigit() else "unknown"})
    }
    return "unknown" not in kinds and any(kinds >= telling for telling in _TELLING)
