"""The patterns by which a secret's context is read: what stands between a word and its value."""

# ruff: noqa: RUF001 - signs and words of many scripts

from __future__ import annotations

import re
from functools import cache

from adaptive.privacy.secret_words import LINK_SIGNS, LINK_UNSPACED, LINK_WORDS, UNITS


@cache
def link_signs() -> re.Pattern[str]:
    """From the end of an announcing word to the beginning of its value.

    Between word and link stands the rest of an identifier, or what the secret is for.
    """
    return re.compile(
        rf"(?P<scope>[\w\-]{{0,24}}?|[\w\-']{{0,12}}[ \t](?:[^\s.!?:=\n,;]{{1,24}}[ \t]){{0,6}}?"
        rf"[^\s.!?:=\n,;]{{0,24}}?)"
        rf"(?:{LINK_SIGNS}(?:\n[ \t]{{0,8}})?|(?<!\w)\s?(?:{LINK_WORDS})[:]?[ \t]{{1,3}}"
        rf"|{LINK_UNSPACED}[ \t:：]{{0,3}})",
        re.IGNORECASE,
    )


@cache
def sign_link_signs() -> re.Pattern[str]:
    """The same with a sign as its link, whatever words stand before it."""
    return re.compile(rf"(?P<scope>[^.!?:=\n,;@/]{{0,90}}?){LINK_SIGNS}")


@cache
def link_mark_signs() -> re.Pattern[str]:
    """What no link by a sign is without."""
    return re.compile("[:=：>→⇒—–]| - ")


@cache
def link_space_signs() -> re.Pattern[str]:
    """What no link by a word is without: a blank behind it, or a script without blanks."""
    return re.compile(r"\S[ \t]|[^\x00-\x7f]")


@cache
def quoted_signs() -> re.Pattern[str]:
    """The pattern of quoted, as its caller reads it."""
    return re.compile(
        r"\\?[\"'`\u300c\u300e]{1,3}(?P<value>[^\"'`\u300c\u300d\u300e\u300f\n]{4,200})[\"'`\u3"
        r"00d\u300f]"
    )


@cache
def value_signs() -> re.Pattern[str]:
    """ASCII signs up to a space or a letter of another script, else a word."""
    return re.compile(r"[!-~]{3,300}|[^\s\"'`,;，。、；！？!?「」]{3,80}")


@cache
def chance_run_signs() -> re.Pattern[str]:
    """The pattern of chance run, as its caller reads it."""
    return re.compile(r"(?<![\w+/=\-])[A-Za-z0-9][\w+/.~\-]{15,300}={0,2}")


@cache
def adjacent_signs() -> re.Pattern[str]:
    """The pattern of adjacent, as its caller reads it."""
    return re.compile(
        r"(?:(?:[^\W\d_]{0,4}|'s)[ \t]{1,3}(?:(?:of|is|it|:|was|as|to|als|como|come|comme|ist"
        r"|est|es|é|è|(?:for|от|für|de|del"
        r"|do|da|di)[ \t]{1,2}[^\s.!?:,;]{2,16})[ \t]{1,2})?|[이은는がはを]\s?)"
        r"[\"'`(]?(?P<value>[!-~]{4,200})"
    )


@cache
def code_after_signs() -> re.Pattern[str]:
    """A number of four to eight figures after a word for a code, no amount, year or date."""
    link = (
        rf"(?:{LINK_SIGNS}|(?<!\w)\s?(?:{LINK_WORDS})[:]?[ \t]{{1,3}}"
        rf"(?:(?:the|die|der|das|le|la|el|il|o)[ \t])?|{LINK_UNSPACED}\s?)"
    )
    between = (
        r"(?:(?:'?s)?[ \t](?:[^\s.!?:=\n,;\d]{1,24}[ \t]){0,7}?[^\s.!?:=\n,;\d]{0,24}?|\w{0,12}?)"
    )
    digits = (
        r"(?P<value>(?:[A-Z]{1,2}-)?\d{3}[ \-]\d{3}|\d{2}[ \-]\d{2}[ \-]\d{2}(?:[ \-]\d{2})?"
        r"|[*#]?\d{4,8}[#*]?"
        r"|(?:[A-Z]-)\d{4,8}|\d{4,5}-\d{4,5}"
        r"|(?=[a-zA-Z\-]{0,8}\d)(?=\d{0,8}[a-zA-Z])[a-zA-Z0-9]{4,6}-[a-zA-Z0-"
        r"9]{4,6})"
    )
    return re.compile(
        rf"(?:{between}{link}[\"'`*(]{{0,2}}|(?:['’]s)?[ \t]{{1,2}}(?:(?:code|number|nummer"
        rf"|numéro|bancomat"
        rf"|carta|card|karte|tarjeta|cartão|carte|код|карты|код карты|der karte"
        rf"|code:) ){{0,2}}[\"'`(#]{{0,2}}|(?:\s?[이은는がはを]\s?))"
        rf"{digits}(?![A-Za-z0-9_])(?![.,:/\-]\d)(?!{UNITS}(?!\w))",
        re.IGNORECASE,
    )


@cache
def other_code_signs() -> re.Pattern[str]:
    """The pattern of other code, as its caller reads it."""
    return re.compile(
        r"post|zip|area|error|fehler|status|source|dress|promo|discount|rabatt|produ[ck]t"
        r"|country|pays"
        r"|país|индекс|\bqr|\bbar|exit|http|color|colour|swift|\bbic|airport|dial|vorwahl"
        r"|course|kurs"
        r"|item|\bsku|model|steuer|fiscal|tax|referral|coupon|invite|room|flight",
        re.IGNORECASE,
    )


@cache
def said_before_signs() -> re.Pattern[str]:
    """The pattern of said before, as its caller reads it."""
    return re.compile(
        r"(?:^|[\s\"'`(「:：])(?P<value>(?:(?<![\w])\d{3}[ \-]\d{3}"
        r"|[!-~]{4,80}?))[\"'`*)」]{0,2}\s{0,2}"
        r"(?:\s(?:is|are|was|ist|sind|war|est|sont|es|son|é|são|è|sono|jest|as|als|comme|como"
        r"|come|jako|olarak|это|как|है"
        r"|is het)\s"
        r"|[,]?\s?(?:—|–|-|это)\s|\s?(?:は|が|是|为|作为|はあなたの|là)\s?)"
        r"(?:[^\W\d_]{1,12}[ '’]|[^\W\d_'’]{1,3}['’]){0,4}[\"'(]?[^\W\d_]{0,12}$",
        re.IGNORECASE,
    )


@cache
def sentence_rest_signs() -> re.Pattern[str]:
    """What may follow a plain word that is a password."""
    return re.compile(
        r"[\"'`*)\]」”]{0,3}(?:\s*$|\s*\n|[.!?;,。，！；](?:\s|$)|[.!?]?[\"'”]|\s{1,2}[(/|—–-]"
        r"|\s(?:and|und|et|y|e|и|en|i|ve)\s(?:the|my|it|i|don't|mein\w*|das|der|die|ich|mon|le"
        r"|la|je|mi|el|il|o"
        r"|a|minha|meu|мой|я|mijn|het|user\w*|login)\b|\s(?:but|aber|mais|pero|ma|но|maar|for"
        r"|für|pour|para|per|для|on|please"
        r"|thanks|don't|do not|bitte|user(?:name)?|login|email)\b|[。」』])"
    )


@cache
def figurative_signs() -> re.Pattern[str]:
    """Words for a password that mean more often something else: "la clave es paciencia"."""
    return re.compile(r"(?:clave|parola|parole|login:|unlock)$", re.IGNORECASE)


@cache
def plain_link_signs() -> re.Pattern[str]:
    """The links that a plain word is a password after, with nothing else between.

    In the Romance languages an adjective stands there more often than a password.
    """
    return re.compile(
        r"\s{1,3}(?:est|es|é|è|era|sera|foi|será|sont|son|sono|são|jest|är|er|to|en|na|on|je|van"
        r"|este|olarak|adalah|ni)[:]?\s{1,3}",
        re.IGNORECASE,
    )


@cache
def of_many_signs() -> re.Pattern[str]:
    """The pattern of of many, as its caller reads it."""
    return re.compile(r"\b(?:are|sont|son|são|sono)\s*$", re.IGNORECASE)


@cache
def scope_of_secret_signs() -> re.Pattern[str]:
    """What may stand between the word and a link to a plain word: what the password is for."""
    return re.compile(
        r"(?:[\w\-]{0,4}|\s|\s?\([^)]{0,40}\)?|[\w\-']{0,8}\s+(?:for|of|to|on|at|from|in|für|von"
        r"|vom|zum|zur|am"
        r"|im|du|de|des|del|della|dell'\w*|do|da|pour|para|per|van|voor|dla|do|od|от|для|к|i"
        r"|we|is|was|used"
        r"|there|here|there|changed|now)\b.{0,90})",
        re.IGNORECASE,
    )


@cache
def closing_marks_signs() -> re.Pattern[str]:
    """The pattern of closing marks, as its caller reads it."""
    return re.compile(r"[!?*]{1,4}")


@cache
def names_account_signs() -> re.Pattern[str]:
    """The pattern of names account, as its caller reads it."""
    return re.compile(r"credential|login", re.IGNORECASE)


@cache
def second_signs() -> re.Pattern[str]:
    """What follows the name of an account: "sam / secret"."""
    return re.compile(r"[^\s/|,:]{1,64}\s?[/|,:]\s?(?P<value>[!-~]{4,200})")


@cache
def few_words_signs() -> re.Pattern[str]:
    """The pattern of few words, as its caller reads it."""
    return re.compile(r"(?P<words>[a-z]{2,12}(?:[ \-][a-z]{2,12}){2,9})[ \t]{0,8}(?:$|[.\n\"'])")


@cache
def small_word_signs() -> re.Pattern[str]:
    """Words of a sentence, which no phrase for a password is."""
    return re.compile(
        r"\b(?:a|an|the|is|are|was|be|been|must|should|can|not|to|of|for|from|with|and|or|in|on|at"
        r"|by|it|its|your|my|our|you|we|i|that|this|every|any|than|has|have|will|least)\b",
        re.IGNORECASE,
    )


@cache
def amount_signs() -> re.Pattern[str]:
    """The pattern of amount, as its caller reads it."""
    return re.compile(rf"{UNITS}(?!\w)", re.IGNORECASE)


@cache
def phrase_opening_signs() -> re.Pattern[str]:
    """What stands between the name of a phrase and its first word."""
    return re.compile(
        rf"(?:[^\n:]{{0,60}}?[:：=]|[^\n:]{{0,40}}?(?<!\w)(?:{LINK_WORDS})(?=\s)"
        rf"|{LINK_UNSPACED}|[^\n:]{{0,30}}(?=\n))"
        r"[\s\"'`*「(\[]{0,8}(?:\(?1[.):]\s?)?",
        re.IGNORECASE,
    )


@cache
def other_name_signs() -> re.Pattern[str]:
    """What a run of chance signs may be named as, if it is no secret."""
    return re.compile(
        r"(?<![a-z])(?:commit|sha-?\d*|hash\w*|md5|checksum|digest|uuid|guid|fingerprint"
        r"|public|isbn"
        r"|order|tracking|invoice|serial|build|version|revision|branch|tag|image|img|file|path|url"
        r"|contract|address|transaction|tx|block|etag|bestell\w*|rechnung\w*|id)(?![a-z])",
        re.IGNORECASE,
    )


@cache
def figure_signs() -> re.Pattern[str]:
    """The pattern of figure, as its caller reads it."""
    return re.compile(r"\d")


@cache
def is_uuid_signs() -> re.Pattern[str]:
    """The pattern of is uuid, as its caller reads it."""
    return re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
