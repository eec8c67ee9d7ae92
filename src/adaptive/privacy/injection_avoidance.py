"""Wishes about what never to suggest to a person: food, drink and the like, with a reason or none.

They are told to the assistant, but each is about the user. As with style, such a wish consists of
known words from its first to its last, so that nothing else rides on it; only the reason is free,
which is a few words about the user.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

# By language: never, suggest, what, and how the reason begins.
_AVOIDANCES: Mapping[str, tuple[str, str, str]] = {
    "en": (
        r"(?:please |also |and )*(?:never|don't(?: ever)?|do not(?: ever)?|no longer|avoid) "
        r"(?:ever )?(?:suggest(?:ing)?|recommend(?:ing)?|offer(?:ing)?|propos(?:e|ing)"
        r"|giv(?:e|ing)|us(?:e|ing)|includ(?:e|ing)|serv(?:e|ing)) ",
        r"me|us|any|anything|with|containing|that|has|contains|is|made|of|from|or|and|in|on|at|to"
        r"|it|a|an|the|my|for|recipes?|dishes|dish|meals?|foods?|drinks?|restaurants?|products?"
        r"|snacks?|desserts?|ideas|places|pork|ham|bacon|beef|meat|fish|seafood|shellfish"
        r"|shrimps?|prawns?|chicken|lamb|alcohol\w*|wine|beer|spirits|nuts?|peanuts?|almonds?"
        r"|walnuts?|hazelnuts?|cashews?|gluten|wheat|dairy|milk|lactose|cheese|eggs?|soy|sesame"
        r"|sugar|salt|onions?|garlic|mushrooms?|coriander|cilantro|tomato(?:es)?|caffeine|coffee"
        r"|honey|gelatine?|leather|fur|cigarettes|tobacco|gambling|horror|spicy|raw|aspirin"
        r"|ibuprofen|penicillin|smoking|flying|films|movies|books",
        r"(?:because |since |as )?(?:i(?:'m| am|'ve| have| don't| do not| can't| cannot| hate"
        r"| dislike| get| keep| eat| react)|my (?:religion|faith|kids?|son|daughter|wife|husband"
        r"|partner|doctor|stomach|family)|he's|she's|we're|we) ?",
    ),
    "de": (
        r"(?:bitte )?(?:schlag(?:e|t|en sie)?|empfiehl|empfehlen sie|biete|gib|nimm|verwende"
        r"|benutze) (?:mir |uns )?(?:bitte )?(?:nie|niemals|kein\w{0,2}|nicht|nichts) ?",
        r"mit|ohne|aus|das|die|der|enthält|gerichte?|rezepte?|speisen|getränke|produkte|fleisch"
        r"|schweinefleisch|schwein|schinken|speck|rindfleisch|rind|fisch|meeresfrüchte"
        r"|alkohol\w*|wein|bier|nüssen?|erdnüssen?|mandeln|gluten|weizen|milch\w*|käse|eiern?|ei"
        r"|soja|zucker|zwiebeln?|knoblauch|pilzen?|koffein|kaffee|honig|gelatine|leder|vor|und"
        r"|oder",
        r"(?:denn |weil )?(?:ich|wir|mein\w{0,2}) ",
    ),
    "fr": (
        r"(?:s'il te plaît,? )?ne (?:me |nous )?(?:propose[zr]?|suggère[zr]?|recommande[zr]?"
        r"|donne[zr]?|conseille[zr]?) (?:jamais|pas|plus) ",
        r"de|du|d'|des|la|le|les|avec|sans|plats?|recettes?|viande|porc|jambon|boeuf|bœuf|poisson"
        r"|fruits|mer|alcool|vin|bière|noix|cacahuètes|arachides|amandes|gluten|blé|lait|fromage"
        r"|oeufs?|œufs?|soja|sucre|oignons?|ail|champignons|café|miel|et|ou|à|d'alcool|d'oeufs",
        r"(?:car |parce que |puisque )?(?:je |j'|mon |ma |mes |nous )",
    ),
    "es": (
        r"(?:por favor,? )?(?:nunca|no|jamás) (?:me |nos )?(?:sugieras?|recomiendes?|ofrezcas?"
        r"|propongas?|des|pongas|uses) (?:nunca )?",
        r"con|sin|de|el|la|los|las|platos?|recetas?|comida|carne|cerdo|jamón|res|pescado|mariscos?"
        r"|alcohol|vino|cerveza|nueces|cacahuetes|maní|almendras|gluten|trigo|leche|queso|huevos?"
        r"|soja|azúcar|cebollas?|ajo|setas|café|miel|y|o|ni",
        r"(?:porque |pues |ya que )?(?:soy |tengo |mi |no |somos |me )",
    ),
    "pt": (
        r"(?:por favor,? )?(?:nunca|não|jamais) (?:me |nos )?(?:sugira|sugiras|recomende|recomendes"
        r"|ofereça|proponha|dê|use) ",
        r"com|sem|de|a|o|os|as|pratos?|receitas?|comida|carne|porco|presunto|vaca|peixe|marisco"
        r"|frutos|do|mar|álcool|vinho|cerveja|nozes|amendoim|amêndoas|glúten|trigo|leite|queijo"
        r"|ovos?|soja|açúcar|cebola|alho|cogumelos|café|mel|e|ou|nem",
        r"(?:porque |pois )?(?:sou |tenho |meu |minha |não |somos )",
    ),
    "it": (
        r"(?:per favore,? )?non (?:mi |ci )?(?:suggerire|suggerirmi|consigliare|consigliarmi"
        r"|proporre|propormi|raccomandare|offrire|dare|usare) (?:mai |più )?",
        r"con|senza|di|il|lo|la|i|gli|le|piatti|ricette|cibi|carne|maiale|prosciutto|manzo|pesce"
        r"|frutti|mare|alcol\w*|vino|birra|noci|arachidi|mandorle|glutine|grano|latte|formaggio"
        r"|uova|soia|zucchero|cipoll\w|aglio|funghi|caffè|miele|e|o|né",
        r"(?:perché |poiché )?(?:sono |ho |mio |mia |non |siamo )",
    ),
    "nl": (
        r"(?:alsjeblieft )?(?:stel|geef|raad) (?:me |mij )?(?:nooit|geen|niet) ?",
        r"vlees|varkensvlees|varken|vis|alcohol|noten|pinda's|gluten|melk|kaas|eieren|voor|aan|met"
        r"|gerechten|recepten|en|of",
        r"(?:want |omdat )?ik ",
    ),
    "ru": (
        r"(?:пожалуйста,? )?(?:никогда )?не (?:предлагай|предлагайте|рекомендуй|рекомендуйте"
        r"|советуй|советуйте|давай) (?:мне |нам )?",
        r"с|без|из|и|или|блюда|рецепты|мясо|мяса|свинину|свинины|говядину|рыбу|рыбы|алкоголь"
        r"|алкоголя|вино|пиво|орехи|орехов|арахис|глютен|молоко|молоком|сыр|яйца|сою|сахар|лук"
        r"|чеснок|грибы|кофе|мёд|морепродукты|мясом|свининой|рыбой|орехами|глютеном",
        r"(?:потому что |так как |ведь )?(?:я|у меня|мы|мой|моя) ",
    ),
    "pl": (
        r"(?:proszę,? )?(?:nigdy )?nie (?:proponuj|polecaj|sugeruj|podawaj) (?:mi )?",
        r"z|bez|i|lub|dań|mięsa|wieprzowiny|ryb|alkoholu|orzechów|glutenu|mleka|sera|jajek|cukru"
        r"|grzybów|kawy|mięsem|orzechami",
        r"(?:bo )?(?:jestem |mam |nie |moja |mój )",
    ),
    "tr": (
        r"(?:lütfen )?(?:bana )?(?:asla |hiç )?(?=[^.]{3,60}\bönerme(?:yin)?\b)",
        r"domuz|eti|et|sığır|balık|alkol\w*|şarap|bira|fındık|fıstık|ceviz|gluten|süt|peynir"
        r"|yumurta|soya|şeker|soğan|sarımsak|mantar|kahve|bal|içeren|yemek\w*|tarif\w*|ve|veya"
        r"|önerme|önermeyin|bana|asla",
        r"(?:çünkü )?(?:ben |biz |benim )",
    ),
}
_UNSPACED_AVOIDANCES = re.compile(
    r"(?P<zh>(?:请|請)?(?:永远|绝对|千万)?(?:不要|别|勿)(?:再|给我|向我|为我)?(?:推荐|推薦|建议"
    r"|提供)(?:含有?|任何|带|有)*(?:猪肉|豬肉|牛肉|羊肉|肉类?|鱼|海鲜|酒精?|坚果|花生|麸质|牛奶"
    r"|奶制品|鸡蛋|大豆|洋葱|大蒜|香菜|蘑菇|咖啡|糖|的|和|或|食物|食谱|菜|饮料|、){1,8}"
    r"(?:[，,。]?(?:因为)?我(?!们公司)[^，,。]{1,14})?)"
    r"|(?P<ja>(?:豚肉|牛肉|鶏肉|肉|魚|海鮮|お?酒|アルコール|ナッツ|ピーナッツ|グルテン|牛乳|乳製品"
    r"|卵|大豆|玉ねぎ|にんにく|きのこ|コーヒー|砂糖|料理|レシピ|の|と|や|を(?:使った|含む)"
    r"|入り){1,6}"
    r"(?:は|を)(?:絶対に|決して|もう)?(?:勧め|提案し|おすすめし|薦め)ないで(?:ください|ね)?"
    r"(?:[、。][^、。]{1,18}(?:です|だから|なので|だ|ます))?)"
    r"|(?P<ko>(?:저에게 |나에게 )?(?:돼지고기|소고기|고기|생선|해산물|술|알코올|견과류|땅콩|글루텐"
    r"|우유"
    r"|유제품|계란|콩|양파|마늘|버섯|커피|설탕|요리|음식|들어간|\s)+[은는을를이가]? ?(?:절대 )?"
    r"(?:추천하지|권하지|제안하지) ?(?:마|말아\s?줘|마세요|말아 주세요)(?:[,.] ?(?:왜냐하면 )?"
    r"(?:나는|난|저는|전) [^,.]{1,18})?)"
    r"|(?P<ar>(?:من فضلك )?لا (?:تقترح|توص|توصي|تنصحني|تعرض)(?: علي| لي)? (?:(?:أبدا|ب?لحم|ب?اللحم"
    r"|الخنزير|البقر|السمك|المأكولات البحرية|الكحول|الخمر|المكسرات|الفول السوداني|الغلوتين|الحليب"
    r"|البيض|السكر|البصل|الثوم|القهوة|أي|طعام|وصفات|يحتوي على|أو|و)\s?){1,8}"
    r"(?:[،,] ?(?:لأني |لأنني )?(?:أنا|عندي|لدي) [^،,.]{1,24})?)"
    r"|(?P<hi>(?:कृपया )?(?:मुझे |हमें )?(?:कभी )?(?:(?:सूअर|गाय|बकरे|का|के|की|मांस|मछली|शराब|मेवे"
    r"|मूंगफली|ग्लूटेन|दूध|अंडे|अंडा|सोया|चीनी|प्याज|लहसुन|मशरूम|कॉफी|वाला|वाले|खाना|भी|और|या"
    r"|कभी)\s)"
    r"{1,8}(?:मत|न|नहीं) (?:सुझाओ|सुझाना|सुझाएं|सुझाइए)(?:[,।] ?(?:क्योंकि )?(?:मैं|मुझे|मेरा|मेरी)"
    r" [^,।]{1,24})?)"
)
_LONGEST_AVOIDANCE = 120
_LONGEST_REASON = 48


def avoidance_language(sentence: str) -> str:
    """The language of a wish not to be offered some food, drink or the like; empty for others.

    ``sentence`` comes without the full stop at its end.
    """
    lower = sentence.strip().lower().replace("\u2019", "'")
    if not lower or len(lower) > _LONGEST_AVOIDANCE:
        return ""
    if found := _unspaced_avoidance(lower):
        return found
    if not any(sign.isalpha() for sign in lower[:1]):
        return ""
    for language in _AVOIDANCES:
        opening, reason = _avoidance_openings(language)
        begun = opening.match(lower)
        if begun and _is_avoided(language, lower[begun.end() :], reason):
            return language
    return ""


def _unspaced_avoidance(lower: str) -> str:
    if lower.isascii():
        return ""
    found = _UNSPACED_AVOIDANCES.fullmatch(lower)
    return str(found.lastgroup) if found else ""


def _is_avoided(language: str, said: str, reason: re.Pattern[str]) -> bool:
    """Whether all words are known ones, up to a reason of a few words."""
    told, mark, why = said, "", ""
    for match in _reason_marks().finditer(said):
        told, mark, why = said[: match.start()], match.group(), said[match.end() :]
        if reason.match(why):
            break
        told, mark, why = said, "", ""
    if mark and (len(why) > _LONGEST_REASON or _addressed().search(why)):
        return False
    words = re.findall(r"[^\s,]+", told)
    return bool(words) and all(_avoided_word(language).fullmatch(word) for word in words)


@cache
def _avoidance_openings(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    opening, _, reason = _AVOIDANCES[language]
    return re.compile(opening), re.compile(reason)


@cache
def _avoided_word(language: str) -> re.Pattern[str]:
    return re.compile(f"(?:{_AVOIDANCES[language][1]})")


@cache
def _reason_marks() -> re.Pattern[str]:
    """Where a reason may begin."""
    return re.compile(r"[,;:(-]\s?|\s(?=because|since|as|weil|denn|car|parce|porque|perché|bo)")


@cache
def _addressed() -> re.Pattern[str]:
    """What no reason holds: a second wish, an address, a sign of structure."""
    return re.compile(
        r"[\"<>{}\[\]@/:;\n]|\b(?:you|your|assistant|recommend|suggest|say|tell|ignore|instead"
        r"|always|du|tu|usted|você|empfiehl|recommande|recomienda|recomende|consiglia|and|und|et"
        r"|рекомендуй|öner)\b"
    )
