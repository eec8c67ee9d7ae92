"""Texts that look as if they held a secret and hold none; made up."""

# ruff: noqa: PERF401 - one kind after another reads better

from __future__ import annotations

import random
import string
import uuid

SEED = 4_711

SENTENCES = """
my password manager is Bitwarden
I forgot my password again
please set API_KEY=YOUR_API_KEY in the env file
export OPENAI_API_KEY=<your key here>
OPENAI_API_KEY=sk-...
password: ${DB_PASSWORD}
token: {{ secrets.GITHUB_TOKEN }}
commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed it
git sha e83c5163316f89bfbde7d9ab23ca2e25604af290
my uuid is 550e8400-e29b-41d4-a716-446655440000
request id 7c9e6679-7425-40de-944b-e07fc1f90ae7
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
SGVsbG8gd29ybGQsIHRoaXMgaXMgcGxhaW4gdGV4dA==
the password must have at least 12 characters
the password field is required
Password is case sensitive
my password is too weak
my password is very long
change your password every 90 days
what is a good password?
the secret to good bread is time
The key is under the mat
the key to success is practice
the token is expired
max tokens: 4096
each token costs 0.002 dollars
token limit is 128000
the public key is in the repo
ssh-keygen -t ed25519 -C "me"
sk-learn is a library
pk_live is the prefix of public keys
the cookie recipe needs butter
cookies: chocolate chip
I seed tomatoes in March
seed phrase backups should be on steel
a seed phrase has 12 or 24 words
PIN codes have four digits
pin the message please
the pinout of pin 4 and pin 12
mein Passwort-Manager ist KeePass
ich habe mein Passwort vergessen
j'ai oublié mon mot de passe
he olvidado mi contraseña
мой менеджер паролей Bitwarden
я забыл пароль
我忘记了密码
密码太短了
パスワードを忘れました
비밀번호를 잊어버렸어요
esqueci minha senha
ho dimenticato la password
نسيت كلمة المرور
मैं अपना पासवर्ड भूल गया
JWT stands for JSON Web Token
bearer tokens go into the Authorization header
use basic auth with curl -u user:pass
https://example.com/reset?token=
data:image/png;base64,iVBORw0KGgoAAAANSUhEUg
the class is AbstractSingletonProxyFactoryBean
arn:aws:s3:::my-bucket/path
s3://bucket/key/with/path
postgres://localhost:5432/app
mongodb://db.example.com/test
redis://cache:6379/0
DB_PASSWORD=changeme
password=password
the wifi here is slow
secret santa is on Friday
the secret is out
my secret hobby is knitting
api keys should be rotated
I lost my API key
the API key is missing
the license key is missing
Lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod
about above absent abstract access is how the word list starts
session=none
theme=dark; lang=en
the code is 42 lines long
zip code is 90210
area code 212
error code 4821
verification code was never sent
OTP is short for one-time password
the alarm goes off at 6:30
the passphrase should have five words
My password has been changed
I use passkeys instead of passwords
auth token refresh fails with 401
secret_key is a setting in Django
AKIA is the prefix of AWS keys
ghp_ is the prefix for GitHub tokens
hf_hub_download is a function
npm_config_registry is set
xoxb tokens belong to bots
User's password manager is Bitwarden.
I always forget my password.
My password is too short.
The password is required.
The password must have at least 12 characters.
Password: required
Password: must be at least 8 characters long
password: ********
password=<your password>
Please reset your password under Settings > Account.
Is the password case-sensitive?
The password is wrong.
My password is stored in 1Password.
Passwords are hashed with SHA256 and a salt.
The password is hashed with bcrypt.
User changes passwords every 90 days.
User never shares passwords with anyone.
The password field of the form is empty.
Password length: 16 characters
User works on password hashing with argon2id.
The password for my PS5 got lost.
I use a different password for Office365.
The secret to a good sauce is patience.
User's secret ingredient is cinnamon.
It is a secret that the party takes place on 14 May.
User keeps no secrets from his wife.
The key to happiness is sleep.
The key is under the doormat.
User lost the key of the garage.
The house key is in the blue drawer.
User plays in the key of C minor.
User's favourite key on the keyboard is F12.
primary_key: id
foreign_key=user_id
key: value
The API key goes into the header X-Api-Key.
API keys should be rotated every 30 days.
export API_KEY=$MY_API_KEY
api_key = os.environ["API_KEY"]
OPENAI_API_KEY=your_api_key_here
API_KEY=<insert key>
token: null
max_tokens=4096
The context is 128000 tokens long.
User bought 250 tokens at the arcade.
The token limit of the model is 200k.
The tokenizer splits words at spaces.
User's token of appreciation was a bottle of wine.
As a token of thanks, User baked 24 muffins.
Bearer bonds are old-fashioned.
The bearer of this letter is my cousin.
User wrote an article on JWT authentication.
Authorization: Bearer <token>
The cookie recipe needs 200 g of butter.
User loves cookies: oatmeal and chocolate.
Cookie: theme=dark
User accepts no third-party cookies.
The session starts at 09:30.
User's PIN board is full of postcards.
User pins recipes on a cork board.
The GPIO pin 17 blinks.
Pin 4 of the chip is ground.
The PIN has four digits.
User forgot the PIN of his card.
The PIN is 4 digits long.
PIN codes expire after 30 days.
PIN: four digits
The zip code is 94103.
User's postal code is 10115.
The area code is 0221.
The dress code is smart casual.
Error code 404 shows up again.
The exit code is 1.
The HTTP status code is 5031.
The discount code expires on Friday.
User writes source code in Rust.
The code is reviewed by two people.
The verification code did not arrive.
User never gets the verification code by SMS.
The code expires at 18:30.
The building has 24 floors and a door code.
User scanned a QR code at the museum.
User's country code is +49.
The bar code of the milk is 4006381333931.
The barcode number is 4006381333931.
The safe combination of vitamins is A, C and E.
A combination of 1200 calories and walking worked.
User unlocked 3500 points in the game.
User unlocks the phone with a fingerprint.
The alarm code was changed last week.
User sets the alarm to 0630.
User's alarm rings at 6:30.
The OTP is valid for 3000 seconds.
One-time codes are sent by text message.
The CVV is on the back of the card.
Das Passwort ist falsch.
Das Passwort ist abgelaufen.
Mein Passwort ist zu kurz.
Das Passwort muss mindestens 12 Zeichen haben.
Passwort vergessen? Hier klicken.
Nutzer verwaltet Passwörter mit KeePass.
Der Schlüssel zum Erfolg ist Geduld.
Der Schlüssel liegt unter der Matte.
Die PIN ist vierstellig.
Die Postleitzahl ist 50667.
Der Code ist gut lesbar.
Nutzer hat 2500 Codezeilen geschrieben.
Le mot de passe est incorrect.
Mon mot de passe est trop court.
Le mot de passe doit contenir 12 caractères.
La clé du succès est la patience.
Le code postal est 75011.
Le code est prêt.
L'utilisateur aime le secret du bonheur.
La contraseña es incorrecta.
La clave del éxito es la paciencia.
La clave es dormir bien.
Mi contraseña es muy larga.
El código postal es 28013.
El código fuente está en GitHub.
La clave está debajo del felpudo.
A senha está errada.
A minha senha é muito curta.
A chave do sucesso é a paciência.
O código postal é 1200-109.
La password è sbagliata.
La parola d'ordine è pazienza e amore.
Il codice postale è 00184.
La chiave del successo è la costanza.
Het wachtwoord is verkeerd.
Hasło jest za krótkie.
Пароль неверный.
Пароль должен содержать 12 символов.
Ключ к успеху — терпение.
Почтовый индекс 101000.
Код написан на Python.
密码错误。
密码至少需要8个字符。
成功的关键是耐心。
验证码没有收到。
邮政编码是100080。
パスワードが間違っています。
パスワードは8文字以上です。
郵便番号は100-0001です。
비밀번호가 틀렸어요.
비밀번호는 8자 이상이어야 합니다.
Şifre yanlış.
Parola en az 8 karakter olmalı.
كلمة المرور خاطئة.
पासवर्ड गलत है।
Mật khẩu không đúng.
User is 182 cm tall and weighs 74 kg.
User was born in 1987 in Lyon.
User's flight is LH 1234 on 12 March.
User's car is a Golf GTI Mk7.
User's bike has the model number FX-2000B.
User's printer is an HP LaserJet M110we.
User's laptop is a ThinkPad X1 Carbon Gen 11.
The part number is 8E0-145-805-R.
Order 302-8841234-9912345 was delivered.
Invoice RE-2024-000481 is paid.
The tracking number is 1Z999AA10123456784.
The ISBN is 978-3-16-148410-0.
ISBN 9780306406157 is the book User likes.
The serial number is SN-4K7J-22XQ-9981.
User's library card says 21234005678901.
MAC addresses look like 00:1A:2B:3C:4D:5E.
The DOI is 10.1000/xyz123.
arXiv:1706.03762 is User's favourite paper.
The chess game began 1.e4 e5 2.Nf3 Nc6 3.Bb5.
CSS colour #ff8800 is User's brand colour.
The file is called IMG_20240511_183045.jpg.
See https://example.org/a/b?id=12345&lang=en for details.
The URL is https://docs.example.org/en/latest/api/reference.html#authentication
Use postgres://user:password@host:5432/db as the format.
Connect with mysql://<user>:<password>@localhost/test.
The host is db.example.net:5432.
ssh deploy@example.net works without a password.
User deploys with git@github.com:acme/site.git.
User's email is sam@example.net.
User's Discord name is sam#1234.
AKIA is the prefix of AWS access key ids.
Keys of OpenAI begin with sk- and those of GitHub with ghp_.
User uses sk-learn for machine learning.
User maintains sk-learn-pipeline-for-text-classification.
pk_live is the publishable prefix of Stripe.
The variable is called gh_pages_deploy_branch_name.
The class is AbstractSingletonProxyFactoryBeanConfiguration.
The test is test_user_can_reset_password_with_expired_token.
-----BEGIN CERTIFICATE----- is how a certificate starts.
A PEM file starts with -----BEGIN PRIVATE KEY----- and some base64.
-----BEGIN PUBLIC KEY-----
User's public key is on the server.
ssh-keygen -t ed25519 makes a key pair.
eyJ is how each JWT begins.
data:image/gif;base64 pictures are too large for User.
User prefers base64 to hex.
The seed phrase should be written on paper.
User wrote the seed phrase down and put it into a safe.
A recovery phrase has 12 or 24 words that you must never show to anybody at all.
User bought seeds: tomato, basil, mint, chives, parsley, dill, sage and thyme.
User's shopping list: milk eggs bread butter cheese apples rice beans onions garlic pepper salt
Twelve words make a poem and a poem makes one happy evening for two.
one two three four five six seven eight nine ten eleven twelve thirteen
red blue green yellow orange purple black white pink brown grey gold silver
Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June
wind over the lake / slow boats drift home in the dusk / my tea has gone cold
the moon is up and all is still and we walk home along the hill
User's cats are called mia, leo, luna, simba, nala, milo, coco, bella, max, lilly
User runs Kubernetes 1.29.3 with 12 nodes.
Python 3.11.7 is installed under /usr/local/lib/python3.11/site-packages
The build 20240511.3 passed.
The login page loads slowly.
Login: see the welcome mail
User logs in with Google.
User's Netflix password was shared by his sister.
User asked how long a password should be.
User says that "password123" style passwords are silly.
The passphrase is easy to remember.
The passcode is required at each start.
User learned the password dance in a game.
Secret Santa takes place on 20 December.
The Secret Garden is User's favourite book.
User's credentials are in order for the conference.
User has the credentials of a nurse.
User signs with his private key stored on a YubiKey.
Set the environment variable DATABASE_URL before the start.
The webhook fires each 15 minutes.
User's webhook listens on port 8080.
User's favourite band is Blink-182.
User's locker number is 4821.
User lives at house number 4821.
The room is 4821B.
The meeting id is 845 221 907.
User's frequent flyer number is 992004837712.
The train leaves at 14:32 from platform 12.
User paid 4821 euros for the sofa.
The phone number is 030 901820.
User's score is 482913 points.
User has 4821 photos from Norway.
User's Steam handle is dragonfly77.
User's Instagram handle is @blue.sky2031.
User's Minecraft world is called Kedi1907.
User's dog is called Hunter2.
The Wi-Fi at home is slow.
User's Wi-Fi router is a FritzBox 7590.
User's Wi-Fi network is called Home2G.
User named the WLAN FBI-Van-7.
The wifi password is on the fridge.
User asks guests not to share the wifi password.
The unlock animation takes 1500 ms.
The safe is behind the picture.
User's gym locker has a combination lock.
User's voicemail is full.
User collects vintage keys and locks.
The map key shows 12 symbols.
User's answer key has 40 answers.
Product key features: 12 hours battery, 300 g weight
The licence key was sent by mail.
The keynote is on 4 June 2025.
User's monkey: a plush one called Coco.
The turkey: 5200 g, 3 hours in the oven.
User's hockey team won 4:2.
""".strip().splitlines()


def _made(seed: int) -> list[str]:
    chance = random.Random(seed)

    def signs(pool: str, count: int) -> str:
        return "".join(chance.choices(pool, k=count))

    made: list[str] = []
    hexadecimal = "0123456789abcdef"
    for frame in (
        "Fixed in commit {}.",
        "The SHA-1 of the file is {}.",
        "git checkout {}",
        "See {} for the change.",
        "User's last commit was {}.",
        "HEAD is now at {} Fix the build",
        "Merge {} into main",
        "checksum: {}",
    ):
        made.append(frame.format(signs(hexadecimal, 40)))
    for frame in ("sha256:{}", "The image digest is sha256:{}", "SHA256 {} iso", "md5 {}"):
        made.append(frame.format(signs(hexadecimal, 32 if "md5" in frame else 64)))
    for frame in (
        "{}",
        "The order id is {}.",
        "Request {} failed.",
        "uuid: {}",
        "User's device is {}",
        "See ticket {} in the tracker.",
        "/api/items/{}/edit",
        "The trace id is {}",
    ):
        made.append(frame.format(uuid.UUID(int=chance.getrandbits(128), version=4)))
    picture = signs(string.ascii_letters + string.digits + "+/", 240)
    made.append(f"![dot](data:image/png;base64,{picture}==)")
    made.append(f"<img src='data:image/jpeg;base64,{picture}'>")
    made.append(f"The picture was data:image/webp;base64,{picture} in the page.")
    for prefix in ("SN", "MODEL", "PRD", "REF", "LOT"):
        pieces = "-".join(signs(string.ascii_uppercase + string.digits, 4) for _ in range(3))
        made.append(f"The label says {prefix}-{pieces}.")
    for _ in range(5):
        made.append(f"ISBN {signs('0123456789', 13)} and order {signs('0123456789', 10)}")
    for name in ("youtu.be", "www.youtube.com/watch?v="):
        made.append(f"https://{name}/{signs(string.ascii_letters + string.digits, 11)}")
    made.append(
        f"https://docs.example.org/d/{signs(string.ascii_letters + string.digits, 44)}/edit"
    )
    made.append(f"integrity sha512-{signs(string.ascii_letters + string.digits, 86)}==")
    made.append(f"pk_live_{signs(string.ascii_letters + string.digits, 24)} is the public half.")
    made.append(f"Contract 0x{signs(hexadecimal, 40)} was audited.")
    made.append(f"Transaction 0x{signs(hexadecimal, 64)} is final.")
    made.append(f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{signs(string.ascii_letters, 43)} sam@host")
    return made


def near_secrets() -> list[str]:
    """All of them, in a fixed order."""
    return [*SENTENCES, *_made(SEED)]
