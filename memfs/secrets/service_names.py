"""Names of services whose keys have no form of their own: what stands beside one is its key.

A key of such a service is a plain run of hexadecimal digits, letters or a uuid, which would be
a hash or an id in any other company. Names that are everyday words are left out.
"""

from __future__ import annotations

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
