"""Keys and tokens that tell by their beginning who issued them, as data.

The shapes are those that the issuers document, or that their own leak scanning announces. An entry
is looked at only where one of its ``anchors`` stands in the text, so a text without keys costs a
plain search per anchor and no pattern is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

# Signs of a key, and none before or after it.
_KEY_BEGINS = r"(?<![A-Za-z0-9])"
_KEY_ENDS = r"(?![A-Za-z0-9])"

# Kind of secret: the text that begins it and what follows it. Public halves (``pk_live_``,
# client ids, certificates) are no secrets.
_PREFIXED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "API key": (
        # OpenAI, Anthropic, OpenRouter, DeepSeek, Open WebUI and whoever copied them
        ("sk-", r"[A-Za-z0-9_\-]{20,250}"),
        ("AIza", r"[\w\-]{30,45}"),  # Google
        ("SG.", r"[\w\-]{16,32}\.[\w\-]{16,64}"),  # SendGrid
        ("key-", r"[0-9a-f]{32}"),  # Mailgun
        ("gsk_", r"[A-Za-z0-9]{30,80}"),  # Groq
        ("xai-", r"[A-Za-z0-9]{30,120}"),
        ("pplx-", r"[A-Za-z0-9]{30,80}"),
        ("csk-", r"[A-Za-z0-9]{30,80}"),  # Cerebras
        ("tvly-", r"[A-Za-z0-9\-]{20,80}"),
        ("fc-", r"[0-9a-f]{32}"),  # Firecrawl
        ("nvapi-", r"[\w\-]{40,100}"),
        ("jina_", r"[A-Za-z0-9]{30,100}"),
        ("pcsk_", r"[\w]{30,100}"),  # Pinecone
        ("lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),  # LangSmith
        ("wandb_", r"v1_[\w]{20,100}"),
        ("r8_", r"[A-Za-z0-9]{30,60}"),  # Replicate
        ("fw_", r"[A-Za-z0-9]{22,60}"),  # Fireworks
        ("sk_", r"[0-9a-f]{48}"),  # ElevenLabs
        ("xkeysib-", r"[0-9a-f]{60,70}-[A-Za-z0-9]{16}"),  # Brevo
        ("xsmtpsib-", r"[0-9a-f]{60,70}-[A-Za-z0-9]{16}"),
        ("re_", r"[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,30}"),  # Resend
        ("NRAK-", r"[A-Z0-9]{27}"),  # New Relic
        ("NRII-", r"[\w\-]{32}"),
        ("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),  # Postman
        ("LTAI", r"[A-Za-z0-9]{16,26}"),  # Alibaba
        ("AKID", r"[A-Za-z0-9]{28,40}"),  # Tencent
        ("AQVN", r"[\w\-]{35,45}"),  # Yandex
        ("EZAK", r"[A-Za-z0-9]{54}"),  # EasyPost
        ("EZTK", r"[A-Za-z0-9]{54}"),
        ("FLWSECK", r"(?:_TEST)?-[A-Za-z0-9]{12,50}(?:-X)?"),
        ("shippo_", r"(?:live|test)_[0-9a-f]{40}"),
        ("duffel_", r"(?:live|test)_[\w\-]{30,60}"),
        ("lin_api_", r"[A-Za-z0-9]{30,60}"),
        ("rdme_", r"[a-z0-9]{60,80}"),
        ("rnd_", r"[A-Za-z0-9]{20,50}"),  # Render
        ("napi_", r"[a-z0-9]{40,80}"),  # Neon
        ("phx_", r"[A-Za-z0-9]{30,60}"),  # PostHog
        ("oy2", r"[a-z0-9]{43}"),  # NuGet
        ("rubygems_", r"[0-9a-f]{48}"),
        ("CLOJARS_", r"[0-9a-f]{60}"),
        ("A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){3,5}[A-Z0-9]{5}"),  # 1Password
        ("rpa_", r"[A-Z0-9]{36,50}"),  # RunPod
        ("AQ.", r"Ab[\w\-]{36,80}"),  # Google AI Studio
        ("ls__", r"[0-9a-f]{32}"),
        ("key_", r"[0-9a-f]{32}"),
        ("live_", r"[A-Za-z0-9]{30,40}"),  # Mollie
        ("test_", r"[A-Za-z0-9]{30}(?![A-Za-z0-9])"),
        ("zpka_", r"[\w]{30,60}"),
        ("AGE-SECRET-KEY-", r"1[A-Z0-9]{50,60}"),
    ),
    "cloud key": (
        ("AKIA", r"[A-Z0-9]{16}"),  # AWS
        ("ASIA", r"[A-Z0-9]{16}"),
        ("ABIA", r"[A-Z0-9]{16}"),
        ("ACCA", r"[A-Z0-9]{16}"),
        ("ABSK", r"[A-Za-z0-9+/]{60,200}={0,2}"),  # AWS Bedrock
        ("GOOG1E", r"[A-Z0-9]{50,60}"),  # Google storage
        ("AccountKey=", r"[A-Za-z0-9+/]{20,120}={0,2}"),
        ("SharedAccessKey=", r"[A-Za-z0-9+/]{20,120}={0,2}"),
        ("SharedAccessSignature=", r"[^\s;\"']{20,500}"),
        ("&sig=", r"[A-Za-z0-9%+/]{20,120}"),
        ("?sig=", r"[A-Za-z0-9%+/]{20,120}"),
        ("X-Amz-Signature=", r"[0-9a-f]{64}"),
        ("dapi", r"[0-9a-f]{32}(?:-\d)?"),  # Databricks
        ("dop_v1_", r"[0-9a-f]{64}"),  # DigitalOcean
        ("doo_v1_", r"[0-9a-f]{64}"),
        ("dor_v1_", r"[0-9a-f]{64}"),
        ("HRKU-", r"[\w\-]{30,100}"),  # Heroku
        ("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,160}"),  # Cloudflare
        ("fm2_", r"[A-Za-z0-9+/_\-]{40,600}={0,3}"),  # Fly.io
        ("fo1_", r"[\w\-]{40,60}"),
        ("nfp_", r"[A-Za-z0-9]{36,60}"),  # Netlify
        ("pscale_", r"(?:tkn|pw|oauth)_[\w\-.=]{30,70}"),
        ("sbp_", r"[0-9a-f]{40}"),  # Supabase
        ("sb_secret_", r"[\w\-]{20,60}"),
        ("hvs.", r"[\w\-]{20,200}"),  # Vault
        ("hvb.", r"[\w\-]{20,300}"),
        ("hvr.", r"[\w\-]{20,300}"),
        ("pul-", r"[0-9a-f]{40}"),  # Pulumi
        ("dp.", r"(?:pt|st|ct|sa|scim|audit)\.[\w.\-]{30,70}"),  # Doppler
        ("ops_eyJ", r"[\w\-=]{60,2000}"),  # 1Password service account
        ("tskey-", r"(?:auth|api|client|scim|webhook)-[\w\-]{12,100}"),  # Tailscale
    ),
    "token": (
        ("ghp_", r"[A-Za-z0-9]{30,80}"),  # GitHub
        ("gho_", r"[A-Za-z0-9]{30,80}"),
        ("ghu_", r"[A-Za-z0-9]{30,80}"),
        ("ghs_", r"[A-Za-z0-9]{30,80}"),
        ("ghr_", r"[A-Za-z0-9]{30,80}"),
        ("github_pat_", r"\w{30,120}"),
        ("glpat-", r"[\w.\-]{20,320}"),  # GitLab
        ("gldt-", r"[\w\-]{20,64}"),
        ("glptt-", r"[0-9a-f]{40}"),
        ("glrt-", r"[\w\-]{20,64}"),
        ("glcbt-", r"[\w\-]{20,80}"),
        ("gloas-", r"[0-9a-f]{64}"),
        ("glsoat-", r"[\w\-]{20,64}"),
        ("glft-", r"[\w\-]{20,64}"),
        ("glimt-", r"[\w\-]{20,64}"),
        ("glagent-", r"[\w\-]{40,64}"),
        ("GR1348941", r"[\w\-]{20}"),
        ("xox", r"[abceoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{10,250}"),  # Slack
        ("xapp-", r"\d-[A-Za-z0-9\-]{20,250}"),
        ("hooks.slack.com/", r"(?:services|workflows|triggers)/[\w/]{20,100}"),
        ("/api/webhooks/", r"\d{15,21}/[\w\-]{50,90}"),  # Discord
        ("webhook.office.com/", r"[\w@\-/]{60,250}"),
        ("glrtr-", r"[\w\-]{20,64}"),
        ("glffct-", r"[\w\-]{20,64}"),
        ("ATTA", r"[0-9a-f]{64}[0-9A-F]{8}"),  # Trello
        ("cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),  # crates.io
        ("IGQV", r"[\w\-]{60,300}"),  # Instagram
        ("oauth:", r"[a-z0-9]{30}(?![A-Za-z0-9])"),  # Twitch
        ("npm_", r"[A-Za-z0-9]{30,60}"),
        ("pypi-", r"[\w\-]{40,250}"),
        ("hf_", r"[A-Za-z0-9]{30,60}"),  # Hugging Face
        ("api_org_", r"[A-Za-z0-9]{30,60}"),
        ("ya29.", r"[\w\-.]{20,500}"),  # Google OAuth
        ("GOCSPX-", r"[\w\-]{20,60}"),
        ("1//0", r"[\w\-]{30,120}"),
        ("sq0", r"(?:atp|csp|idp)-[\w\-]{20,60}"),  # Square
        ("EAAA", r"[\w\-]{56,70}"),
        ("EAA", r"[A-Za-z0-9]{90,400}"),  # Meta
        ("shp", r"(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),  # Shopify
        ("AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{30,150}"),  # X (Twitter)
        ("ATATT3", r"[\w\-=]{60,300}"),  # Atlassian
        ("ATCTT3", r"[\w\-=]{60,300}"),
        ("ATBB", r"[A-Za-z0-9]{32}"),
        ("ntn_", r"[A-Za-z0-9]{40,60}"),  # Notion
        ("secret_", r"[A-Za-z0-9]{40,50}"),
        ("figd_", r"[\w\-]{30,60}"),
        (
            "pat",
            r"(?:[A-Za-z0-9]{14}\.[0-9a-f]{64}|-[a-z]{2,3}\d-[0-9a-f\-]{36})",
        ),  # Airtable, Hubspot
        ("sl.", r"[\w\-]{100,1200}"),  # Dropbox
        ("glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),  # Grafana
        ("glc_", r"[A-Za-z0-9+/]{32,400}={0,2}"),
        ("sntrys_", r"[A-Za-z0-9+/=_\-]{40,400}"),  # Sentry
        ("sntryu_", r"[0-9a-f]{64}"),
        ("dckr_", r"[op]at_[\w\-]{20,60}"),  # Docker
        ("CFPAT-", r"[\w\-]{40,60}"),
        ("access-", r"(?:sandbox|development|production)-[0-9a-f\-]{36}"),  # Plaid
        ("fio-u-", r"[\w\-]{60,70}"),
        ("sgp_", r"[0-9a-f_]{40,80}"),
        ("bkua_", r"[0-9a-f]{40}"),
        ("CCIPAT_", r"\w{40,80}"),
        ("CCIPRJ_", r"\w{40,80}"),
        ("dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),  # Dynatrace
        ("AKCp", r"[A-Za-z0-9]{60,80}"),  # Artifactory
        ("access_token$production$", r"[a-z0-9]{12,20}\$[0-9a-f]{32}"),  # PayPal
        ("pnu_", r"[A-Za-z0-9]{36}"),
        ("PRIVATE-TOKEN: ", r"[\w\-]{16,80}"),
        ("vercel_", r"[A-Za-z0-9_]{24,80}"),
        ("sp_pat_", r"[\w\-]{30,80}"),
    ),
    "payment key": (
        ("sk_live_", r"[A-Za-z0-9]{16,250}"),  # Stripe, Paystack, Clerk
        ("sk_test_", r"[A-Za-z0-9]{16,250}"),
        ("rk_live_", r"[A-Za-z0-9]{16,250}"),
        ("rk_test_", r"[A-Za-z0-9]{16,250}"),
        ("whsec_", r"[A-Za-z0-9+/=]{20,100}"),
        ("rzp_live_", r"[A-Za-z0-9]{14,30}"),
        ("rzp_test_", r"[A-Za-z0-9]{14,30}"),
        ("AQE", r"[A-Za-z0-9+/=]{40,300}"),  # Adyen
    ),
}
# Those that are told by their middle or their end, or by their shape alone.
_SHAPED: tuple[tuple[str, str, str], ...] = (
    ("API key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),  # Mailchimp
    (
        "API key",
        ":fx",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:fx",
    ),  # DeepL
    ("cloud key", "Q~", r"[\w.~\-]{3}\dQ~[\w.~\-]{31,36}"),  # Azure client secret
    ("cloud key", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),  # Azure DevOps
    ("cloud key", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{50,80}"),  # Terraform
    ("API key", "SK", r"SK[0-9a-f]{32}"),  # Twilio
    ("token", ":AA", r"(?:bot)?\d{8,10}:AA[\w\-]{30,40}"),  # Telegram
    ("token", ".", r"[MNO][\w\-]{22,28}\.[\w\-]{6}\.[\w\-]{27,45}"),  # Discord
)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """One shape of key; ``begins`` tells whether its anchor is its beginning."""

    kind: str
    anchor: str
    shape: str
    begins: bool = True

    @property
    def pattern(self) -> re.Pattern[str]:
        """The shape, compiled when it is first looked for."""
        return _issued_pattern(self.shape)

    @property
    def cut(self) -> re.Pattern[str]:
        """Its beginning with key signs up to the end of a line."""
        return _issued_pattern(re.escape(self.anchor) + r"[\w\-+/.]{0,250}[ \t]{0,8}=?\r?\n")


@cache
def issued_keys() -> tuple[IssuedKey, ...]:
    """All known shapes."""
    return tuple(_all_issued())


def _all_issued() -> Iterator[IssuedKey]:
    for kind, entries in _PREFIXED.items():
        for anchor, rest in entries:
            free = _KEY_BEGINS if anchor[0].isalnum() else ""
            yield IssuedKey(kind, anchor, f"{free}{re.escape(anchor)}{rest}")
    for kind, anchor, shape in _SHAPED:
        yield IssuedKey(kind, anchor, f"{_KEY_BEGINS}{shape}{_KEY_ENDS}", begins=False)


@cache
def _issued_pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
