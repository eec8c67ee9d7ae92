"""The words that announce a secret, in thirty languages, as data.

Lower case; found as they stand, within longer words as well, so that ``db_password`` and
``Wifipasswort`` need no entry of their own.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

SecretSort = Literal["password", "code", "key", "phrase", "nothing"]

_ANNOUNCING: Mapping[SecretSort, str] = {
    "password": "password|passwd|pass word|passwort|paßwort|passwörter|kennwort|losungswort"
    "|mot de passe|mots de passe|mdp|contraseña|contrasena|contrasenya|palabra de paso|clave"
    "|senha|palavra-passe|palavra passe|parola d'ordine|parola|wachtwoord|hasło|haslo|heslo|geslo"
    "|lozinka|lozinku|лозинка|пароль|пароля|паролем|паролю|парола|密码|密碼|口令|暗码"
    "|パスワード|パスフレーズ|비밀번호|암호|패스워드|şifre|sifre|mật khẩu|kata sandi|kata laluan"
    "|كلمة المرور|كلمة السر|كلمة مرور|كلمة سر|رمز عبور|گذرواژه|पासवर्ड|পাসওয়ার্ড|کوڈ ورڈ|پاس ورڈ"
    "|รหัสผ่าน|סיסמה|סיסמא|κωδικός|κωδικος|συνθηματικό|lösenord|adgangskode|kodeord|passord"
    "|salasana|jelszó|jelszav|slaptažodis|parole|parool|пароли|кодова дума|nenosiri|wagwoord"
    "|passphrase|passcode|passkey|pwd|db_pass|_pass|smtp_pass|login:|credentials"
    "|wifi key|wi-fi key|wlan-schlüssel|wlan key|network key|wpa key|wpa2 key|wpa-psk|wifi code"
    "|clé wifi|clé wi-fi|clave wifi|clave del wifi|netzwerkschlüssel|wifi pass|wi-fi pass"
    "|code wifi|code wi-fi|code du wifi|pw"
    "|wlan-code|wifi pw|chave do wifi|chiave wifi|wifi的|wi-fi的|pswd|psswd|pasword|passwrd"
    "|passw:|pass phrase|pass code|wifi password|wi-fi password|wifi passwort|wi-fi passwort"
    "|wifiのパス|wi-fiのパス|باسورد|باسوورد|security answer|secret answer"
    "|security question answer|sicherheitsantwort|réponse secrète"
    "|respuesta secreta|respuesta de seguridad|risposta segreta|resposta secreta|секретный ответ"
    "|密保答案|秘密の答え|كلمة مروري|كلمة سري|رمز المرور|कूटशब्द",
    "code": "pincode|pin code|pin-code|pin|geheimzahl|otp|one-time code|one time code"
    "|one-time pass|einmalcode|einmalpasswort"
    "|einmal-code|mtan|tan |verification code|verify code|confirmation code|security code"
    "|login code|log-in code|sign-in code|signin code|access code|entry code|door code|gate code"
    "|alarm code|garage code|lock code|lockbox code|safe code|unlock code|backup code"
    "|recovery code|reset code|auth code|authentication code|authenticator code|2fa|mfa code"
    "|two-factor code|sms code|keypad code|voicemail code|building code|buzzer code|passcode"
    "|verifizierungscode|bestätigungscode|sicherheitscode|freischaltcode|zugangscode|türcode"
    "|alarmcode|entsperrcode|anmeldecode|tresorcode|zahlencode|code de vérification"
    "|code de verification|code de sécurité|code d'accès|code de confirmation|code de validation"
    "|code secret|code de la porte|code de l'immeuble|code de l'alarme|code d'alarme|digicode"
    "|code à usage unique|código de verificación|código de seguridad|código de acceso"
    "|código de la puerta|código de la alarma|código de confirmación|código secreto|código pin"
    "|código de verificação|código de segurança|código de acesso|código do alarme|código da porta"
    "|código de confirmação|codice di verifica|codice di sicurezza|codice di accesso"
    "|codice segreto|codice della porta|codice dell'allarme|codice di conferma|codice usa e getta"
    "|verificatiecode|beveiligingscode|toegangscode|alarmcode|deurcode|kod weryfikacyjny"
    "|kod dostępu|kod do |doğrulama kodu|güvenlik kodu|код подтверждения|код из смс|код доступа"
    "|код безопасности|код от |код домофона|одноразовый код|одноразовый пароль|пин-код|пинкод|пин"
    "|验证码|驗證碼|校验码|动态码|取款密码|門鎖密碼|門禁密碼|门禁码|認証コード|確認コード"
    "|暗証番号|パスコード|ワンタイム|セキュリティコード|인증번호|인증 번호|인증 코드|확인 코드"
    "|보안 코드"
    "|핀번호"
    "|رمز التحقق|رمز الدخول|رمز الأمان|الرقم السري|رقم سري|ओटीपी|पिन|सत्यापन कोड|กดรหัส|รหัส"
    "|mã otp|mã pin|mã xác|kode otp|kode verifikasi|kode pin|cvv|cvc|puk|combination"
    "|my code|your code|the code|dein code|ihr code|mein code|der code|votre code|ton code|mon code"
    "|le code|tu código|su código|mi código|el código|o código|seu código|il codice|il tuo codice"
    "|twój kod|kodunuz|ваш код|твой код|unlock",
    "key": "api key|api-key|api_key|apikey|api keys|access key|access-key|access_key|accesskey"
    "|secret|private key|private_key|encryption key|signing key|signing_key|master key|master_key"
    "|privatekey|secretkey|presharedkey|preshared key|pre-shared key"
    "|account key|account_key|service key|service_key|storage key|deploy key|_key|token|credential"
    "|bearer|session cookie|session-cookie|auth cookie|sessioncookie|sitzungscookie"
    "|cookie de session|cookie de sesión|cookie di sessione|cookie de sessão|openai key"
    "|azure key|aws key|google key|gemini key|anthropic key|claude key"
    "|gpt key|openrouter key|deepl key|maps key|github key|stripe key|twilio key|mistral key"
    "|groq key|cohere key|datadog key|rapidapi key|cloudflare key|license key|licence key"
    "|product key|activation key|dsn|webhook|auth_|auth=|authkey"
    "|api-schlüssel|api schlüssel|zugangsschlüssel|schlüssel|clé api|clé d'api|clef api|clé secrète"
    "|clé d'accès|jeton|clave api|clave de api|clave de la api|clave secreta|clave de acceso"
    "|llave api|ficha de acceso|chave api|chave de api|chave da api|chave secreta|chave de acesso"
    "|chiave api|chiave segreta|chiave di accesso|gettone|ключ|токен|секрет|密钥|密鑰|金鑰"
    "|令牌|秘钥"
    "|apiキー|api キー|アクセスキー|シークレット|秘密鍵|トークン|키는|api 키|api키|토큰|시크릿"
    "|api anahtarı|anahtar|klucz|sleutel|مفتاح|توكن|رمز الوصول|कुंजी|टोकन|khóa api|kunci api"
    "|chìa khóa|nyckel"
    "|nøgle|nøkkel|avain|klíč|kľúč|kulcs|cheie|κλειδί|מפתח|the key|my key|our key|key:|key is",
    "phrase": "seed phrase|seedphrase|recovery phrase|backup phrase|secret phrase|mnemonic"
    "|recovery words|seed words|secret words|backup words|wallet seed|recovery seed|seed is|seed:"
    "|12 words|24 words|twelve words|twenty-four words|12-word|24-word|wiederherstellungsphrase"
    "|wiederherstellungswörter|seed-phrase|12 wörter|24 wörter|phrase de récupération"
    "|phrase secrète|phrase de recuperation|12 mots|24 mots|frase semilla|frase de recuperación"
    "|frase de recuperacion|12 palabras|24 palabras|frase-semente|frase semente"
    "|frase de recuperação|12 palavras|24 palavras|frase di recupero|frase seed|12 parole"
    "|24 parole|сид-фраз|seed-фраз|сид фраз|мнемоническ|фраза восстановления|фразу восстановления"
    "|12 слов|24 слова|助记词|助記詞|リカバリーフレーズ|シードフレーズ|ニーモニック|니모닉"
    "|시드 구문"
    "|복구 구문|시드 문구|kurtarma ifade|gizli kelime|herstelzin|herstelwoorden|fraza odzyskiwania"
    "|عبارة الاسترداد|العبارة السرية|सीड फ्रेज|cụm từ khôi phục|frasa pemulihan|wallet words",
    # They hold one of the words above and announce no secret.
    "nothing": "cache key|cache-key|cache_key|cachekey|public key|public-key|public_key|publickey"
    "|publishable key|publishable_key|site key|sitekey|site_key|foreign key|foreign_key"
    "|partition key|partition_key|sort key|idempotency key|idempotency-key|idempotency_key"
    "|gpio pin|arduino pin|pin header|host key|key fingerprint|page token|page_token|pagetoken",
}
# Latin words this short stand in many others; these must stand alone.
ALONE = frozenset(
    "pin|otp|puk|cvv|cvc|pw|pwd|mdp|2fa|dsn|clave|parola|parole|senha|heslo|geslo|tan "  # noqa: SIM905 - shorter
    "|пин|jeton|secret|combination|unlock|anahtar|klucz|kulcs|cheie|avain|sleutel"
    "|nyckel|schlüssel|ключ|hasło|haslo|credential|webhook|bearer|mtan|gettone"
    "|passkey".split("|")
)


@cache
def announcing_words() -> tuple[tuple[str, SecretSort], ...]:
    """Each word with the sort of secret that it announces."""
    return tuple((word, sort) for sort, words in _ANNOUNCING.items() for word in words.split("|"))


# Between the announcing word and its secret: signs, or the small words that say "is" and "to".
LINK_SIGNS = r"[\"'`*_\])]{0,4}\s{0,3}(?:[:=：]{1,2}>?|=>|->|→|⇒|—|–| - )\s{0,4}"
LINK_WORDS = (
    r"(?:is still|is now|is currently|is set to|was set to|is just|is simply|is called|will be|is"
    r"|was|are|to be|to|be|ist jetzt|ist nun|ist|war|lautet|lauten|heißt|zu|auf|est désormais|est"
    r"|c'est|sera|en|sont|es ahora|es|era|son|será|é agora|é|foi|são|para|è|era|sono|jest|to|na"
    r"|это|теперь|на|такой|is het|are het|är|er|on|je|byl|van|este|olarak|adalah|là|είναι|هو|هي|है"
    r"|הוא|היא|ni|equals|reads)"
)
LINK_UNSPACED = r"(?:是|为|為|：|は|が|を|は「|是「|改成|改为|設為|は、|은|는|이|가|を|คือ|เป็น)"
# A word in the place of a secret that says something about it.
SAYING = frozenset(
    "wrong incorrect invalid valid long short weak strong secure safe required needed necessary"  # noqa: SIM905 - shorter
    " optional mandatory missing empty blank unknown none null true false undefined unchanged"
    " changed expired expiring hashed encrypted encoded stored saved hidden stolen written given"
    " leaked compromised forgotten lost good bad easy hard simple complicated complex confidential"
    " private public secret sensitive temporary permanent essential important critical personal"
    " different identical same unique special static generic automatic basic based also always"
    " never not now only just still too very really quite already about what where when which who"
    " that this these those there here something anything nothing everything correct case"
    " everywhere working failing changing shared protected generated available visible stronger"
    " weaker longer shorter better worse ready done fine broken random on off in at by from for the"
    " a an my your our his her their its it and or but if used being made of to set reset enter"
    " entered your-password yourpassword password passwords passwd pass pwd passphrase passwort"
    " kennwort contraseña senha motdepasse wachtwoord пароль tbd todo n/a redacted masked removed"
    " placeholder example string str text int bool changeme silly prompt input env getenv empty"
    "_string"
    " solid crap bogus fake real legit weird odd tricky clever smart sound vulnerable open closed"
    " locked blocked down up live active inactive classic common rare typical usual normal regular"
    " mixed outdated safe include omit same-origin provided awful terrible horrible awesome"
    " great cool funny stupid dumb lame insane crazy hilarious ancient"
    " old older new newer recent original default identical similar obvious unbreakable perfect"
    " important useless useful enough okay ok yes no maybe both neither either gone lost dead alive"
    " english spanish german french somewhere inside outside elsewhere online offline written below"
    " above next previous first second third plain plaintext alphanumeric numeric reused compulsory"
    " history garbage trash rubbish nonsense nothing-special gibberish classified mine yours"
    " hers ours"
    " theirs me you him them us myself yourself me-only public-knowledge annoying long-ish"
    " too-short"
    " falsch richtig lang kurz sicher unsicher schwach stark geheim nötig erforderlich notwendig"
    " abgelaufen vergessen pflicht standard neu alt weg gleich leer unbekannt geändert gespeichert"
    " verschlüsselt wichtig einfach kompliziert zu nicht noch immer schon sehr nur auch mein dein"
    " doof blöd dumm toll super prima okay gut schlecht egal fertig da hier dort gesperrt kaputt"
    " weg deaktiviert gültig ungültig bekannt öffentlich privat gelöscht"
    " sein ihr unser der die das ein eine im in mit für bei von und oder aber kein keine"
    " incorrecto incorrecta correcta segura seguro larga largo corta corto débil fuerte secreta"
    " olvidada obligatoria necesaria necesario vencida caducada demasiado muy no la el una un mi tu"
    " fatal genial horrible bueno buena malo mala nueva nuevo vieja viejo antigua igual distinta"
    " diferente mía tuya suya pública privada aquí ahí nada todo siempre nunca"
    " su fácil difícil importante válida inválida vacía guardada cifrada errada errado curta longa"
    " boa ruim nova novo velha velho antiga igual diferente secreta pública privada fácil difícil"
    " simples aqui nada tudo sempre nunca péssima ótima"
    " forte fraca esquecida obrigatória expirada muito não a o uma um minha meu sua seu guardada"
    " faux fausse incorrecte correcte sûr sûre long longue court courte faible fort forte oublié"
    " perdu obligatoire nécessaire expiré trop très pas le la les un une mon ton son notre dans"
    " invalide solide valide vide rapide nul nulle bon bonne mauvais mauvaise nouveau nouvelle"
    " ancien ancienne bizarre bête identique"
    " différent public privé personnel secret ici rien tout toujours jamais simple compliqué"
    " requis vide chiffré enregistré unique sbagliata sbagliato corretta sicura lunga corta debole"
    " brutta bella buona cattiva nuova nuovo vecchia vecchio uguale diversa diverso segreta"
    " pubblica"
    " privata facile difficile semplice complessa qui niente tutto sempre mai cambiata"
    " dimenticata obbligatoria scaduta troppo molto non il lo una mia tua sua salvata важен важный"
    " неверный неправильный правильный длинный короткий слабый сильный надёжный надежный забыт"
    " забыл нужен обязателен устарел изменён слишком очень не мой твой его её их сложный простой"
    " verkeerd juist sterk zwak vergeten verlopen verplicht te erg niet het een mijn błędne"
    " nieprawidłowe silne słabe za nie moje yanlış doğru güçlü zayıf çok bir güvenli कमजोर मजबूत"
    " गलत बहुत ضعيفة قوية خاطئة صحيحة سرية مهمة".split()
)
# By these a word says something about a password, in Latin and Cyrillic.
ADJECTIVE_ENDINGS = tuple(
    "ing ous ive ary ory ish like proof some able ible ful less ated ized ised ental onal ical"  # noqa: SIM905 - shorter
    " istic sensitive lich isch ig bar haft sam los iert igt eux euse ique if ée és ées ioso iosa"
    " roso rosa noso nosa ado ada ido ida ivo iva ato ata uto uta ico ica ísimo ísima issimo issima"
    " bile vel ный ная ное тый той кий кая лен лён нён ен".split()
)
# What holds figures and letters and is no password.
KNOWN_NAMES = frozenset(
    "sha256 sha-256 sha1 sha-1 sha512 sha-512 md5 base64 base32 bcrypt argon2 argon2id pbkdf2"  # noqa: SIM905 - shorter
    " 1password office365 microsoft365 o365 m365 oauth2 oauth2.0 utf8 utf-8 wpa2 wpa3 2fa mfa ps4"
    " ps5 win10 win11 windows10 windows11 web2py iso27001 ec2 s3 k8s h264 mp3 mp4 ipv4 ipv6 aes256"
    " aes-256 aes128 aes-128 rsa4096 rsa-2048 rs256 hs256 es256 ed25519 x509 5ghz 2.4ghz 4g 5g"
    " gpt-4 gpt4 gpt-4o gpt-5 claude-3 python3 365 24/7 covid-19 b2b p2p log4j i18n a11y 3d 2d"
    " sha3-256 base58 nist800-63b a1 b2 c1 2fa-app pass1 iphone15 iphone16 iphone14".split()
)
# A figure before one of these is an amount.
UNITS = (
    r"\s?(?:characters?|chars?|digits?|letters?|symbols?|words?|days?|hours?|minutes?|mins?"
    r"|seconds?"
    r"|secs?|weeks?|months?|years?|times?|people|users?|tokens?|bits?|bytes?|[kmg]b|mm|cm|km|px|pt"
    r"|ms|usd|eur|euros?|dollars?|€|\$|%|zeichen|stellen|stellig|ziffern|tage|stunden|minuten"
    r"|sekunden|jahre|wochen|caractères|chiffres|lettres|jours|heures|caracteres|dígitos|cifras"
    r"|letras|días|dias|horas|minutos|caratteri|cifre|giorni|символ|цифр|дней|часов|минут|tekens"
    r"|cijfers|znaków|cyfr|karakter|位|个|個|文字|桁|字|자리|자|天|小时|分|秒)"
)
