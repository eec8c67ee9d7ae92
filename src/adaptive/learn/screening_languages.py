"""Seven more languages of the screening patterns, as fragments of their frames.

French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese; what a fragment is for stands with
the frames.
"""

# ruff: noqa: RUF001 - the patterns are in several scripts

from __future__ import annotations

from collections.abc import Mapping

FRENCH_SCREENING: Mapping[str, str] = {
    "USER": "l'utilisat(?:eur|rice)|je",
    "PLEASE": "s'il (?:te|vous) plaît,?|peux-tu|pouvez-vous",
    "EDIT": "fai(?:s|tes)|rend(?:s|ez)|traduis(?:ez)?|résumez?|raccourci(?:s|ssez)|réécri(?:s"
    "|vez)|reformulez?|expliquez?|corrigez?|répétez?",
    "THIS": "les?|la|ça|cela|ceci|ce (?:texte|message)|cette|encore",
    "ANSWER": "réponds|répondez|écris|écrivez|parlez?",
    "HERE": "cette fois(?:-ci)?|pour l'instant|(?:dans|pour) cette (?:conversation|réponse"
    "|question)",
    "ASKS": "(?:veut|voudrait|souhaite|demande|a demandé|aimerait)(?: à ce)?(?: que)?",
    "TEXT": "(?:la|cette|une) (?:REPLY|version) (?:soit|plus|moins|en|précédente|différente)"
    "|(?:le|ce) (?:résumé|texte) (?:soit|en|plus)",
    "REPLY": "réponse|traduction|explication|reformulation",
    "TASK": "(?:demande|a demandé) une? (?:résumé|poème|blague|recette|REPLY)$|(?:demande"
    "|a demandé) (?:à l'assistant )?(?:de |à |d')(?:traduire|résumer|raccourcir|reformuler"
    "|corriger|oublier|effacer|supprimer)",
    "ALWAYS": r"toujours|jamais|désormais|à l'avenir|préfèr\w+|aime|en général|chaque fois",
    "ASK": "qu'est-ce|est-ce qu|quel(?:le)?s? (?:est|sont)|où (?:est|se)|comment (?:puis|faire"
    "|peut|est|fonctionne)|pourquoi (?:est|le|la|les)|combien (?:de|coûte)",
    "WONDERS": "(?:(?:se )?demande|a demandé|veut savoir|voudrait savoir) (?:si|quel(?:le)?s?"
    "|où|quand|pourquoi|comment|combien|ce qu)",
    "ASAI": "en tant qu(?:e |')(?:ia|intelligence artificielle|modèle de langage)(?:,| je)",
    "ADVICE": "je (?:vous|te) (?:recommande|conseille|suggère)|vous (?:devriez|pouvez)"
    "|tu (?:devrais|peux)|il est (?:recommandé|conseillé) de",
    "HELPER": "l'(?:assistant|ia)(?: a)?",
    "SAID": "dit|recommand[eé]|suggér[eé]|suggère|expliqu[eé]|conseill[eé]|propos[eé]",
    "BE": "est|se sent|suis|me sens|était|se trouve",
    "VERY": "très|un peu|vraiment|trop|assez|encore",
    "NOW": "actuellement|maintenant",
    "TODAY": "aujourd'hui|en ce moment|ce (?:soir|matin)|cet après-midi",
    "THEN": "hier(?: soir)?|le DATE",
    "STATE": "fatiguée?|épuisée?|pressée?|affamée?|en retard|de (?:mauvaise|bonne) humeur",
    "MOOD": "malade|stressée?|triste|occupée?|énervée?|contente?",
    "HAVE": "a|ai|avait",
    "ACHE": "faim|soif|sommeil|la gueule de bois|mal à la tête|mal au ventre",
    "PLACE": "dans (?:le|un) (?:train|bus|métro|avion|tram)|à (?:l'aéroport|la gare)|en réunion"
    "|au lit|dans les embouteillages",
    "GENERAL": "la (?:capitale|monnaie|population|vitesse de la lumière|racine carrée) .{1,60}"
    " est|le point d'ébullition|(?:la terre|le soleil|la (?:première|seconde) guerre mondiale)"
    " (?:est|a|tourne)",
    "ISCAPITAL": r"est la capitale d|est une? (?:[\w-]+ ){0,2}(?:ville|fleuve|pays|île) (?:de|du"
    r"|en|au)\b(?!.* où )",
    "BOILS": "(?:bout|gèle|fond) à(?: environ)?",
    "ISA": "est une?",
    "KIND": "langage de programmation|langue (?:romane|germanique|slave)|planète|mammifère"
    "|élément chimique|système d'exploitation",
    "MINE": "utilisat(?:eur|rice)|je|mon|ma|mes|nous|notre|nos|son|sa|ses|leurs?|j'[a-zà-ÿ]+",
}
SPANISH_SCREENING: Mapping[str, str] = {
    "USER": "(?:el |la )?usuari[oa]|yo",
    "PLEASE": "por favor,?|puedes",
    "EDIT": "traduce|resume|acorta|reescribe|explica|corrige|repite",
    "EDITIT": "hazlo|tradúcelo|resúmelo|acórtalo|reescríbelo|explícalo|corrígelo|repítelo",
    "THIS": "esto|eso|el texto|la REPLY|lo anterior|otra vez",
    "ANSWER": "respond[ea]|contest[ea]|escrib[ea]|habl[ea]",
    "HERE": "esta vez|por ahora|(?:en|para) esta (?:conversación|respuesta|pregunta)",
    "ASKS": "(?:quiere|quisiera|pide|pidió|ha pedido|desea|solicita)(?: que)?",
    "TEXT": "(?:la|esta|una) (?:REPLY|versión) (?:sea|más|menos|en|anterior|esté)|(?:el"
    "|este) (?:texto|resumen) (?:sea|esté|en|más)",
    "REPLY": "respuesta|traducción|explicación",
    "TASK": "(?:pide|pidió|ha pedido) una? (?:resumen|poema|chiste|receta|REPLY)$|(?:pide|pidió"
    "|ha pedido) (?:al asistente )?(?:que )?(?:traducir|resumir|acortar|corregir|reescribir"
    "|olvid(?:ar|e)|borrar?|eliminar?)",
    "ALWAYS": "siempre|nunca|en general|prefier[eo]|[lm]e gusta|de ahora en adelante"
    "|a partir de ahora|cada vez",
    "ASK": "¿.*|(?:qué|cuál(?:es)?|dónde|cuándo|por qué|quién|cómo|cuánt[oa]s?) (?:es|son|está"
    "|puedo|hay|significa|funciona|se|cuesta)",
    "WONDERS": "(?:pregunta|preguntó|ha preguntado|quiere saber|quería saber)(?: por)? (?:si"
    "|qué|cuál|cuáles|dónde|cuándo|quién|cómo|cuánt[oa]s?|por qué)",
    "ASAI": "como (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje)(?:,| no)",
    "ADVICE": "(?:te|le|les) (?:recomiendo|sugiero|aconsejo)|deberías|usted debería|podrías"
    "|puedes|se recomienda",
    "HELPER": "(?:el asistente|la ia)(?: ha)?",
    "SAID": r"recom\w+|sug\w+|aconsej\w+|dijo|dice|explic\w+",
    "BE": "está|se siente|estoy|me siento|estaba",
    "VERY": "muy|un poco|bastante|much[oa]",
    "NOW": "actualmente|ahora",
    "TODAY": "hoy|ahora mismo|en este momento|esta (?:noche|mañana|tarde)",
    "THEN": "ayer|anoche|el DATE",
    "STATE": "cansad[oa]|agotad[oa]|aburrid[oa]|hambrient[oa]|con (?:hambre|sed|sueño|prisa"
    "|resaca)|de (?:mal|buen) humor",
    "MOOD": "enferm[oa]|triste|ocupad[oa]|estresad[oa]|content[oa]",
    "HAVE": "tiene|tengo|tenía",
    "ACHE": "hambre|sed|sueño|prisa|resaca|dolor de cabeza(?:WHEN| NOW)",
    "PLACE": "en (?:el|un) (?:tren|autobús|avión|metro|aeropuerto|atasco)|en la (?:estación"
    "|cama|ducha)|en una reunión|de camino (?:a casa|al trabajo)",
    "GENERAL": "la (?:capital|moneda|población|velocidad de la luz|raíz cuadrada) .{1,60} (?:es"
    "|son)|el punto de ebullición|(?:la tierra|el sol|la (?:primera|segunda) guerra mundial)"
    " (?:es|gira|terminó)",
    "ISCAPITAL": r"es la capital del?\b|es una? (?:[\w-]+ ){0,2}(?:ciudad|país|río|isla) (?:de"
    r"|del|en)\b(?!.* donde )",
    "BOILS": "(?:hierve|se congela|se funde) a(?: los| unos)?",
    "ISA": "es una?",
    "KIND": "lenguaje de programación|lengua romance|planeta|mamífero|elemento químico"
    "|sistema operativo",
    "MINE": "usuari[oa]|yo|mis?|nosotr[oa]s|nuestr[oa]s?|sus?",
}
PORTUGUESE_SCREENING: Mapping[str, str] = {
    "USER": "[oa] usuári[oa]|o utilizador|a utilizadora|eu",
    "PLEASE": "por favor,?|(?:você )?pode",
    "EDIT": "faça|traduza|resuma|encurte|reescreva|explique|corrija|repita",
    "THIS": "isso|isto|o texto|a REPLY|novamente|de novo|outra vez",
    "ANSWER": "respond[ae]|escrev[ae]|fal[ae]",
    "HERE": "desta vez|por enquanto|(?:nest|ness|para est|para ess)a (?:conversa|resposta"
    "|pergunta)",
    "ASKS": "(?:quer|gostaria|pede|pediu|deseja|solicita|solicitou)(?: que| de)?",
    "TEXT": "(?:[ao]|est[ae]|ess[ae]|uma) (?:REPLY|versão|texto|resumo) (?:seja|mais|menos|em"
    "|anterior|esteja)",
    "REPLY": "resposta|tradução|explicação",
    "TASK": "(?:pede|pediu) uma? (?:resumo|poema|piada|receita|REPLY)$|(?:pede|pediu) para"
    " (?:traduzir|resumir|encurtar|corrigir|reescrever|esquecer|apagar|eliminar)",
    "ALWAYS": "sempre|nunca|em geral|prefer[ei]|prefiro|gosta|a partir de agora|daqui em diante",
    "ASK": "(?:o que|qual|quais|onde|quando|por que|quem|como|quant[oa]s?) (?:é|são|fica|está"
    "|posso|significa|funciona|se|custa)",
    "WONDERS": "(?:pergunta|perguntou|quer saber|queria saber)(?: por| sobre)? (?:se|o que|qual"
    "|quais|onde|quando|quem|como|quant[oa]s?)",
    "ASAI": "como (?:uma? )?(?:ia|inteligência artificial|modelo de linguagem)(?:,| não| eu)",
    "ADVICE": "(?:eu )?(?:recomendo|sugiro|aconselho) (?:que você|a você)|você (?:deve|deveria"
    "|pode|poderia)|recomenda-se",
    "HELPER": "o assistente|a ia",
    "SAID": r"recomend\w+|suger\w+|aconselh\w+|disse|explic\w+",
    "BE": "está|se sente|estou|me sinto|estava",
    "VERY": "muit[oa]|um pouco|bastante|bem",
    "NOW": "agora",
    "TODAY": "hoje(?: à noite| de manhã)?|neste momento|no momento|esta noite",
    "THEN": "ontem|em DATE",
    "STATE": "cansad[oa]|exaust[oa]|entediad[oa]|com (?:muita )?(?:fome|sede|sono|pressa"
    "|ressaca|dor de cabeça)|de (?:mau|bom) humor",
    "MOOD": "doente|triste|ocupad[oa]|e?stressad[oa]|feliz",
    "HAVE": "tem|tenho|tinha",
    "ACHE": "fome|sede|sono|pressa",
    "PLACE": "no (?:trem|comboio|ônibus|autocarro|avião|metrô|metro|aeroporto|trânsito)"
    "|na (?:estação|cama|fila)|(?:em|numa) reunião|a caminho (?:de casa|do trabalho)",
    "GENERAL": "a (?:capital|moeda|população|velocidade da luz|raiz quadrada) .{1,60} é"
    "|o ponto de ebulição|(?:a terra|o sol|a (?:primeira|segunda) guerra mundial) (?:é|gira"
    "|terminou)",
    "ISCAPITAL": r"é a capital d|é uma? (?:[\w-]+ ){0,2}(?:cidade|país|rio|ilha) (?:d[eoa]|em"
    r"|n[oa])\b(?!.* onde )",
    "BOILS": "(?:ferve|congela|derrete) a(?: cerca de)?",
    "ISA": "é uma?",
    "KIND": "linguagem de programação|língua românica|planeta|mamífero|elemento químico"
    "|sistema operacional",
    "MINE": "usuári[oa]|utilizador|eu|meus?|minhas?|nós|noss[oa]s?|seus?|suas?|del[ea]s?",
}
ITALIAN_SCREENING: Mapping[str, str] = {
    "USER": "l'utente|io",
    "PLEASE": "per favore,?|puoi",
    "EDIT": "traduci|riassumi|accorcia|riscrivi|spiega|correggi|ripeti",
    "EDITIT": "rendilo|fallo|traducilo|riassumilo|accorcialo|riscrivilo|spiegalo|correggilo"
    "|ripetilo",
    "THIS": "questo|il testo|la REPLY|di nuovo",
    "ANSWER": "rispond[ia]|scriv[ia]|parl[ia]",
    "HERE": "questa volta|stavolta|per ora|(?:in|per) questa (?:conversazione|risposta|domanda)",
    "ASKS": "(?:vuole|vorrebbe|chiede|ha chiesto|desidera)(?: che| di)?",
    "TEXT": "(?:la|questa|una) (?:REPLY|versione) (?:sia|più|meno|in|precedente)|(?:il"
    "|questo) (?:testo|riassunto) (?:sia|più|in)",
    "REPLY": "risposta|traduzione|spiegazione",
    "TASK": "(?:chiede|ha chiesto) una? (?:riassunto|poesia|barzelletta|ricetta|REPLY)$"
    "|(?:chiede|ha chiesto) (?:all'assistente )?di (?:tradurre|riassumere|accorciare|correggere"
    "|riscrivere|dimenticare|cancellare|eliminare)",
    "ALWAYS": r"sempre|mai|in generale|preferisc\w+|piacciono|piace|d'ora in poi|ogni volta",
    "ASK": "qual è|quali sono|dov'è|(?:che )?cos'è|chi è|come (?:posso|funziona|si)|perché"
    " (?:il|la|i|le)|quanto (?:costa|è)",
    "WONDERS": "(?:(?:si )?chiede|ha chiesto|vuole sapere|voleva sapere) (?:se|cosa|quale|quali"
    "|dove|quando|chi|come|quanto|perché)",
    "ASAI": "(?:come|in quanto) (?:ia|intelligenza artificiale|modello linguistico)(?:,| non)",
    "ADVICE": "(?:ti|le|vi) (?:consiglio|suggerisco|raccomando)|dovresti|potresti|puoi"
    "|si consiglia|è consigliabile",
    "HELPER": "l'(?:assistente|ia)(?: ha)?",
    "SAID": r"consigli\w+|sugger\w+|detto|dice|spieg\w+",
    "BE": "è|si sente|sono|mi sento|era|si trova",
    "VERY": "molt[oa]|un po'|davvero|troppo",
    "NOW": "adesso|ora",
    "TODAY": "oggi|in questo momento|al momento|stasera|stamattina",
    "THEN": "ieri(?: sera)?|il DATE",
    "STATE": "stanc[oa]|esaust[oa]|annoiat[oa]|affamat[oa]|assonnat[oa]|di (?:fretta"
    "|cattivo umore|buon umore)|in ritardo",
    "MOOD": "malat[oa]|triste|impegnat[oa]|stressat[oa]|felice",
    "HAVE": "ha|ho|aveva",
    "ACHE": "fame|sete|sonno|fretta|mal di testa",
    "PLACE": "(?:in|sul) (?:treno|autobus|aereo|metropolitana|riunione)|all'aeroporto"
    "|alla stazione|a letto|nel traffico",
    "GENERAL": "la (?:capitale|valuta|popolazione|velocità della luce|radice quadrata) .{1,60}"
    " è|il punto di ebollizione|(?:la terra|il sole|la (?:prima|seconda) guerra mondiale) (?:è"
    "|gira|finì)",
    "ISCAPITAL": r"è la capitale d|è una? (?:[\w-]+ ){0,2}(?:città|paese|fiume|isola) (?:di|del"
    r"|della|in)\b(?!.* dove )",
    "BOILS": "(?:bolle|congela|fonde) a(?: circa)?",
    "ISA": "è una?",
    "KIND": "linguaggio di programmazione|lingua romanza|pianeta|mammifero|elemento chimico"
    "|sistema operativo",
    "MINE": "utente|io|mi[oae]|miei|noi|nostr[oaei]|su[oae]|suoi|loro",
}
RUSSIAN_SCREENING: Mapping[str, str] = {
    "USER": "пользовател(?:ь|ьница)|я",
    "PLEASE": "пожалуйста,?|можешь",
    "EDIT": "(?:сделай|переведи|перепиши|сократи|объясни|исправь|повтори|упрости)(?:те)?",
    "THIS": "это|его|е[её]|текст|ответ|ещё раз|покороче|короче",
    "ANSWER": "(?:отвечай|ответь|пиши|говори)(?:те)?",
    "HERE": "(?:в|на) этот раз|пока что|в этом (?:чате|разговоре)",
    "ASKS": "(?:хочет|хотела? бы|просит|попросила?|желает|хочу)(?: сделать| получить|,? чтобы)?",
    "TEXT": r"(?:(?:этот|последний|предыдущий) )?REPLY|(?:более \w+|короткий|краткий|другой)"
    " (?:ответ|текст)",
    "REPLY": "ответ|перевод",
    "TASK": "(?:просит|попросила?) (?:перевести|сократить|переписать|исправить|объяснить"
    "|забыть|удалить|стереть)",
    "ALWAYS": r"всегда|никогда|предпочита\w+|впредь|каждый раз|обычно|любит|нравится",
    "ASK": "(?:что|где|когда|почему|кто|как(?:ой|ая|ое|ие)?|сколько) (?:такое|находится|это"
    "|есть|можно|работает|значит|стоит|является)",
    "WONDERS": "(?:спрашивает|спросила?|хочет узнать|интересуется),? (?:ли|что|где|когда|почему"
    "|кто|как|сколько|какой|какая|какое|какие)",
    "ASAI": "как (?:ии|искусственный интеллект|языковая модель)(?:,| я)",
    "ADVICE": "(?:я )?(?:рекомендую|советую) (?:вам|тебе)|(?:вам|тебе) (?:следует|стоит|нужно"
    "|лучше)|ты можешь|вы можете|рекомендуется",
    "HELPER": "ассистент|помощник|ии",
    "SAID": r"рекоменд\w+|посоветова\w+|сказал|предл\w+|объясн\w+",
    "VERY": "очень|немного|сильно|всё ещё",
    "NOW": "сейчас",
    "TODAY": "сегодня(?: вечером| утром)?|в данный момент",
    "THEN": "вчера",
    "passing": "^(?:USER MOD(?:(?:чувствует себя )?(?:устал(?:а|ым|ой)?|уставш(?:им|ей))"
    "|голод(?:ен|на)|хоч(?:ет|у) (?:есть|спать|пить)|не выспал(?:ся|ась)|проголодал(?:ся|ась)"
    "|спеш(?:ит|у)|опаздыва(?:ет|ю)|в (?:плохом|хорошем) настроении)|у (?:пользователя"
    "|пользовательницы|меня) MODболит (?:голова|живот|горло|зуб)|USER MOD(?:(?:находится|едет"
    "|еду|сидит) )?(?:в (?:поезде|автобусе|самол[её]те|метро|пробке|аэропорту)|на (?:вокзале"
    "|совещании)|по дороге (?:домой|на работу)))(?:WHEN| NOW){0,2}$",
    "GENERAL": "(?:столица|валюта|население|скорость света|квадратный корень|температура"
    " кипения|точка кипения) .{1,60}|(?:земля|солнце|(?:первая|вторая) мировая война)"
    " (?:вращается|это|закончилась|началась)",
    "ISCAPITAL": r"(?:—|-|это|является) (?:столиц[аей]|(?:[\w-]+ ){0,2}город(?:ом)? (?:в|на))\b",
    "BOILS": "(?:кипит|замерзает|плавится) при",
    "ISA": "—|-|это|является",
    "KIND": r"язык(?:ом)? программирования|планет(?:а|ой)|млекопитающ\w+|химическ\w+ элемент\w*"
    r"|операционн\w+ систем\w+",
    "MINE": r"пользовател\w+|я|меня|мне|мо[йяеёи]\w{0,2}|мы|нас|нам|наш\w{0,3}|его|её|их"
    r"|сво[йяеёи]\w{0,2}",
}
CHINESE_SCREENING: Mapping[str, str] = {
    "conversation": "^(?:请|請)?(?:把|将|將)?(?:这|這|它|上面|刚才|以上).{0,12}(?:短一?[点點]"
    "|长一点|翻[译譯]|改[写寫]|重写|总结|缩短|简化)|^(?:请|請)?(?:这次|這次|这一次).{0,6}(?:用"
    "|以).{1,8}(?:回答|回复|写)|^USER(?:想|要|希望|请求|要求)(?:让|把|将)?(?:这个|此|该|上一个"
    "|本次|(?<=把))(?:回答|回复|答案|翻译|总结)|^USER.{1,20}(?:这次|本次(?:对话"
    "|聊天)).{0,12}(?:回答|回复|翻译)",
    "lasting": "总是|總是|一直|永远|永遠|以[后後]|今[后後]|喜欢|喜歡|偏好|每次|从不|平时",
    "question": "^USER(?:在|想)?(?:问|問|询问|詢問|想知道|提问)了?.{0,20}(?:什么|什麼|哪|谁|誰"
    "|怎|如何|是否|多少|吗)|(?:吗|嗎|呢)$",
    "assistant": "^作[为為](?:一[个個名])?(?:ai|人工智[能慧]|语言模型|語言模型)(?:助手|语言模型"
    "|模型)?[，,]|^我?建[议議](?:你|您)|^(?:你|您)(?:应该|應該|可以|需要|最好)"
    "|^(?:ai)?助手(?:建议|建議|推荐|推薦|表示|说|說|认为)",
    "passing": "^(?:USERMOD(?:累|疲[惫憊]|困|饿|餓|口?渴|无聊|無聊|赶时间)(?:坏|死|极)?了?"
    "|USERMOD(?:NOW)MOD(?:头疼|头痛|頭痛|不舒服|感冒|肚子疼|心情不好|忙|生病|难过)了?"
    "|USER(?:NOW)?正?坐?在(?:(?:火车|地铁|公交车?|飞机|高铁|火車|地鐵|飛機|出租车)上|机场|機場"
    "|车站|開會|开会|路上|堵车|排队|床上))$",
    "knowledge": "^.{1,12}的(?:首都|人口|货币|貨幣|官方语言|沸[点點]|熔点|化学式"
    "|平方根)[是为為约]|^.{1,16}是.{1,12}的首都|^光速"
    "|^.{1,16}是一?[种種个個门門].{0,12}(?:[编程][语式]?[语語]言|行星|哺乳动物|化学元素"
    "|操作系统|框架|算法)$|^.{1,10}是.{1,10}的一[个個座](?:城市|国家|岛屿|省份)$",
    "subject": "^USER",
    "personal": "用[户戶]|使用者|我|咱|他|她",
    "USER": "用[户戶]|使用者|我|他|她",
    "NOW": "今天|现在|現在|此刻|今晚|今早|刚才|剛才|目前",
    "MOD": "(?:NOW|有点|有點|很|非常|太|好|感到|觉得|覺得|感觉|感覺|正?在|还|還|，)*",
}
JAPANESE_SCREENING: Mapping[str, str] = {
    "conversation": "^USER.{0,4}(?:翻訳|要約)を(?:依頼|求め|頼ん)|^(?:もっと"
    "|もう少し).{1,10}(?:して|書いて)|^(?:これ|それ|この文章?|上の文章?)を.{0,12}(?:翻訳|要約"
    "|短く|書き直し|訳し)|^今回(?:は|だけ).{1,16}(?:答え|回答|書い)|^USER(?:今回|この(?:回答"
    "|会話|文章)|回答)[はをだけで]{1,2}.{1,30}(?:求め|望ん|希望|依頼|頼ん|ほしい|欲しい)",
    "lasting": "いつも|常に|毎回|好む|好ん|好き|今後|これから|普段",
    "question": "(?:です|ます|でしょう|だろう)か$|かな$|^USER.{1,60}(?:か|かどうか)(?:を"
    "|と)?(?:質問|尋ね|聞い|知りた)",
    "assistant": "^ai(?:アシスタント|言語モデル|モデル)?として、|お(?:すすめ|勧め)します$"
    "|^あなたは.{1,60}(?:べきです|べきだ|方がいい(?:です)?)$"
    "|^(?:ai)?アシスタントは.{1,60}(?:提案|推奨|勧め|説明|おすすめ)",
    "passing": "^USERMOD(?:疲れ(?:てい(?:る|ます)|た|ました)|眠い(?:です)?|お?腹が(?:空"
    "|す)い(?:てい(?:る|ます)|た)|空腹(?:だ|です|である)?|(?:喉|のど)が渇い(?:てい(?:る|ます)"
    "|た)|退屈(?:してい(?:る|ます)|だ|です)|二日酔い(?:だ|です)?|急いでい(?:る|ます)"
    "|NOWMOD(?:忙しい|頭が痛い|気分が悪い|(?:体調|具合)が悪い|悲しい)(?:です)?|(?:電車|バス"
    "|飛行機|新幹線|地下鉄)(?:に乗ってい(?:る|ます)|の中(?:だ|です|にい(?:る|ます))?)|(?:空港"
    "|駅)にい(?:る|ます)|会議中(?:だ|です)?)$",
    "knowledge": "^.{1,14}の(?:首都|人口|通貨|公用語|沸点|融点|化学式|平方根)は"
    "|^.{1,14}は.{1,14}の首都(?:だ|です|である)?$|^光の速さは"
    "|^.{1,20}は.{0,14}(?:プログラミング言語|惑星|哺乳類|元素"
    "|オペレーティングシステム)(?:の一つ)?(?:だ|です|である)?$|^.{1,14}は.{1,14}にある(?:都市"
    "|街|国|島|川|山)(?:だ|です|である)?$",
    "subject": "^USER",
    "personal": "ユーザ|私|僕|俺|彼",
    "USER": "(?:ユーザー?|私|彼女?)[はが]?、?",
    "NOW": "(?:今日|今|現在|今夜|今朝|さっき)[はも]?、?",
    "MOD": "(?:NOW|とても|すごく|少し|かなり|ちょっと|まだ)*",
}
