"""Made-up secrets and the sentences they stand in, built of pieces when a test runs.

None was ever issued. No secret stands in this file as a whole, so that no scanner takes the
repository for leaking one. The random generator is seeded: each run builds the same.
"""

from __future__ import annotations

import base64
import json
import random
import string
from dataclasses import dataclass

SEED = 20_261
_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "U": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
}

# Pieces of a key: plain text, or ~ with an alphabet and a number of signs.
ISSUED = [
    "sk|-|~A48",
    "sk-|proj-|~w74",
    "sk-|svcacct-|~w60",
    "sk-|admin-|~w50",
    "sk-|ant-|api03-|~w93",
    "sk-|ant-|sid01-|~w86",
    "sk-|or-|v1-|~h64",
    "sk|-|~h32",
    "AI|za|Sy|~w33",
    "AK|IA|~U16",
    "AS|IA|~U16",
    "~w3|8|Q|~|~w34",
    "Account|Key=|~b86|==",
    "gh|p_|~A36",
    "gh|o_|~A36",
    "gh|u_|~A36",
    "gh|s_|~A36",
    "gh|r_|~A76",
    "github|_pat_|~A22|_|~A59",
    "gl|pat-|~w20",
    "gl|dt-|~w20",
    "gl|ptt-|~h40",
    "gl|rt-|~w20",
    "xo|xb-|~d12|-|~d12|-|~A24",
    "xo|xp-|~d12|-|~d12|-|~d12|-|~h32",
    "xo|xs-|~d12|-|~A24",
    "xa|pp-|1-|~U11|-|~d13|-|~h64",
    "https://hooks.sl|ack.com/services/T|~U8|/B|~U8|/|~A24",
    "sk|_live_|~A24",
    "sk|_test_|~A24",
    "rk|_live_|~A24",
    "wh|sec_|~A32",
    "SK|~h32",
    "S|G.|~w22|.|~w43",
    "key|-|~h32",
    "~h32|-us|~d2",
    "np|m_|~A36",
    "py|pi-|AgEIcHlwaS5vcmc|~w60",
    "h|f_|~A34",
    "M|~A23|.|~w6|.|~w38",
    "https://discord.com/api/web|hooks/|~d18|/|~w68",
    "~d10|:AA|~w33",
    "ya|29.|~w60",
    "GOC|SPX-|~w28",
    "1/|/0|~w60",
    "do|p_v1_|~h64",
    "da|pi|~h32",
    "shp|at_|~h32",
    "sq0|atp-|~w22",
    "EA|AC|~A120",
    "ATA|TT3|~w70",
    "nt|n_|~A46",
    "fi|gd_|~w40",
    "pat|~A14|.|~h64",
    "lin|_api_|~A40",
    "gl|sa_|~A32|_|~h8",
    "NR|AK-|~U27",
    "snt|rys_|~A64",
    "sb|p_|~h40",
    "ps|cale_tkn_|~w43",
    "d|p.pt.|~A43",
    "hv|s.|~w90",
    "~A14|.atl|asv1.|~w64",
    "pu|l-|~h40",
    "dck|r_pat_|~w27",
    "PM|AK-|~h24|-|~h34",
    "ruby|gems_|~h48",
    "r|8_|~A37",
    "gs|k_|~A52",
    "pp|lx-|~A48",
    "x|ai-|~A80",
    "tv|ly-|~A32",
    "nv|api-|~w64",
    "pc|sk_|~A60",
    "lsv2|_pt_|~h32|_|~h10",
    "j|ina_|~A55",
    "ts|key-auth-|~A16|-|~A30",
    "HR|KU-|~w36",
    "CF|PAT-|~w43",
    "access-|sandbox-|~h8|-|~h4|-|~h4|-|~h4|-|~h12",
    "xke|ysib-|~h64|-|~A16",
    "shi|ppo_live_|~h40",
    "dt0c|01.|~U24|.|~U64",
    "AKC|p|~A69",
    "rz|p_live_|~A14",
    "glc|_|~A60",
    "LT|AI|~A20",
    "AGE-|SECRET-KEY-1|~U58",
    "nv|mx_live_|~A32",
    "acme|_pat_|~A40",
    "oy|2|~l43",
    "v|ercel_|~A30",
]

CARRIERS = (
    "{}",
    "My key is {} if you need it.",
    "export SERVICE_KEY={}",
    "here you go: {}, thanks!",
    "User's token: {}",
    "Ich habe {} als Schlüssel eingetragen.",
    '{{"value": "{}"}}',
    "J'utilise {} pour le serveur de test.",
    "curl https://api.example.net/v1/items?key={}",
    "本番では {} を使っています。",
    "this one ({}) stopped working yesterday",
)

# Words about a password with the place for one; ~ marks what is built.
PASSWORDS = """
my password is ~
The password for the router is ~, don't lose it.
Password: ~
password=~
pw changed to ~: the new password is ~
User's email password is '~'.
I log in with user sam and password ~
~ is my password for everything
I use ~ as my password
My Netflix password: "~"
the admin password was ~ last year
passphrase: ~
Mein Passwort ist ~
Das Passwort für den Laptop lautet ~.
Kennwort: ~
Ich benutze ~ als Passwort.
Das Passwort wurde auf ~ geändert
Mon mot de passe est ~
Le mot de passe du serveur : ~
mdp: ~
~ est mon mot de passe
Mi contraseña es ~
La contraseña del correo es ~.
contraseña: ~
La clave es ~
Minha senha é ~
A senha do banco é ~
senha: ~
A minha palavra-passe é ~
La mia password è ~
La password del computer è: ~
La parola d'ordine è ~
Mijn wachtwoord is ~
Het wachtwoord van mijn mail: ~
Moje hasło to ~
hasło: ~
Мой пароль ~
пароль от почты: ~
Пароль: ~
~ — мой пароль
我的密码是~
密码：~
邮箱密码是 ~
パスワードは~です
パスワード: ~
비밀번호는 ~ 입니다
비밀번호: ~
Şifrem ~
Şifre: ~
Mật khẩu của tôi là ~
Kata sandi saya adalah ~
كلمة المرور الخاصة بي هي ~
मेरा पासवर्ड ~ है
รหัสผ่าน: ~
הסיסמה שלי היא ~
Mitt lösenord är ~
Min adgangskode er ~
Moje heslo je ~
A jelszavam: ~
Parola mea este ~
Ο κωδικός μου είναι ~
DB_PASSWORD=~
"password": "~",
spring.datasource.password: ~
  smtp_pass = '~'
mysql -u root -p~ shop
sshpass -p ~ ssh deploy@example.net
curl -u sam:~ https://example.net/private
Server=db.example.net;Database=shop;User Id=sa;Password=~;
Login: sam / Password: ~
""".strip().splitlines()
CHOSEN = (
    "hunter|2",
    "Sommer|2024!",
    "tr0ub4d|or&3",
    "Kedi|1907",
    "p@ss|w0rd!",
    "BlueSky|2031",
    "q7!vR|2#mK",
    "correct-horse-|41",
    "Xy9$|lmQw",
    "dragon|fly77",
    "N3v3r|gu3ss",
    "letmein|123",
)
WIFI = """
The wifi password is ~
WLAN-Passwort: ~
WLAN-Schlüssel: ~
Wi-Fi key: ~
Le mot de passe wifi est ~
La clave del wifi es ~
A senha do wifi é ~
WiFi密码是~
пароль от вайфая ~
WIFI:T:WPA;S:Home;P:~;;
wifi: HomeNet, password: ~
network key: ~
""".strip().splitlines()
CODES = """
My PIN is #4
The PIN for my card is #4.
PIN: #4
pin code #4
#4 is my PIN
The alarm code at home is #4
Door code: #5
The gate code is #4#
Your verification code is #6
#6 is your verification code
G-#6 is your Google verification code.
OTP: #6
One-time code #6, do not share it
Meine Geheimzahl ist #4
Meine PIN lautet #4
Der Alarmcode ist #4.
Dein Bestätigungscode lautet #6
Mon code PIN est #4
Votre code de vérification est #6
Le code de la porte est #4
Mi PIN es #4
Tu código de verificación es #6
Meu PIN é #4
Seu código de verificação é #6
Il mio PIN è #4
Mijn pincode is #4
Мой пин-код #4
Код подтверждения: #6
验证码：#6
您的验证码是#6，请勿泄露
暗証番号は#4です
인증번호는 #6 입니다
Doğrulama kodu: #6
رمز التحقق: #6
CVV: #3x
backup code: ~B
I unlock my phone with the code #6
Security code #6
The safe combination is #2-#2-#2
PUK #8
""".strip().splitlines()
LINES = """
API_KEY=~A32
export OPENAI_API_TOKEN="~A40"
SECRET_KEY_BASE=~h64
client_secret: ~A30
"apiKey": "~A28",
aws_secret_access_key = ~b40
JWT_SECRET=~A24
auth_token='~h32'
my api key is ~A24
the api key for weather is ~h32
Mein API-Schlüssel ist ~A32
Ma clé API est ~A32
Mi clave de API es ~A32
Minha chave de API é ~A32
La mia chiave API è ~A32
Мой API-ключ: ~A32
我的API密钥是~A32
APIキーは~A32です
API 키는 ~A32
API anahtarım: ~A32
access token: ~A36
Bearer ~A44
Authorization: Bearer ~A40
Authorization: Basic ~A24==
X-Api-Key: ~A32
token ~h40
secret = "~A20"
here is the key you asked for, keep it safe: ~A33
The token that I got yesterday from the admin is ~A22
--token=~A26
credentials: sam / ~A18x9
ENCRYPTION_KEY: ~b43=
STRIPE_WEBHOOK_SECRET=~A28
Mijn API-sleutel is ~A30
Klucz API: ~A30
""".strip().splitlines()
ADDRESSES = """
postgres://sam:~A12@db.example.net:5432/shop
postgresql+asyncpg://app:~A16@10.0.0.5/app
mysql://root:~A10@localhost/wordpress
mongodb+srv://admin:~A14@cluster0.example.net/?retryWrites=true
redis://:~A20@cache.example.net:6379/0
amqp://guest:~A9@rabbit.example.net
https://sam:~A12@git.example.net/repo.git
ftp://upload:~A11@files.example.net/in
smtps://mailer:~A13@smtp.example.net:465
https://~A40@github.com/acme/private.git
DATABASE_URL=postgres://u1:~A18@h.example.net/d
sftp://backup:~A8!x@nas.example.net
DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=~b86==
jdbc:postgresql://db.example.net/app?user=sam&password=~A12
https://acme.example.net/data?sv=2024-01-01&sig=~A44%3D
""".strip().splitlines()
COOKIES = """
Cookie: sessionid=~A32; theme=dark
Set-Cookie: auth=~A40; HttpOnly; Secure
PHPSESSID=~l26
JSESSIONID=~U32
connect.sid=s%3A~A32.~A43
document.cookie says session=~A36
cookie: _gh_sess=~A60; logged_in=yes
csrftoken=~A32
session_id: ~h32
XSRF-TOKEN=~A40
""".strip().splitlines()
# Words of the BIP-39 list; a random choice of twelve has a valid checksum once in sixteen.
PHRASE_WORDS = [
    "ribbon",
    "garden",
    "orchard",
    "velvet",
    "puzzle",
    "amateur",
    "cactus",
    "dolphin",
    "museum",
    "hockey",
    "tunnel",
    "walnut",
    "pigeon",
    "rocket",
    "sunset",
    "ticket",
    "umbrella",
    "violin",
    "window",
    "zebra",
    "bamboo",
    "castle",
    "dentist",
    "eagle",
    "fabric",
    "galaxy",
    "hammer",
    "island",
    "jungle",
    "kitten",
    "ladder",
    "magnet",
    "napkin",
    "oxygen",
    "pepper",
    "quantum",
    "raccoon",
    "salmon",
    "tobacco",
    "uncle",
    "valley",
    "wagon",
    "yellow",
    "absurd",
    "broccoli",
    "copper",
    "donkey",
    "enroll",
    "fossil",
    "giraffe",
    "helmet",
    "insect",
]
OTHER_WORDS = {
    "es": [
        "mesa",
        "lápiz",
        "árbol",
        "ratón",
        "cielo",
        "nube",
        "fuego",
        "piedra",
        "barco",
        "campo",
        "diente",
        "espejo",
    ],
    "fr": [
        "abeille",
        "bonbon",
        "cactus",
        "danger",
        "encre",
        "fusil",
        "girafe",
        "hiver",
        "ivoire",
        "jardin",
        "koala",
        "lueur",
    ],
    "de": [
        "apfel",
        "baum",
        "dorf",
        "ebene",
        "feder",
        "garten",
        "hafen",
        "insel",
        "jacke",
        "kamel",
        "lampe",
        "mauer",
    ],
    "ja": [
        "あいこくしん",
        "あいさつ",
        "あいだ",
        "あおぞら",
        "あかちゃん",
        "あきる",
        "あけがた",
        "あける",
        "あこがれる",
        "あさい",
        "あさひ",
        "あしあと",
    ],
    "zh": ["的", "一", "是", "在", "不", "了", "有", "和", "人", "这", "中", "大"],
}
PHRASES = """
My seed phrase is {}
seed phrase: {}
Recovery phrase:
{}
{}
My wallet words are {}
Wiederherstellungsphrase: {}
Ma phrase de récupération : {}
Mi frase semilla es {}
Minha frase de recuperação é {}
Моя сид-фраза: {}
助记词：{}
mnemonic = "{}"
""".strip().splitlines()


@dataclass(frozen=True)
class MadeUp:
    """A text with the secret that it holds, and of what sort it is."""

    id: str
    sort: str
    text: str
    secret: str


class _Maker:
    def __init__(self) -> None:
        self._random = random.Random(SEED)
        self.made: list[MadeUp] = []

    def signs(self, alphabet: str, count: int) -> str:
        """Chance signs with a letter and two figures at least, where the alphabet has them."""
        pool = _ALPHABETS[alphabet]
        while True:
            made = "".join(self._random.choices(pool, k=count))
            figures = sum(sign.isdigit() for sign in made)
            mixed = alphabet == "d" or (figures >= min(2, count // 4) and figures < count)
            if mixed and made[-1] not in "-_/+" and made[0] not in "-_/+":
                return made

    def key(self, spec: str) -> str:
        """A key of its pieces."""
        parts: list[str] = []
        for piece in spec.split("|"):
            if (
                len(piece) > 2
                and piece[0] == "~"
                and piece[1] in _ALPHABETS
                and piece[2:].isdigit()
            ):
                parts.append(self.signs(piece[1], int(piece[2:])))
            elif len(piece) == 3 and piece[0] == "~" and piece[2].isdigit():
                parts.append(self.signs(piece[1], int(piece[2])))
            else:
                parts.append(piece)
        return "".join(parts)

    def add(self, sort: str, text: str, secret: str) -> None:
        """One more sample."""
        self.made.append(MadeUp(f"{sort}-{len(self.made)}", sort, text, secret))

    def filled(self, line: str) -> tuple[str, str]:
        """A line with ``~A20`` places filled, and the longest of what filled them."""
        out: list[str] = []
        longest = ""
        at = 0
        while at < len(line):
            if line[at] == "~" and line[at + 1 : at + 2] in _ALPHABETS:
                end = at + 2
                while end < len(line) and line[end].isdigit() and end - at < 4:
                    end += 1
                made = self.signs(line[at + 1], int(line[at + 2 : end]))
                longest = max(longest, made, key=len)
                out.append(made)
                at = end
            else:
                out.append(line[at])
                at += 1
        return "".join(out), longest

    def private_key(self, label: str) -> str:
        """A private key in PEM, of chance."""
        dashes = "-" * 5
        body = "\n".join(self.signs("b", 64) for _ in range(5))
        return f"{dashes}BEGIN {label}{dashes}\n{body}\n{dashes}END {label}{dashes}"

    def web_token(self) -> str:
        """A JSON web token whose signature is chance."""

        def part(text: str) -> str:
            return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

        number = self._random.randrange(10**6)
        head = part('{"alg":"HS256","typ":"JWT"}')
        body = part(json.dumps({"sub": str(number), "role": "user"}))
        return f"{head}.{body}.{self.signs('w', 43)}"

    def number(self, count: int) -> str:
        """Figures that are no year."""
        first = self._random.choice("3456789")
        return first + "".join(self._random.choices("0123456789", k=count - 1))


def _issued(maker: _Maker) -> None:
    for number, spec in enumerate(ISSUED):
        key = maker.key(spec)
        maker.add("issued", CARRIERS[number % len(CARRIERS)].format(key), key)


def _told(maker: _Maker) -> None:
    for number, line in enumerate(PASSWORDS + WIFI):
        chosen = CHOSEN[number % len(CHOSEN)].replace("|", "")
        sort = "password" if number < len(PASSWORDS) else "wifi"
        maker.add(sort, line.replace("~", chosen), chosen)
    for line in LINES + ADDRESSES + COOKIES:
        text, secret = maker.filled(line)
        maker.add(
            "line" if line in LINES else "address" if line in ADDRESSES else "cookie", text, secret
        )


def _codes(maker: _Maker) -> None:
    for line in CODES:
        text = line
        secret = ""
        for count in (2, 3, 4, 5, 6, 8):
            while f"#{count}" in text:
                if text.endswith("#3x"):
                    made = maker.number(4)
                    text = text.replace("#3x", made)
                else:
                    made = maker.number(count)
                    text = text.replace(f"#{count}", made, 1)
                secret = made
        if "~B" in text:
            secret = f"{maker.signs('l', 5)}-{maker.signs('l', 5)}"
            text = text.replace("~B", secret)
        maker.add("code", text, secret)


def _keys(maker: _Maker) -> None:
    for label in ("RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"):
        key = maker.private_key(label)
        maker.add("private", key, key)
        maker.add("private", f"Can you store this?\n\n{key}\n\nThanks", key)
    pgp = maker.private_key("PGP PRIVATE KEY BLOCK")
    maker.add("private", pgp, pgp)
    escaped = maker.private_key("PRIVATE KEY").replace("\n", "\\n")
    maker.add("private", f'"private_key": "{escaped}\\n"', escaped)
    cut = maker.private_key("ENCRYPTED PRIVATE KEY")[:200]
    maker.add("private", f"It begins {cut}", cut)
    for carrier in CARRIERS:
        token = maker.web_token()
        maker.add("token", carrier.format(token), token)


def _phrases(maker: _Maker) -> None:
    for number, line in enumerate("\n".join(PHRASES).replace(":\n{}", ":NL{}").splitlines()):
        words = random.Random(number).sample(PHRASE_WORDS, (12, 15, 18, 24)[number % 4])
        phrase = " ".join(words)
        maker.add("phrase", line.replace("NL", "\n").format(phrase), phrase)
    listed = "\n".join(f"{at}. {word}" for at, word in enumerate(PHRASE_WORDS[:12], 1))
    maker.add("phrase", listed, "\n".join(listed.splitlines())[3:])
    commas = ", ".join(PHRASE_WORDS[20:32])
    maker.add("phrase", f"Wallet backup: {commas}.", commas)
    lead = {
        "es": "Mi frase de recuperación: ",
        "fr": "phrase de récupération: ",
        "de": "Meine 12 Wörter: ",
        "ja": "リカバリーフレーズ: ",
        "zh": "助记词: ",
    }
    for language, words in OTHER_WORDS.items():
        phrase = " ".join(words)
        maker.add("phrase", lead[language] + phrase, phrase)


def _disguised(maker: _Maker) -> None:
    def wide(text: str) -> str:
        return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)

    for spec in (
        "gh|p_|~A36",
        "sk|-|~A48",
        "AK|IA|~U16",
        "gl|pat-|~A20",
        "xo|xb-|~d12|-|~d12|-|~A24",
    ):
        key = maker.key(spec)
        hidden = "\u200b".join((key[:9], key[9:15], key[15:]))
        maker.add("disguised", f"Key {hidden} here", hidden)
        full = wide(key)
        maker.add("disguised", f"Key {full} here", full)
    for line, secret in (("password： {}", "hunter|2"), ("p\u00adassword: {}", "Kedi|1907")):
        chosen = secret.replace("|", "")
        maker.add("disguised", line.format(chosen), chosen)


def made_up_secrets() -> list[MadeUp]:
    """All of them, in a fixed order."""
    maker = _Maker()
    for build in (_issued, _told, _codes, _keys, _phrases, _disguised):
        build(maker)
    return maker.made
