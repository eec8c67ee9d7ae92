"""Messages that tell something to be remembered, and passages that tell nothing of anybody.

What the prefilter learns from, beside the null prompts. Half of the telling ones are the hard kind:
facts inside requests, corrections, wishes on answers, other languages.
"""

# ruff: noqa: RUF001 - messages in several scripts

from __future__ import annotations

_TELLING_MESSAGES_TEXT = """
from here on please write in British English
don't start every answer with a compliment
I want you to always ask me before you write code
Please always show prices in Swiss francs for me
In Zukunft bitte ohne Aufzählungen
à l'avenir, pas d'emojis s'il te plaît
d'ora in avanti niente elenchi puntati
going to the dentist on tuesday, how do I stop being nervous
make me a quiz on the French Revolution, I teach history at a secondary school
caption for my new bakery's instagram, it's called Crumb and opens on Sunday
the exam is on 12 march and statistics is my weakest subject
cant sleep again since the baby was born, any tips
My grandson Leo has a project about volcanoes, what should he read?
make this email to my boss Ms Novak more polite, I'd like to have Friday off
we moved to a bigger flat last month, still unpacking boxes lol
I've been working as a paramedic for six years now
my sister is getting married in May and I'm the maid of honour
I can't eat gluten, I was diagnosed with coeliac disease
My name is Oliver but everybody calls me Ollie
I'm 43 and I want to learn to swim
Yes, two boys, seven and nine years old
vegetarian, except for fish on sundays
Our dog Pepper has to have an operation next week
I broke up with Daniel, he's moving out on Saturday
I drive an old Volvo estate and I love it
I can't stand coriander
I'm saving for a trip to Japan next spring
I hurt my knee skiing, so no jumping exercises for me
Thanks! Yeah, I started painting last year, it helps me relax.
That's so cool! I went camping with my family too, we saw a bear.
It was amazing, my grandpa gave me this necklace when I was little. It reminds me of home.
I had such a hard week, my car broke down and I lost my job at the café.
Nothing much, just volunteering at the animal shelter again.
Yes, definitely! Me and my friends are planning a road trip this summer.
I finally finished the screenplay that I told you about, now I'm looking for an agent
Write a cover letter for a job as a data analyst, I've been a nurse for nine years
Plan a weekend in Vienna for me and my girlfriend, she uses a wheelchair
Can I eat this cheese? I'm five months pregnant
Suggest a birthday present for my father, he turns seventy and collects stamps
fix this error please, it's for my online shop which I build with Django
Translate this for my neighbour, she is from Ukraine and lives with us since March
what should I wear to the interview at Siemens on Friday?
Is it normal that my cat Luna sleeps all day? She is fourteen
Explain this contract to me, I signed it with my new employer yesterday
Remember that I prefer aisle seats
Please remember: my blood type is 0 negative
please delete everything you know about my ex
You can forget that I'm vegan, I eat meat again
That's no longer true, I sold the house
no, her name is Marta, not Maria
From now on answer in bullet points
Stop using emojis in your answers, please
Always give me metric units
Never explain the basics to me, I'm a senior developer
Call me Doctor Stone
keep in mind that I only have a gas stove
I use Arch Linux and neovim
My company builds software for hospitals
Ich wohne in Leipzig und arbeite bei der Bahn
meine Tochter kommt im September in die Schule
Ich vertrage keine Laktose, was kann ich zum Frühstück essen?
Schreib eine Bewerbung als Erzieherin für mich, ich habe acht Jahre in einer Kita gearbeitet
Merk dir bitte, dass ich montags nie Zeit habe
Nein, mein Bruder heißt Jonas und nicht Johannes
Duz mich bitte ab jetzt und antworte kurz
hab mir gestern beim Fußball den Fuß gebrochen
J'habite à Nantes avec ma femme et nos trois enfants
Je suis végétarienne depuis deux ans
Quel cadeau pour mon fils ? Il a douze ans et adore l'astronomie
Souviens-toi que mon anniversaire est le 3 juin
À partir de maintenant, tutoie-moi et réponds en français
je viens de changer de boulot, je suis chef de projet maintenant
Vivo en Sevilla y trabajo de enfermera en un hospital
Soy alérgico a los frutos secos, ¿qué puedo pedir en un restaurante tailandés?
Recuerda que mi hija se llama Lucía
ya no salgo con Pablo, lo dejamos en verano
Ayúdame con un correo a mi jefa, quiero pedir vacaciones en agosto para ir a México
Moro em Curitiba e estudo medicina veterinária
Tenho dois gatos e um cachorro chamado Bolt
Não como carne vermelha desde 2020
Lembra que eu prefiro respostas curtas
Abito a Bologna e insegno matematica al liceo
Sono celiaca, mi consigli una torta per il compleanno di mio marito?
Mia nonna compie novant'anni a dicembre
D'ora in poi rispondimi in modo breve
Ik woon in Utrecht en werk als fietsenmaker
Mijn zoontje is allergisch voor melk
Mieszkam w Krakowie i pracuję jako programistka
Zapamiętaj, że mój pies ma na imię Burek
Jag bor i Malmö och har precis börjat plugga till lärare
İzmir'de yaşıyorum, iki çocuğum var
Bundan sonra bana kısa cevaplar ver
Я живу в Казани и работаю бухгалтером
У меня аллергия на орехи, что приготовить на ужин?
Запомни, что мою жену зовут Ольга
мы с мужем переезжаем в Сочи весной
Отвечай мне всегда коротко и без вступлений
我住在成都，在一家银行上班
我对海鲜过敏，晚饭吃什么好？
请记住我女儿叫小雨，今年六岁
我上个月换了工作，现在是产品经理
以后回答请简短一点
大阪に住んでいて、看護師をしています
卵アレルギーがあるので、卵を使わないレシピを教えて
犬を二匹飼っています
これからは敬語を使わないでください
저는 부산에 살고 대학에서 음악을 공부해요
땅콩 알레르기가 있어요
제 남편 이름은 민수예요, 기억해 주세요
أنا أعيش في القاهرة وأعمل مهندسا
ابنتي عمرها خمس سنوات ولديها حساسية من الحليب
मैं पुणे में रहता हूँ और स्कूल में पढ़ाता हूँ
मुझे मूंगफली से एलर्जी है
"""
TELLING_MESSAGES = tuple(_TELLING_MESSAGES_TEXT.strip().splitlines())
# As they stand in a long request: what is pasted, what a task is about, how to answer.
_IMPERSONAL_PASSAGES_TEXT = """
The reviewers praise the display but complain about the battery, which lasts less than a day.
The company reported a profit of 3.2 billion dollars for the third quarter, its chief said Tuesday.
The river rises in the mountains and flows through the capital before it reaches the sea.
In 1871 the two kingdoms signed a treaty that ended the war and opened the ports to trade.
He walked slowly along the corridor, and nobody could tell where the sound came from.
for row in rows: total += row['amount']; print(total)
SELECT name, count(*) FROM orders GROUP BY name HAVING count(*) > 3
y = ax^2 + bx + c, where a, b and c are constants
1. Preheat the oven. 2. Mix flour and butter. 3. Bake for twenty minutes.
The method must run in linear time and use constant memory.
Each answer must be a single word. Give no explanation and no further text.
Your role is to answer as this character and to stay in it. My first question is: what is courage?
A farmer has 17 sheep and sells all but nine. How many are left?
If it rains, the match is cancelled. The match was not cancelled. Did it rain?
"""
PREFILTER_EXAMPLES = (*TELLING_MESSAGES, *_IMPERSONAL_PASSAGES_TEXT.strip().splitlines())
