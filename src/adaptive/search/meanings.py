"""Words that say the same about a person, under one name: "resides", "wohnt" are ``live``.

Languages: English, German, French, Spanish, Portuguese, Italian, Russian, Chinese. What is in no
table means itself, freed of the plural and of "-ing". Search cuts words down further ("cookies" may
meet "cooking"): there a wrong meeting costs a place in a list, here it would cost a fact.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from adaptive.search.tokens import tokens
from adaptive.text_cache import text_cache

_COMBINING = re.compile("[\u0300-\u036f]")
_BEGINS_HAN = re.compile("[\u3400-\u9fff]")

# name: the words that mean it. A line holds whole words, whose inflections the stemmer adds; what
# means something else in another of the languages is left out.
_MEANINGS_TEXT = """
have: have has having holds own owns owning owned possess possesses hat habe haben hatte besitzt
    besitze besitzen a ai possede tiene tengo tener posee poseo tem tenho ter possui ha ho avere
    possiede имеет имею иметь имеется есть владеет 有 拥有 擁有
be: be is am are being ist bin sind est suis es soy ser sou sono sia является это 是
name: name names named called heißt heiße heissen namens nennt appelle prenomme nomme nommee llama
    llamado llamada llamo nombre chama chamado chamada chamo nome chiama chiamo chiamato chiamata
    зовут имя имени называется 叫 名叫 叫做 名字 名为
live: live lives living reside resides residing resident dwell dwells inhabits wohnt wohne wohnen
    wohnhaft lebt lebe leben ansassig habite habiter vit vis vivre reside residant vive vivo vivir
    viver reside resido residir mora moro morar abita abito abitare vivere risiede живет живу жить
    проживает проживаю 住 住在 居住 居住在 生活在
moved: moved relocated umgezogen gezogen zog demenage emmenage mudo mudado mudou trasferito
    trasferita переехал переехала 搬到 搬去 搬家到
work: work works working employed employee job arbeitet arbeite arbeiten angestellt beschaftigt
    travaille travailler trabaja trabajo trabajar trabalha trabalho trabalhar empleado empleada
    empregado empregada lavora lavoro lavorare impiegato impiegata работает работаю трудится
    работать 工作
occupation: occupation profession beruf metier profesion ocupacion profissao professione профессия
    职业 職業
like: like likes liking enjoy enjoys enjoying love loves loving fond mag mogen liebt liebe gern
    gerne aime aimer adore adorer gusta gustan encanta encantan gosta gosto gostar adora adoro
    piace piacciono ama amo adora любит люблю нравится нравятся обожает 喜欢 喜歡 喜爱 爱 热爱 爱好
hate: hate hates hating dislike dislikes disliking loathe loathes detest detests hasst hasse
    deteste detester odia odio odiar odeia detesta detesto odiare ненавидит ненавижу 讨厌 討厭
prefer: prefer prefers preferred bevorzugt bevorzuge prefere preferer prefiere prefiero preferir
    prefiro preferisce preferisco предпочитает предпочитаю 更喜欢 偏好 偏爱
want: want wants wanting wish wishes hope hopes mochte wunscht veut voudrait souhaite quiere quiero
    desea quer quero deseja gostaria vuole voglio vorrebbe desidera хочет хочу желает 想 想要 希望
plan: plan plans planning will wird werde intend intends plant prevoit envisage planea pretende
    planeja planeia intende progetta планирует собирается намерен 打算 计划 計劃
do: do does doing macht fait faz fa делает 做
come: come comes came coming
eat: eat eats eating isst esse essen mange manger comer mangia mangiare ест ем есть吃 吃
drink: drink drinks drinking trinkt trinke trinken boit boire bebe bebo beber beve bevo bere пьет
    пью пить 喝
play: play plays playing player spielt spiele spielen spieler joue jouer juega juego jugar toca
    toco tocar joga jogar suona suono suonare gioca giocare играет играю играть 打 玩 弹 拉
speak: speak speaks speaking spricht spreche sprechen parle parler habla hablo hablar fala falo
    falar parla parlo parlare говорит говорю говорить 说 會說 会说 讲
learn: learn learns learning lernt lerne lernen apprend apprendre aprende aprendo aprender impara
    imparo imparare учит изучает изучаю учу 学 学习 學習 在学
study: study studies studied studying studiert studiere studieren etudie etudier estudia estudio
    estudiar estuda estudo estudar studia studio studiare учится учусь
drive: drive drives driving fahrt conduit conduire conduce conducir dirige guida водит 开车 驾驶
use: use uses using benutzt verwendet nutzt utilise utiliser usar utiliza usare utilizza использует
    пользуется 使用 用
train: trainiert trainiere entraine entrena treina allena тренируется 训练
morning: morning mornings morgens matin matins manana manha mattina утро утром 早上
evening: evening evenings abend abends soir noche noite sera вечер вечером 晚上
meeting: meeting meetings
teach: teach teaches teaching unterrichtet enseigne ensena ensina insegna преподает 教
allergic: allergic allergy allergies allergisch allergie allergien allergique allergies alergico
    alergica alergia alergias allergico allergica allergia аллергия аллергию аллергией аллергик
    过敏 過敏
afraid: afraid fear scared frightened terrified phobia angst furchtet peur craint miedo teme medo
    paura страх боится боюсь 害怕 怕
vegetarian: vegetarian vegetarier vegetarierin vegetarisch vegetarien vegetarienne vegetariano
    vegetariana вегетарианец вегетарианка 素食者 吃素 素食
vegan: vegan veganer veganerin vegetalien vegano vegana веган веганка 纯素
smoke: smoke smokes smoker raucht rauche rauchen raucher raucherin fume fumer fumeur fumeuse fuma
    fumo fumar fumador fumadora fumante fumare fumatore fumatrice курит курю курить 抽烟 吸烟
born: born birthday birthdate birth geboren geburtstag naissance nee anniversaire nacio nacido
    nacida nacimiento cumpleanos nasceu nascido nascida nascimento nato nata nascita compleanno
    родился родилась рождения 出生 生日
old: old aged alt
age: age alter edad idade eta возраст возрасте 年龄 岁数
year: year years yr yrs yo jahr jahre jahren jahrig jahrige ans annee annees ano anos anni anno год
    года лет годам 岁 歲 年
married: married verheiratet marie mariee casado casada sposato sposata женат замужем 已婚 结婚
single: single unmarried ledig celibataire soltero soltera solteiro solteira celibe nubile холост
    单身
divorced: divorced geschieden divorce divorcee divorciado divorciada divorziato divorziata разведен
    разведена 离婚
favourite: favourite favorite favourites favorites liebling preferee favori favorite favorito
    favorita preferido preferida preferito preferita любимый любимая любимое любимые 最喜欢
    最喜欢的 最爱
color: color colour colors colours farbe couleur color cor colore цвет 颜色
bought: bought purchased gekauft achete compro comprou comprado comprato купил купила 买了
wake: wake wakes waking awake steht aufsteht leve levanta despierta acorda sveglia встает
    просыпается 起床
gym: gym fitnessstudio gimnasio palestra academia спортзал 健身房
flat: flat apartment apartments wohnung appartement apartamento piso appartamento квартира 公寓
car: car cars automobile auto wagen voiture coche carro macchina машина автомобиль 汽车 车
bike: bike bikes bicycle bicycles fahrrad velo bicicleta bici велосипед 自行车
phone: phone telephone telefon telefono telefone handynummer телефон телефона 电话 手机
email: email e-mail mail mailadresse correo почта 邮箱 邮件
coriander: coriander cilantro koriander
degree: degree degrees diploma abschluss diplome grado diploma laurea диплом 学位
shop: shop store shops stores laden magasin boutique tienda loja negozio магазин 商店
film: film films movie movies pelicula peliculas filme filmes фильм фильмы 电影
doctor: doctor physician doctors arzt arztin medecin medico medica врач 医生 大夫
teacher: teacher teachers lehrer lehrerin professeur enseignant maestro maestra profesor profesora
    insegnante учитель учителем учительница 教师 老师
developer: developer programmer coder entwickler entwicklerin developpeur developpeuse
    desarrollador desarrolladora programador programadora desenvolvedor sviluppatore программист
    разработчик 程序员
"""
_PEOPLE_TEXT = """
mother: mother mom mum mommy mama mutter mere maman madre mae mamma мать мама матери мамы 母亲 妈妈
father: father dad daddy papa vater pere padre pai babbo отец папа отца папы 父亲 爸爸
wife: wife ehefrau frau femme epouse esposa mujer mulher moglie жена жены жену 妻子 老婆 太太
husband: husband ehemann mann mari epoux esposo marido marito муж мужа 丈夫 老公
partner: partner spouse 伴侣
boyfriend: boyfriend copain novio namorado fidanzato 男朋友
girlfriend: girlfriend freundin copine novia namorada fidanzata девушка 女朋友
sister: sister sisters schwester schwestern soeur soeurs sœur hermana hermanas irma irmas sorella
    sorelle сестра сестры сестру сестре 姐妹
oldersister: 姐姐
youngersister: 妹妹
brother: brother brothers bruder frere freres hermano hermanos irmao irmaos fratello fratelli брат
    брата братья 兄弟
olderbrother: 哥哥
youngerbrother: 弟弟
son: son sons sohn sohne fils hijo filho figlio сын сына сыновья 儿子 兒子
daughter: daughter daughters tochter fille filles hija hijas filha filhas figlia figlie дочь дочери
    дочка 女儿 女兒
child: child children kid kids kind kinder enfant enfants hijos crianca criancas filhos bambino
    bambina bambini figli ребенок ребенка детей дети 孩子 小孩
grandmother: grandmother grandma granny oma grossmutter grandmere abuela avo nonna бабушка 奶奶
grandfather: grandfather grandpa opa grossvater grandpere abuelo nonno дедушка 爷爷
外婆: 外婆
外公: 外公
uncle: uncle onkel oncle tio zio дядя 叔叔
aunt: aunt tante tia zia тетя 阿姨
舅舅: 舅舅
姑姑: 姑姑
cousin: cousin cugino кузен
cousine: cousine cugina
nephew: nephew neffe neveu sobrino sobrinho nipote племянник 侄子
boy: boy boys junge jungen garcon ninos nino menino meninos мальчик 男孩
girl: girl girls madchen nina ninas menina meninas девочка 女孩
niece: niece nichte sobrina sobrinha племянница 侄女
law: law
motherinlaw: schwiegermutter suegra suocera
fatherinlaw: schwiegervater suegro suocero
friend: friend friends buddy freund freunde ami amis amigo amigos amico друг друзья 朋友 好友
amiga: amie amiga amigas amica подруга
boss: boss manager patron jefe chefe capo начальник 老板 上司
colleague: colleague colleagues coworker coworkers kollege collegue коллега 同事
kollegin: kollegin
neighbor: neighbor neighbour neighbors neighbours nachbar voisin vecino vizinho vicino сосед 邻居
vecina: nachbarin voisine vecina vizinha vicina соседка
roommate: roommate flatmate housemate mitbewohner colocataire coinquilino 室友
landlord: landlord landlady vermieter proprietaire casero 房东
parent: parent parents eltern pais genitori родители 父母
family: family familie famille familia famiglia семья 家人 家庭
team: team equipe equipo squadra команда 团队
dog: dog dogs puppy hund hunde chien chiens perro perros cachorro cao caes cane cani собака собаку
    собак собаки пес 狗 小狗
perra: hundin chienne perra perras cachorra cadela
cat: cat cats kitten katze katzen gato gatos gatto gatti кошка кошку кошек кошки 猫 貓 小猫
kater: kater кот кота котов
gata: gata gatas gatta
pet: pet pets haustier haustiere mascota питомец 宠物
horse: horse horses pferd pferde cheval caballo cavalo cavallo лошадь 马
"""
_NUMBERS_TEXT = """
1: one eins un une uno una um uma ein eine einen один одна одно 一 一个
2: two zwei deux dos dois duas due два две двое 二 两 两个 twice
3: three drei trois tres tre три трое 三 三个
4: four vier quatre cuatro quatro quattro четыре четверо 四 四个
5: five funf cinq cinco cinque пять 五
6: six sechs six seis sei шесть 六
7: seven sieben sept siete sete sette семь 七
8: eight acht huit ocho oito otto восемь 八
9: nine neun neuf nueve nove девять 九
10: ten zehn dix diez dez dieci десять 十
11: eleven elf onze undici одиннадцать
12: twelve zwolf douze doce doze dodici двенадцать
13: thirteen dreizehn treize trece treze tredici тринадцать
14: fourteen vierzehn quatorze catorce quattordici четырнадцать
15: fifteen funfzehn quinze quince quindici пятнадцать
16: sixteen sechzehn seize dieciseis dezesseis sedici шестнадцать
20: twenty zwanzig vingt veinte vinte venti двадцать
30: thirty dreissig trente treinta trinta trenta тридцать
40: forty vierzig quarante cuarenta quarenta quaranta сорок
50: fifty funfzig cinquante cincuenta cinquenta cinquanta пятьдесят
100: hundred hundert cent cien cem cento сто 百
1000: thousand tausend mille mil тысяча 千
first: first erste ersten erster premier premiere primero primera primeiro primeira primo первый
    первая 第一
second: second zweite zweiten zweiter deuxieme seconde segundo segunda secondo seconda второй
    вторая 第二
third: third dritte dritten dritter troisieme tercero tercera terceiro terceira terzo terza третий
    第三
month1: january jan januar janner janvier enero janeiro gennaio январь января 一月
month2: february feb februar fevrier febrero fevereiro febbraio февраль февраля 二月
month3: march mars marz marzo marco март марта 三月
month4: april apr avril abril aprile апрель апреля 四月
month5: may mai mayo maio maggio май мая 五月
month6: june jun juni juin junio junho giugno июнь июня 六月
month7: july jul juli juillet julio julho luglio июль июля 七月
month8: august aug aout agosto август августа 八月
month9: september sep septembre septiembre setembro settembre сентябрь сентября 九月
month10: october oct oktober octobre octubre outubro ottobre октябрь октября 十月
month11: november nov novembre noviembre novembro ноябрь ноября 十一月
month12: december dec dezember decembre diciembre dezembro dicembre декабрь декабря 十二月
day1: monday mondays montag montags lundi lunes lunedi понедельник понедельникам 周一 星期一
day2: tuesday tuesdays dienstag dienstags mardi martes martedi вторник вторникам 周二 星期二
day3: wednesday wednesdays mittwoch mittwochs mercredi miercoles mercoledi среда средам 周三 星期三
day4: thursday thursdays donnerstag donnerstags jeudi jueves giovedi четверг четвергам 周四 星期四
day5: friday fridays freitag freitags vendredi viernes venerdi пятница пятницам 周五 星期五
day6: saturday saturdays samstag samstags samedi sabado sabato суббота субботам 周六 星期六
day7: sunday sundays sonntag sonntags dimanche domingo domenica воскресенье 周日 星期日 星期天
"""
# A word ending in one of these after "-s" was taken off lost an "e" too.
_SIBILANTS = ("s", "x", "z", "ch", "sh")


def folded_text(text: str) -> str:
    """A text in lower case and without accents; of an apostrophe there is one form."""
    if text.isascii():
        return text.lower()
    bare = _COMBINING.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFKC", bare).replace("’", "'").replace("œ", "oe")


@text_cache(8192)
def meaning(word: str, *, name: bool = False) -> str:
    """The name of what a word means, the word without its inflection where it stands for itself.

    Inflection is taken off more carefully than for search, where "cookies" may meet "cooking": two
    words must not become one here. A proper ``name`` has none.
    """
    folded = folded_text(word)
    known = meanings().get(folded)
    if known or name:
        return known or folded
    base = _uninflected(folded)
    return meanings().get(base, base)


@text_cache(8192)
def says_nothing(word: str) -> bool:
    """Whether keyword search drops the word, as it does articles, prepositions and pronouns.

    Single letters, which it drops too, do say something: "vitamin D".
    """
    return (len(word) > 1 or not word.isascii()) and tokens(f"{word} x0x") == ["x0x"]


@cache
def meanings() -> dict[str, str]:
    """What each known word means, by its plain form."""
    table: dict[str, str] = {}
    for line in _unfolded(_MEANINGS_TEXT + _PEOPLE_TEXT + _NUMBERS_TEXT):
        name, _, words = line.partition(":")
        table |= {folded_text(word): name for word in (name, *words.split())}
    return table


@text_cache(512)
def spellings(said: str) -> tuple[str, ...]:
    """Search tokens of all words that mean it, itself among them."""
    words = (said, *(word for word, known in meanings().items() if known == said))
    return tuple({token: None for word in words for token in tokens(word)})


@cache
def people() -> frozenset[str]:
    """Meanings that are persons and animals, each of whom has facts of its own."""
    return frozenset(line.partition(":")[0] for line in _unfolded(_PEOPLE_TEXT))


@cache
def numbers() -> frozenset[str]:
    """Meanings that are numbers, months and days of the week."""
    return frozenset(line.partition(":")[0] for line in _unfolded(_NUMBERS_TEXT))


@cache
def han_words() -> tuple[str, ...]:
    """Known words in Chinese characters, the longest first: they stand without spaces."""
    return tuple(sorted(filter(_BEGINS_HAN.match, meanings()), key=len, reverse=True))


def _unfolded(table: str) -> list[str]:
    return table.replace("\n   ", "").strip().splitlines()


def _uninflected(word: str) -> str:
    """A folded word without plural "-s" and "-ing"; Cyrillic words without their endings."""
    if "\u0400" <= word[:1] <= "\u052f":
        return next(iter(tokens(word)), word)
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ing") and len(word) > 5:
        return _without_ing(word)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
        if word.endswith("ie"):
            return word[:-2] + "y"
        if word.endswith("e") and word[:-1].endswith(_SIBILANTS):
            return word[:-1]
    return word


def _without_ing(word: str) -> str:
    """Of "hiking" it leaves "hike", of "running" "run", of "cooking" "cook"."""
    rest = word[:-3]
    if rest[-1] == rest[-2] and rest[-1] not in "lsz":
        return rest[:-1]
    vowels = [letter in "aeiouy" for letter in rest[-3:]]
    if vowels == [False, True, False] and rest[-1] not in "wxy":
        return rest + "e"
    return rest + "e" if rest[-1] in "cvz" else rest
