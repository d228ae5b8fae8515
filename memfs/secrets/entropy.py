"""Secrets that are known by their randomness, and by the name of a service before them."""

import base64
import binascii
import itertools
import re
from collections.abc import Iterator

from memfs.secrets.encodings import decode_text
from memfs.secrets.heuristics import (
    entropy,
    is_hex,
    is_key_like,
    is_placeholder,
    is_random_looking,
    is_slug,
    is_uuid,
    is_wordy,
)
from memfs.secrets.prefilter import TextFeatures

SERVICES = frozenset(
    """
abbysale abuseipdb accuweather adafruit adafruitio adobe adzuna aeroworkflow agora airbrake airtable
airvisual aiven akamai alchemy alegra algolia alibaba alienvault amadeus ambee amplitude anthropic
anypoint apacta api2cart apideck apiflash apify apilayer apimatic appcues appfollow appointedd
appoptics appsynergy apptivo artifactory asana assemblyai audd auth0 autodesk autoklose avazaapi
aviationstack axonaut aylien ayrshare bannerbear baremetrics beebole besnappy besttime billomat
bingmaps bitbucket bitfinex bitly bitmex bittrex blablabus blazemeter blitapp blocknative blynk
bombbomb borgbase brandfetch browserstack browshot buddyns bugherd bugsnag buildkite bulksms
buttercms caflou calendarific calendly calorieninja campayn cannyio capsulecrm captaindata
carboninterface cashboard caspio censys centralstationcrm cexio chartmogul chatbot checklyhq
checkvist circleci clarifai clearbit clickhelp clicksend clickup cliengo clinchpad clockify
clockworksms clojars cloudant cloudconvert cloudelements cloudflare cloudimage cloudinary
cloudmersive cloudplan cloudsmith cloudways clustdoc codacy codeclimate codecov codemagic codequiry
cohere coinapi coinbase coinlayer coinlib coinmarketcap commercejs companyhub confluent contentful
convertapi convertkit couchbase countrylayer coveralls craftmypdf crowdin cryptocompare
currencycloud currencyfreaks currencylayer currencyscoop currentsapi customerguru customerio
d7network dailyco databricks datadog datafire debounce deepai deepgram deepl deepseek delighted
denodeploy detectify detectlanguage dfuse diffblue diffbot diggernaut digitalocean discord discourse
disqus dnscheck documo docusign doppler dotdigital dotmailer dovico dreamhost dronahq droneci
dropbox duffel duply dwolla dynalist dynatrace dyspatch eagleeyenetworks easyinsight easypost
ecostruxure edamam edenai elasticemail elevenlabs endorlabs enigma etherscan ethplorer etsy
eventbrite everhour exchangerateapi exportsdk extractorapi facebook faceplusplus fastforex fastly
feedier fetchrss fibery figma fileio finage financialmodelingprep findl finicity finnhub firebase
firecrawl fixerio flatio fleetbase flexport flickr flightapi flightlabs flightstats flowflu
flutterwave fmfw formbucket formcraft formio formsite foursquare frameio freshbooks freshdesk
freshworks friendli fullstory fusebill fxmarket geckoboard gengo geoapify geocodify geocodio
geoipifi getemail getemails getgeoapi getgist getresponse getsandbox github gitlab gitter glassnode
gocanvas gocardless goodday googlemaps grafana graphcms graphhopper groovehq gtmetrix guardianapi
gumroad gyazo happyscribe hashicorp hellosign helpcrunch helpscout hereapi heroku hiveage holidayapi
holistic hotjar html2pdf hubspot huggingface hybiscus hypertrack iconfinder iexapis iexcloud
imagekit imagga infobip infracost infura insightly instabot instagram instamojo intercom interseller
intrinio invoiceocean ip2location ipapi ipgeolocation ipify ipinfo ipquality ipstack jenkins jira
jotform jumpcloud jupiterone kanbantool karmacrm keenio kickbox kickfire klaviyo klipfolio
knapsackpro kraken kucoin kylas langfuse langsmith languagelayer larksuite launchdarkly leadfeeder
lemlist lemonsqueezy lendflow lessannoyingcrm lexigram linkedin linkpreview liveagent livestorm
loadmill locationiq loggly loginradius logzio lokalise loyverse lunchmoney madkudu magicbell
mailboxlayer mailchimp mailerlite mailgun mailjet mailmodo mailsac mandrill mapbox mapquest
marketstack mattermost mavenlink maxmind meaningcloud mediastack meistertask meraki mesibo
messagebird metaapi metabase metrilo mindmeister mistral mixmax mixpanel mockaroo mongodb
monkeylearn moonclerk moonshot moosend moralis myexperiment myfreshworks myintervals nasdaqdatalink
nethunt netlify netsuite neutrinoapi newrelic newsapi newscatcher nexmo nftport ngrok nicereply
nightfall notion nozbeteams nubela numverify nutritionix nylas nytimes oanda okta omnisend onedesk
onelogin onepagecrm onesignal onfleet oopspam openai opencage opencagedata openrouter openuv openvpn
openweather openweathermap opsgenie optimizely owlbot packagecloud pagarme pagerduty pandadoc
pandascore paperform paralleldots parsehub parseur particle partnerstack passbase pastebin
paydirtapp paymoapp paymongo paypal paystack pdflayer pdfshift peopledatalabs pepipost perplexity
photoroom pinata pinecone pipedream pipedrive pivotaltracker pixabay plaid planetscale planview
planyo plivo podio pollsapi poloniex portainer positionstack postageapp posthog postman postmark
powrbot prodpad prospectcrm prospectio protocolsio proxycrawl pubnub pulumi purestake pushbullet
pusher qase qualaroo qubole rapidapi rawg razorpay reachmail reallysimplesystems rebrandly
rechargepayments rentman repairshopr replicate replyio requestfinance restpack restpackhtmltopdf
revampcrm ringcentral ritekit robinhoodcrypto rocketreach roninapp route4me rubygems runrunit
runscope salesblink salescookie salesflare salesforce salesmate satismeter saucelabs scaleway
scalingo scrapeowl scraperapi scraperbox scrapersite scrapestack scrapfly scrapingant scrapingbee
screenshotapi screenshotlayer scrutinizer securitytrails segment selectpdf sendbird sendgrid
sendinblue sentry serpapi serphouse serpstack sheety sherpadesk shipday shodan shopify shortcut
shotstack shutterstock signalwire signaturit signupgenius sigopt simfin simplesat simplynoted
simvoly sinch sirv siteleaf skrapp skybiometry slack smartsheet smartsheets smartystreets snipcart
snowflake snyk softlayer sonar sonarcloud sonarqube sourcegraph sparkpost speechtextai splunk
spoonacular sportsmonk spotify squarespace squareup sslmate statuscake statuspage statuspal
stitchdata stockdata storecove stormboard stormglass storyblok storychief strava stripo stytch
sugester sumologic supabase supernotes surveyanyplace surveybot surveysparrow survicate swiftype
tableau tailscale tallyfy tatumio tavily taxjar teamgate teamwork teamworkcrm teamworkdesk
teamworkspaces technicalanalysis telnyx terraformcloud testingbot text2data textmagic theoddsapi
thingsboard thinkific thousandeyes ticketmaster tickettailor tiingo timecamp timezoneapi tmetric
todoist togetherai toggl toggltrack tokeet tomorrowio tomtom tradier transferwise travelpayouts
travisci trello truenas twelvedata twilio twitch twitter tyntec typeform typetalk ubidots uclassify
unifyid unplugg unsplash upcdatabase uplead uploadcare upstash uptimerobot upwave urlscan userflow
userstack vagrantcloud vatlayer vbout vercel verifalia verimail veriphone versioneye viewneo
virustotal visualcrossing voiceflow voicegain vonage vouchery vpnapi vultr vyte wakatime walkscore
wandb weatherapi weatherbit weatherstack web3storage webex webflow webscraper webscraping
websitepulse weightsandbiases wepay whoxy wistia worksnaps workstack worldcoinindex worldweather
wpengine wrike yandex yelp yextapi ynab youneedabudget yousign zapier zendesk zenkit zenrows
zenscrape zenserp zeplin zerobounce zerossl zerotier zipapi zipbooks zipcodeapi zipcodebase zoho
zonka zoom zulip zulipchat zuplo
""".split()
)

# Those whose keys are uuids: one right beside such a name is its key.
UUID_SERVICES = frozenset(
    """
airvisual blazemeter blocknative cloudmersive codecov coinapi coinmarketcap findl heroku postmark
runscope snyk wakatime zenscrape
""".split()
)


_CANDIDATE = re.compile(r"[A-Za-z0-9+/_%-]{16,2000}+={0,2}")
_PADDING = 2  # of these signs at the end
_ESCAPE = re.compile("%[0-9A-F]{2}")
_DIGIT = re.compile("[0-9]")
_VAULT = re.compile(r"(?<![A-Za-z0-9_.\])])[sbr]\.\Z")
# The names of things that are random without being secret: hashes, revisions, public halves, data.
_HARMLESS = re.compile(
    r"(?:(?:sha|md)[0-9]{0,3}[-:=~ ]|\bh1|integrity|commit|hash|checksum|digest|revision|\brev|etag"
    r"|\bnonce|version|signature|fingerprint|cursor|ur[il]|path|file|name|uuid|guid|public|cert"
    r"|model|\btag|image|src|href|class|style|blob|tree|data|content|body|session|request|trace"
    r"|span|parent|state|event|\bruns?|build|index|page|project|issue|[_-]id|\bid|Id|ID|serial|version|resolved)"
    r"s?[\"'`]?[ ]{0,4}(?:=>|[:=#@])?[ ]{0,4}[\"'`(]?\Z"
    r"|[/@#?&$.\\]\Z|base64,\Z|ssh-[a-z0-9-]{2,20} \Z|ecdsa-[a-z0-9-]{2,30} \Z",
    re.IGNORECASE,
)
_NEAR = 40  # characters: nothing harmless is longer
# The prefixes of ids that services give to what is no secret: files, messages, calls, customers.
_ID = re.compile(
    r"(?:file|msg|message|toolu|srvtoolu|req|request|call|run|thread|asst|batch|evt|event|cus|sub|pi|ch|prod"
    r"|price|acct|org|user|usr|proj|project|wrkspc|sess|session|conv|resp|chatcmpl|item|step|vs|ft"
    r"|job|task|doc|page|node|img|trace|span|container|skill|id)[_-]"
)
_ASSIGNED = re.compile(
    r"[A-Za-z_][A-Za-z0-9_.-]{0,40}[\"'`]?[ ]{0,4}(?:=>|[:=]{1,2})[ ]{0,4}[\"'`]?\Z"
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_GAP = re.compile(
    r"[A-Za-z0-9_-]{0,40}[\"'`]?[\s:=>\"'`(,*-]{1,12}(?:[A-Za-z_-]{1,24}[\"'`]?[\s:=>\"'`(,*-]{1,12}){0,3}\Z"
)
_TIE = re.compile(r"[\"'`]?[\s:=>\"'`(,*-]{1,12}\Z")
# The parts of a service's prefix that say what follows them: acme_live_…, acme-pat-….
_HINTED = re.compile(
    r"(?:[A-Za-z0-9]{1,12}[_-]){0,2}(?:key|tok|token|secret|sec|pat|live|test|prod|api|auth|priv|svc"
    r"|refresh|access|pw|admin|sk)[_-](?P<body>[A-Za-z0-9]{24,})=*\Z"
)
_NUMBERED = re.compile(r"[0-9]{1,4}-(?P<body>[A-Za-z0-9]{64})\Z")
_ARGUMENT = re.compile(r"[A-Za-z_]\([\"']\Z")
_BODY = re.compile(r"[A-Za-z0-9+/]{60,76}={0,2}\Z")
_SHORT = re.compile(r"[A-Za-z0-9+/]{20,76}={0,2}\Z")
_LEFT = frozenset(" \t\r\n\"'`")
_RIGHT = frozenset(("", '"', "'", "\\", "`"))
# What may stand before the last line of a key: an indent, a number of a line, a time, a comment.
_MARGIN = re.compile(r"[\s0-9.:#*+>/|\"'`T-]*\Z")
_BREAK = re.compile(r"\\{1,4}[nr](?:\\{1,4}[nr])?(?=\\{0,3}[\"'`])")  # of a line, in a string
_LINE_END = re.compile(r"\\{0,3}[\"'`,;]{0,2}\s*(?:\n|\Z)")


def names_service(before: str, services: frozenset[str] = SERVICES) -> bool:
    """Tell whether `before`, the text left of a value, names the service it is a key of."""
    gap = _GAP if services is SERVICES else _TIE
    for found in _NAME.finditer(before):
        if not gap.match(before, found.end()):
            continue
        parts = [part.lower() for part in _WORD.findall(found[0])]
        names = {found[0].lower(), *parts, *map("".join, itertools.pairwise(parts))}
        if names & services:
            return True
    return False


def _is_harmless(before: str) -> bool:
    return bool(_HARMLESS.search(before, max(0, len(before) - _NEAR)))


def _is_key_in_line(text: str, value: str, start: int) -> bool:
    """Tell whether `value` is a key, given the text before it on its line."""
    if "%" in value and is_wordy(_ESCAPE.sub(" ", value)):  # words in an address
        return False
    if "/" in value and (len(value) < 40 or entropy(value) < 4.4):
        return False
    before = text[max(0, start - 64) : start].rpartition("\n")[2]
    vault = before.endswith(".") and _VAULT.search(before)
    if vault and 24 <= len(value) <= 200 and is_random_looking(value):
        return True
    if _ID.match(value) or value.startswith("//") or is_slug(value):
        return False
    if is_uuid(value):  # an id, unless its own key says otherwise
        return names_service(before, UUID_SERVICES)
    digits = is_hex(value)
    if digits or len(value) < 20:  # an id, unless it is beside the name of a service
        named = (len(value) >= 20 or not digits) and names_service(before) and is_key_like(value)
        return named and not _is_harmless(before)
    return _is_key_form(value, before) and not _is_harmless(before)


def _is_key_form(value: str, before: str) -> bool:
    hinted = _HINTED.match(value)
    if hinted and (is_hex(hinted["body"]) or is_random_looking(hinted["body"])):
        return True
    numbered = _NUMBERED.match(value)
    if numbered and is_random_looking(numbered["body"]):
        return True
    if is_random_looking(value) and (_ASSIGNED.search(before) or _ARGUMENT.search(before)):
        return True
    return is_key_like(value) and names_service(before)


def _find_key_line(text: str, start: int, end: int) -> int:
    """Return the start of a line of a base64 key, -1 if there is none."""
    before = text[start - 1 : start]
    if before == "\\" and text[start] in "nr":  # the escape of a line break
        start, before = start + 1, "\n"
    elif text[start] == "-" and before in {"", "\n"}:  # a line that a diff takes away
        start += 1
    size = end - start
    if size < 24 or (before and before not in _LEFT) or text[end : end + 1].strip() not in _RIGHT:
        return -1
    value = text[start:end]
    if not (re.search("[A-Z]", value) and re.search("[a-z]", value)):
        return -1
    if size >= 60:
        found = bool(_BODY.match(value)) and entropy(value) >= 4.7
    else:
        found = _is_last_key_line(text, value, start, end)
    return start if found else -1


def _is_last_key_line(text: str, value: str, start: int, end: int) -> bool:
    """Tell whether `value` is a short line of a key: in a string with a break, or with padding."""
    if not _SHORT.match(value):
        return False
    if _BREAK.match(text, end):
        return is_random_looking(value.rstrip("="))
    padded = value[-1] == "="
    if not (padded or "+" in value or "/" in value) or not _LINE_END.match(text, end):
        return False
    if not (is_key_like(value) if padded else is_random_looking(value)):
        return False
    margin = text[max(0, start - 40) : start].rpartition("\n")[2]
    return len(margin) < 40 and bool(_MARGIN.match(margin)) and not _is_text(value)


def _is_text(value: str) -> bool:
    """Tell whether `value` is base64 of printable text, or no base64 at all."""
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return True
    return bool(decode_text(value))


def random_tokens(text: str, places: TextFeatures) -> Iterator[tuple[str, int, int]]:
    """Yield `(type, start, end)` of keys detected by their randomness and context."""
    for found in (
        each
        for start, end in places.runs
        for each in _CANDIDATE.finditer(text, start, end + _PADDING)
    ):
        value, (start, end) = found[0], found.span()
        if not _DIGIT.search(value) and not (value.isalpha() and len(value) >= 20):
            continue
        if (line := _find_key_line(text, start, end)) >= 0:
            yield "key-material", line, end
        elif _is_key_in_line(text, value, start) and not is_placeholder(value):
            yield "api-key", start, end
