"""The table of secrets that are known by their form: tokens with a prefix, hashes, webhooks.

A row is `(type, anchors, what follows)`; each such secret holds an anchor. Every repetition is
bounded and none is followed by something it could also match.
"""

# ruff: noqa: E501, F541 - a table is read by its rows: one form, one line.

import re
from typing import NamedTuple

_ALNUM = "A-Za-z0-9"
_WORD = "A-Za-z0-9_-"


class Format(NamedTuple):
    """A form of secret; group 1 of `pattern`, where there is one, is the secret itself."""

    type: str
    anchor: str
    pattern: str


def _chars(low: int, high: int = 512) -> str:
    return f"[{_WORD}]{{{low},{high}}}+"


_HEX = "[0-9a-f]"
_UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

# What a secret starts with, and what follows: (type, anchors, rest).
_STARTING: tuple[tuple[str, str, str], ...] = (
    (
        "aws-access-key",
        "AKIA ASIA ABIA ACCA AROA AIDA AGPA ANPA ANVA AIPA A3TA A3TX APKA ASCA",
        "[A-Z0-9]{16}",
    ),
    ("aws-api-key", "ABSK", r"[A-Za-z0-9+/]{80,300}+={0,2}"),
    ("aws-api-key", "bedrock-api-key-", r"[A-Za-z0-9+/]{20,300}+={0,2}"),
    ("aws-mws-token", "amzn.mws.", _UUID),
    (
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        rf"(?:[0-9]{{1,20}}_eyJ[.{_WORD}]{{30,2000}}+|[{_ALNUM}]{{36,255}}+)",
    ),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}+"),
    (
        "gitlab-token",
        "glpat- gldt- glft- glsoat- glrt- glrtr- glimt- glagent- glptt- glffct- GR1348941",
        rf"[.{_WORD}]{{20,300}}+",
    ),
    ("memfs-token", "mft_", _chars(43, 43)),
    ("gitlab-token", "glcbt-", rf"(?:[0-9a-zA-Z]{{1,5}}_)?{_chars(16)}"),
    ("gitlab-token", "gloas-", _chars(64, 64)),
    ("slack-token", "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxc- xoxd-", r"[A-Za-z0-9%.-]{10,300}+"),
    ("slack-token", "xoxe.xoxb- xoxe.xoxp-", _chars(20)),
    ("slack-token", "xapp- xwfp-", r"[A-Za-z0-9-]{20,300}+"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"[A-Za-z0-9]{10,256}+"),
    ("stripe-webhook", "whsec_", r"[A-Za-z0-9+/=]{20,128}+"),
    ("google-api-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("google-oauth", "GOCSPX-", _chars(24, 64)),
    ("google-oauth", "ya29.", _chars(20)),
    ("google-oauth", "1//0", _chars(20)),
    (
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        _chars(20),
    ),
    ("anthropic-key", "sk-ant-", _chars(16)),
    ("openrouter-key", "sk-or-v1- sk-or-", r"[A-Za-z0-9]{40,80}+"),
    ("api-key", "sk-lf- pk-lf- sk-litellm- sk-kimi- sk-helicone- sk-cp-", _chars(16)),
    ("api-key", "sk-", r"[A-Za-z0-9]{20,160}+(?:T3BlbkFJ[A-Za-z0-9]{1,40})?"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-", _chars(50, 1000)),
    ("sendgrid-key", "SG.", rf"{_chars(16, 32)}\.{_chars(39, 64)}"),
    ("twilio-key", "SK AC", r"[a-f0-9x]{32}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shpctk_", r"[a-fA-F0-9]{32,64}+"),
    ("square-token", "sq0atp- sq0csp- sq0idp- sq0i2p-", _chars(22, 64)),
    ("square-token", "EAAA", r"[A-Za-z0-9_+=-]{56,64}+"),
    ("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,64}+"),
    ("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d{1,2})?"),
    ("databricks-token", "dose", r"[a-f0-9]{32}(?:-\d{1,2})?"),
    ("docker-token", "dckr_pat_ dckr_oat_", _chars(20, 64)),
    ("vault-token", "hvs. hvb. hvr.", _chars(20)),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,64}+"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,64}+"),
    ("xai-key", "xai- xai-token-", r"[A-Za-z0-9_]{60,100}+"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,64}+"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{37,40}+"),
    ("api-key", "fw_ csk- nvapi- tvly- jina_ fc- gorq_ phx_ phc_ phs_ tgp_v1_", _chars(20)),
    ("api-key", "tvly-dev- tvly-prod- lsv2_pt_ lsv2_sk_ lin_api_ lin_oauth_ ctx7sk- e2b_", _chars(16)),
    ("api-key", "sm_live_ rzp_live_ rzp_test_ sk_ant_ key_live_ live_sk_", _chars(12)),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_", r"[A-Za-z0-9_]{36,44}+"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,50}+"),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}"),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,80}+"),
    ("figma-token", "figd_ figo_ figor_ figu_ figur_ figoh_", r"[A-Za-z0-9_-]{38,48}+"),
    ("cloudflare-token", "cfat_ cfut_ cfk_ cfst_", _chars(40, 64)),
    ("cloudflare-token", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{146}}"),
    (
        "tailscale-key",
        "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook- tskey-",
        _chars(18, 80),
    ),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    ("grafana-token", "glc_ eyJrIjoi", r"[A-Za-z0-9+/]{32,400}+={0,3}"),
    ("postman-key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("newrelic-key", "NRAK- NRJS- NRAL- NRRA- NRII- NRAA- NRIQ- NRSP-", _chars(17, 64)),
    ("newrelic-key", "px-api- px-dep-", _UUID),
    ("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_]{40,600}+"),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s08. dt0s02. dt0s16.", r"[A-Z0-9]{8,24}+(?:\.[A-Z0-9]{24,64}+)?"),
    ("doppler-token", "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{30,100}+"),
    ("1password-token", "ops_eyJ", r"[A-Za-z0-9+/_-]{100,3000}+={0,3}"),
    ("1password-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    ("sourcegraph-token", "sgp_", r"(?:local_|[a-fA-F0-9]{16}_)?[a-fA-F0-9]{40}"),
    ("sourcegraph-token", "slk_ sgd_ sgph_", r"(?:[a-fA-F0-9]{16}_)?[a-fA-F0-9]{40,64}+"),
    ("octopus-key", "API-", r"[A-Z0-9]{25,36}+"),
    ("intra42-secret", "s-s4t2ud- s-s4t2af-", rf"{_HEX}{{64}}"),
    ("rubygems-key", "rubygems_", rf"{_HEX}{{48}}"),
    ("cargo-token", "cio", r"[A-Za-z0-9]{32}"),
    ("clojars-token", "CLOJARS_", r"[A-Za-z0-9]{60}"),
    ("atlassian-token", "ATATT3 ATCTT3 ATBB ATSTT3", r"[A-Za-z0-9+/=_.-]{28,400}+"),
    ("bitbucket-token", "BBDC-", r"[A-Za-z0-9+/@_-]{40,50}+"),
    ("mapbox-token", "sk.eyJ", rf"{_chars(20)}\.{_chars(16, 64)}"),
    ("mailgun-key", "key-", rf"{_HEX}{{32}}"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[A-Za-z0-9=_.-]{32,64}+"),
    ("prefect-token", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    ("pulumi-token", "pul-", rf"{_HEX}{{40}}"),
    ("readme-key", "rdme_", r"[a-z0-9]{70}"),
    ("fly-token", "fo1_", _chars(43, 43)),
    ("fly-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/=,_]{60,1500}+"),
    ("flutterwave-key", "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK-", r"[a-hA-H0-9]{12,40}+(?:-X)?"),
    ("frameio-token", "fio-u-", _chars(64, 64)),
    ("duffel-token", "duffel_live_ duffel_test_", _chars(43, 43)),
    ("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    ("adafruit-key", "aio_", r"[A-Za-z0-9]{28}"),
    ("adobe-secret", "p8e- p8-", r"[A-Za-z0-9]{32}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{17,22}+"),
    ("tencent-key", "AKID", r"[A-Za-z0-9]{13,40}+"),
    ("artifactory-token", "AKC", r"[A-Za-z0-9]{10,128}+"),
    ("artifactory-token", "AP0 AP1 AP2 AP3 AP4 AP5 AP6 AP7 AP8 AP9 APA APB APC APD APE APF", r"[A-Za-z0-9]{10,128}+"),
    ("artifactory-token", "cmVmdGtuOj", r"[A-Za-z0-9+/]{40,100}+={0,2}"),
    ("checkout-key", "sk_sbox_", r"[a-z0-9_*#$=-]{20,64}+"),
    ("contentful-token", "CFPAT-", _chars(43, 43)),
    ("defined-token", "dnkey-", r"[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    ("sonar-token", "sqp_ squ_ sqa_", rf"{_HEX}{{40}}"),
    ("facebook-token", "EAACEdEose0cBA EAAC EAAG EAAM EAAD EAAB", r"[A-Za-z0-9]{40,300}+"),
    ("openshift-token", "sha256~", _chars(43, 43)),
    ("paypal-token", "access_token$production$ access_token$sandbox$", rf"[0-9a-z]{{16}}\${_HEX}{{32}}"),
    ("linkedin-token", "AQ", r"[A-Za-z0-9_-]{90,600}+"),
    ("pinecone-key", "pcsk_", _chars(40, 90)),
    ("infracost-key", "ico-", r"[A-Za-z0-9]{32}"),
    ("harness-key", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("shippo-token", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    ("typeform-token", "tfp_", r"[A-Za-z0-9=_.-]{44,64}+"),
    ("yandex-key", "AQVN", _chars(35, 38)),
    ("yandex-key", "YCAJE YCMP YCPP", _chars(20, 40)),
    ("yandex-token", "y0_ t1.", r"[A-Za-z0-9_.=-]{50,300}+"),
    ("scrapfly-key", "scp-live- scp-test-", rf"{_HEX}{{32}}"),
    ("launchdarkly-key", "sdk- api- mob- launchdarkly-secret-", _UUID),
    ("buildkite-token", "bkua_ bkct_ bkrt_", rf"[a-z0-9]{{40,64}}+"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{22,80}+"),
    ("asana-token", "1/ 2/ 0/", rf"[0-9]{{13,20}}(?:/[0-9]{{13,20}})?:{_HEX}{{32}}"),
    ("django-key", "django-insecure-", r"[^\s'\"]{20,80}+"),
    ("laravel-key", "base64:", r"[A-Za-z0-9+/]{42,44}={0,2}"),
    ("langfuse-key", "pk-lf- sk-lf-", _UUID),
    ("deno-token", "ddp_ ddo_ ddw_", r"[A-Za-z0-9]{36,40}+"),
    ("supabase-key", "sb_secret_ sbp_", r"[A-Za-z0-9_]{20,64}+"),
    ("authress-key", "sc_ ext_ scauth_ authress_", r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.(?:acc[_-])[a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}+"),
    ("twitch-key", "live_", r"[0-9]{8,12}_[A-Za-z0-9]{28,36}+"),
    ("beamer-token", "b_", r"[A-Za-z0-9=_-]{44}"),
    ("posthog-key", "phc_ phx_", r"[A-Za-z0-9]{40,48}+"),
    ("endorlabs-key", "endr+", r"[A-Za-z0-9-]{16}"),
    ("slack-token", "xoxb xoxp", r"-[A-Za-z0-9-]{10,300}+"),
    ("teamwork-token", "tkn.v1_", r"[A-Za-z0-9+/_=-]{40,120}+"),
    ("stytch-key", "secret-live- secret-test-", r"[A-Za-z0-9_=-]{32,60}+"),
    ("klaviyo-key", "pk_", rf"{_HEX}{{34}}"),
    ("clickup-token", "pk_", r"[0-9]{6,10}_[A-Z0-9]{32}"),
    ("rancher-token", "token-", r"[a-z0-9]{5}:[a-z0-9]{54}"),
    ("wiz-token", "wiz_", r"[A-Za-z0-9]{40,64}+"),
    ("zoho-token", "1000.", rf"{_HEX}{{32}}\.{_HEX}{{32}}"),
    ("salesforce-token", "00D", r"[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,160}+"),
    ("square-token", "sandbox-sq0", r"[a-z0-9]{3}-[A-Za-z0-9_-]{22,60}+"),
    ("coinbase-key", "organizations/", rf"{_UUID}/apiKeys/{_UUID}"),
    ("ngrok-key", "ak_", r"[A-Za-z0-9]{27,30}+"),
    ("voyage-key", "pa-", r"[A-Za-z0-9_-]{40,50}+"),
    ("confluent-key", "cflt", r"[A-Za-z0-9+/]{50,64}+"),
    ("cloudsmith-key", "csa_ ldtk_ cld_", r"[A-Za-z0-9]{32,64}+"),
    ("bws-token", "0.", rf"{_UUID}\.[A-Za-z0-9+/]{{30}}:[A-Za-z0-9+/]{{22}}==?"),
    ("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{30,64}+"),
    # A token whose middle part is missing is still one: header and claims suffice.
    ("jwt", "eyJ", rf"{_chars(12, 4000)}(?:\.|%2E){_chars(12, 8000)}(?:\.[A-Za-z0-9_/+-]{{0,2000}}+)?(?:\.[A-Za-z0-9_-]{{0,4000}}+)?(?:\.[A-Za-z0-9_-]{{1,400}}+)?={{0,2}}"),
    ("jwt", "ZXlK", r"[A-Za-z0-9]{60,8000}+={0,2}"),
    ("discord-token", "M N O", r"[A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![_-])"),
    ("paseto", "v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public.", _chars(40, 4000)),
    # The base64 of what is in this table: Kubernetes secrets, `data:` of cloud-init.
    ("github-token", "Z2hwX Z2hvX Z2h1X Z2hzX Z2hyX Z2l0aHViX3BhdF", r"[A-Za-z0-9+/]{40,400}+={0,2}"),
    ("private-key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFUR LS0tLS1CRUdJTiBQUklWQVRFIEtFW LS0tLS1CRUdJTiBFQyBQUklWQVRF LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVE LS0tLS1CRUdJTiBFTkNSWVBURUQg LS0tLS1CRUdJTiBEU0EgUFJJVkFUR LS0tLS1CRUdJTiBQR1AgUFJJVkFUR", r"[A-Za-z0-9+/]{60,16000}+={0,2}"),
    ("aws-session-token", "IQoJb3JpZ2lu FQoGZXIvYXdz FwoGZXIvYXdz", r"[A-Za-z0-9+/%]{80,2000}+={0,2}"),
    ("jenkins-secret", "AQAAABAAA", r"[A-Za-z0-9+/]{20,400}+={0,2}"),
    ("aws-appsync-key", "da2-", r"[a-z0-9]{26}"),
    ("google-hmac-key", "GOOG1E GOOG", r"[A-Z0-9]{20,60}+"),
    ("google-oauth", "4/0A", _chars(40, 200)),
    ("google-api-key", "AQ.Ab8", _chars(30, 80)),
    ("recaptcha-key", "6L", r"[A-Za-z0-9_-]{6}AAAAA[A-Za-z0-9_-]{27}"),
    ("salesforce-key", "3MVG9 5Aep861", r"[A-Za-z0-9._]{60,255}+"),
    ("hubspot-key", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    ("elevenlabs-key", "sk_", rf"{_HEX}{{40,64}}+"),
    ("elastic-key", "essu_", r"[A-Za-z0-9+/_-]{40,200}+={0,2}"),
    ("cursor-key", "key_", rf"{_HEX}{{64}}"),
    ("pganalyze-key", "pgar_ pgaw_", r"[A-Za-z0-9]{27,32}+"),
    ("portainer-key", "ptr_", r"[A-Za-z0-9_+/-]{35,60}+={0,2}"),
    ("packagist-key", "packagist_ack_ packagist_acs_ packagist_uut_ packagist_out_", rf"{_HEX}{{28,110}}+"),
    ("postman-key", "PMAT-", r"[A-Z0-9]{26}"),
    ("1password-key", "1PRK-", r"[A-Z0-9]{4}(?:-[A-Z0-9]{4}){12}"),
    ("newrelic-key", "NRBR-", rf"{_HEX}{{19}}"),
    ("besttime-key", "pri_", rf"{_HEX}{{32}}"),
    ("pubnub-key", "sec-c-", r"[A-Za-z0-9+/=-]{36,60}+"),
    ("dropbox-token", "sl.", _chars(130, 1400)),
    ("dependencytrack-key", "odt_", r"(?:[A-Za-z0-9]{8}_)?[A-Za-z0-9]{32,40}"),
    ("nightfall-key", "NF-", r"[A-Za-z0-9]{32}"),
    ("llamacloud-key", "llx-", r"[A-Za-z0-9]{40,60}+"),
    ("wundergraph-key", "cosmo_", rf"{_HEX}{{32}}"),
    ("instagram-token", "IGQV IGQW", _chars(100, 300)),
    ("render-key", "rnd_", r"[A-Za-z0-9]{24,40}+"),
    ("resend-key", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}"),
    ("mailersend-key", "mlsn.", rf"{_HEX}{{64}}"),
    ("neon-key", "napi_", r"[a-z0-9]{50,80}+"),
    ("langsmith-key", "ls__", rf"{_HEX}{{32}}"),
    ("wakatime-key", "waka_", _UUID),
    ("zuplo-key", "zpka_", r"[A-Za-z0-9]{32}_[a-z0-9]{8}"),
    ("volcengine-key", "AKLT", r"[A-Za-z0-9]{28,60}+"),
    # How the DER of a private key begins in base64, without its armour: PKCS #1 and #8, SEC 1, OpenSSH.
    ("private-key", "MII", r"[A-Za-z0-9+/]{3}(?:IBA(?:AK|DAN)|[AB][A-Za-z]BgkqhkiG9w0BB)[A-Za-z0-9+/]{24,16000}+={0,2}"),
    ("private-key", "MHcCAQEE MHQCAQEE MEcCAQAw MIGEAgEA MIGkAgEB MIHcAgEB MIGHAgEA MIG2AgEA MIHuAgEA MC4CAQAw b3BlbnNzaC1rZXkt", r"[A-Za-z0-9+/]{24,16000}+={0,2}"),
)  # fmt: skip

_CRYPT = "[./A-Za-z0-9]"

# Secrets whose anchor is not where they begin: (type, anchors, pattern).
_INSIDE: tuple[tuple[str, str, str], ...] = (
    ("azure-client-secret", "Q~", r"(?<![A-Za-z0-9_~.-])([A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])"),
    ("azure-key", "AAAAAA", r"(?<![A-Za-z0-9+/])[A-Za-z0-9]{52,76}(?:JQQJ99|AzSe)[A-Za-z0-9+/]{8,30}"),
    ("azure-key", "JQQJ99", r"(?<![A-Za-z0-9+/])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}"),
    ("azure-devops-token", "AZDO", r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    # What lets in whoever has the address: S3, Google, Azure, CloudFront and what does as they do.
    ("url-signature", "ignature= ignature%3D sig= sig%3D", r"(?:(?<=[?&;])|(?<=%26)|(?<=%3F)|(?<=u0026)|(?=[Xx]-|q-|CloudFront-))(?:[A-Za-z]{1,12}-){0,3}[Ss]ig(?:nature)?(?:=|%3D)([A-Za-z0-9%+/_~-]{20,2000}+={0,2})"),
    ("telegram-token", ":A", r"(?<![0-9A-Za-z])[0-9]{6,10}:A[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    ("maxmind-key", "_mmk", r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])"),
    ("password-hash", "$8$ $9$", r"\$[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}"),
    ("discord-token", "mfa.", r"mfa\.(?<![A-Za-z0-9]mfa\.)[A-Za-z0-9_-]{80,95}"),
    ("mailchimp-key", "-us", r"(?<![0-9A-Za-z])[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])"),
    ("facebook-token", "|", r"(?<![0-9A-Za-z])[0-9]{14,16}(?:\||%7C)[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])"),
    ("mongodb-key", "mdb_s", r"mdb_s[ak]_[a-z]{2}_[A-Za-z0-9_]{20,60}+"),
    ("google-client-id", ".apps.googleusercontent.com", r"(?<![A-Za-z0-9-])[0-9]{6,20}-[a-z0-9]{20,40}\.apps\.googleusercontent\.com"),
    ("databricks-token", "dkea", r"dkea[a-h0-9]{32}"),
    ("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,120}+"),
    ("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/[A-Za-z0-9_-]{50,80}"),
    ("teams-webhook", "/IncomingWebhook/", r"[a-z0-9.-]{3,60}/webhook[a-z0-9]{0,3}/[A-Za-z0-9@-]{30,90}/IncomingWebhook/[A-Za-z0-9-]{20,40}/[A-Za-z0-9-]{20,50}(?:/[A-Za-z0-9_-]{1,60})?"),
    ("google-webhook", "chat.googleapis.com/v1/spaces/", r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]{5,30}/messages\?key=[A-Za-z0-9_&=%-]{40,200}+"),
    ("webhook", "hooks.zapier.com/hooks/catch/", r"hooks\.zapier\.com/hooks/catch/[0-9]{4,12}/[A-Za-z0-9]{5,20}"),
    ("webhook", "/tines.com/webhook", r"[a-z0-9.-]{3,60}\.tines\.com/webhook/[a-z0-9]{32}/[a-z0-9]{32}"),
    ("password-hash", "$", r"\$(?:[156]|2[abxy]?|7|y|gy|md5|sha1|apr1|argon2(?:id|i|d)|scrypt|pbkdf2-sha(?:1|256|512))(?:\$[A-Za-z0-9=,]{1,40})?\$(?:[./A-Za-z0-9+]{1,64}\$)?[./A-Za-z0-9+]{20,128}+(?:\$[./A-Za-z0-9+]{20,128}+)?"),
    ("password-hash", "pbkdf2_sha", r"pbkdf2_sha(?:1|256|512)\$[0-9]{3,8}\$[A-Za-z0-9]{6,40}\$[A-Za-z0-9+/]{28,90}+={0,2}"),
    ("password-hash", "$krb5", r"\$krb5[a-z]{2,8}\$[0-9]{1,3}\$[^\s]{40,4000}+"),
    ("password-hash", "$P$", r"\$P\$(?<![A-Za-z0-9]\$P\$)[./A-Za-z0-9]{31}"),
    ("password-hash", ":::", r"(?<![0-9A-Fa-f:])[0-9]{1,8}:[0-9a-fA-F]{32}:([0-9a-fA-F]{32}):::"),
    ("softlayer-key", "softlayer.com/", r"softlayer\.com/(?:soap|xmlrpc)/v3(?:\.1)?/([a-z0-9]{64})(?![a-z0-9])"),
    ("wechat-app-id", "wx", r"(?<![A-Za-z0-9])wx[0-9a-f]{16}(?![A-Za-z0-9])"),
    ("nuget-key", "oy2", r"(?<![A-Za-z0-9])oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("extended-key", "prv", r"(?<![A-Za-z0-9])[xtyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    ("azure-key", "AzCa AzFu AzSe APIM ACDb AIoT +ABa +AMC +ARm +AEh +ACR +ASt", r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{33,80}(?:AzCa|AzFu|AzSe|APIM|ACDb|AIoT|\+(?:ABa|AMC|ARm|AEh|ACR|ASt))[A-Za-z0-9+/]{4,12}={0,2}(?![A-Za-z0-9+/])"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{50,80}"),
    ("newrelic-key", "-NRMA", r"(?<![A-Za-z0-9])[a-z]{2}[0-9]{2}xx[a-f0-9]{30,40}-NRMA"),
    ("newrelic-key", "NRAL", r"(?<![A-Za-z0-9])[a-f0-9]{36}(?:FFFF)?NRAL"),
    ("launchdarkly-key", "sdk- api- mob-", r"(?<![A-Za-z0-9])(?:sdk|api|mob)-[a-z0-9]{8}-(?:[a-z0-9]{4}-){3}[a-z0-9]{12}(?![A-Za-z0-9-])"),
    ("gitlab-token", "_gitlab_session=", r"_gitlab_session=[A-Za-z0-9_-]{20,300}+"),
    ("password-hash", "{SSHA {SHA", r"\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{27,140}+={0,2}"),
)  # fmt: skip

STARTING = tuple(
    Format(kind, anchor, rf"{re.escape(anchor)}{rest}(?![{_ALNUM}])")
    for kind, anchors, rest in _STARTING
    for anchor in anchors.split()
)
INSIDE = tuple(
    Format(kind, anchor, pattern)
    for kind, anchors, pattern in _INSIDE
    for anchor in anchors.split()
)
FORMATS = (*STARTING, *INSIDE)

RUN = 24  # letters, digits, _ and - in a row
# The anchors that stand in every text, each with what such a secret holds besides. Without it here
# a secret holds a run of `RUN`, and that is what leads to it.
_COMMON: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "SK AC AQ 6L 1/ 2/ 0/ 0. M N O :A | pat re_ sk_ ak_ sdk- api- mob-".split(), ()
    ),
    "$": tuple(
        f"${name}"
        for name in "1$ 5$ 6$ 2$ 2a$ 2b$ 2x$ 2y$ 7$ y$ gy$ md5$ sha1$ apr1$ argon2 scrypt$ pbkdf2-sha".split()
    ),
    "wx": tuple(f"wx{digit}" for digit in "0123456789abcdef"),
    "-us": tuple(f"-us{digit}" for digit in "0123456789"),
    "prv": ("xprv", "tprv", "yprv", "zprv"),
}


def signs(form: Format) -> tuple[str, ...]:
    """Return literals of which a secret of this form holds one, if not a run of `RUN`."""
    return _COMMON.get(form.anchor, (form.anchor,))


SIGNS = tuple(sorted({sign.lower() for form in FORMATS for sign in signs(form)}))
