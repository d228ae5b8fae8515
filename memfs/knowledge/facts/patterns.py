"""Regular expressions for sentences that state a fact, and for those that do not."""

import re

SPAN = r"`[^`\n]{1,80}`"


def _compile(table: str) -> tuple[tuple[str, float, re.Pattern[str]], ...]:
    """Return the rows of a table: a category, a confidence, a form that may go on indented."""
    return tuple(
        (
            name,
            float(sure),
            re.compile(re.sub("\n  ", "", form).replace("SPAN", SPAN), re.IGNORECASE),
        )
        for name, sure, form in re.findall(r"(?m)^(\w+) ([\d.]+) (.*(?:\n  .*)*)", table)
    )


# Sentences of a person: (category, confidence, form). A named group gives the key of the fact.
SAID = _compile(r"""
identity 0.95 ^(?:hi,? |hello,? )?(?:my name is|call me) (?P<name>\w+)
identity 0.9 ^(?:i|i'm) (?:now )?(?:work|working) (?P<employer>(?:at|for) \S.+)
preference 0.9 \bi(?:'d| would)? (?:really |strongly |much |generally |usually )*(?:prefer|rather|
  love|hate|dislike)\b(?! to know| if you could)
preference 0.8 \bi (?:don't|do not|never|always|no longer) (?:like|want|use|write|need)\b
rule 0.85 ^(?:please )?(?:always|never)\b
rule 0.85 \bfrom now on\b|\bmake sure (?:that )?(?:you |we )?(?:always|never)\b
rule 0.8 \b(?:we|you|it|they|this|tests?|code) (?:should|must|may|can)(?: not|n't)? (?:always|
  never|only)\b
rule 0.75 ^(?:we|you) (?:should|must) (?:not )?(?!be able)\w+
decision 0.9 \b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|opted)\b
decision 0.8 ^(?:ok(?:ay)?,? |so,? |no,? )?let'?s (?:use|go with|switch to|stick (?:to|with)|keep|
  drop|remove|rename|move)\b
decision 0.8 \b(?:we|i)(?:'ll| will) (?:use|go with|switch to|stick (?:to|with))\b
environment 0.85 \b(?:i'm|i am|we're|we are|runs?|running|deploy(?:ed)?|hosted?) on (?:a |
  an )?(?P<os>mac ?os|linux|windows|debian|ubuntu|fedora|arch|wsl|aws|azure|gcp|kubernetes|heroku|
  vercel)\b
environment 0.8 ^(?:we|i) (?:currently |now )?use \S
correction 0.75 ^(?:no|nope|actually|sorry|wrong)\b[,:].{12,}
""")
# What a preference is of: the user prefers one of each. It stands behind "I prefer", and ends its
# clause: "cursor-based paging" and "solid evidence" are of something else.
_USE = r"\W*(?:(?:(?:to )?(?:use|write|code in|work in|have|get)|using|writing|having) )?"
PREFERRED = re.compile(
    rf"{_USE}(?:"
    r"(?P<language>python|typescript|javascript|(?<!rather )go|golang|rust|java|kotlin|swift|ruby|"
    r"php|perl|scala|elixir|haskell|clojure|ocaml|zig|lua|julia|c\+\+|c#|c)|"
    r"(?P<editor>vim|neovim|emacs|helix|vs ?code|zed|sublime|intellij|pycharm|cursor)|"
    r"(?P<indentation>(?:(?:\d|two|four|eight|soft|hard) )?(?:tabs|spaces))|"
    r"(?P<shell>bash|zsh|fish|powershell|nushell)|"
    r"(?P<theme>(?:dark|light) (?:mode|themes?))|"
    r"(?P<database>postgres(?:ql)?|mysql|mariadb|sqlite)|"
    r"(?P<framework>react|vue|svelte|angular|solid)|"
    r"(?P<answers>(?:short|brief|concise|terse|long|detailed|verbose)(?:er)? "
    r"(?:answers|replies|responses|explanations)))(?: \d[\d.]*)?[`\"')]?"
    r"(?=[.!,;]|$| (?:now|instead|these days|because|over|to|rather than|not|in|at)\b)",
    re.IGNORECASE,
)
# Behind it: what it is preferred to, which is of the same kind ("fish over meat" is no shell).
RIVAL = re.compile(r",? (?:over|to|instead of|rather than|not) ", re.IGNORECASE)
# Where something holds: "in production" and "in tests" are two subjects.
PLACE = re.compile(
    r"(?:\b(?:in|at|for)|^on) (?!(?:(?:the|my) )?(?:general|moment|opinion|future|fact|now)\b)"
    r"(?:(?:the|our|my) )?(?P<place>\w+)",
    re.IGNORECASE,
)
# What says that a preference is another one now, and its object: the "seats" of "window seats".
CORRECTS = re.compile(r"\b(?:actually|now|no longer|any ?more|instead|these days)\b", re.IGNORECASE)
_NOUN = r"(?!(?:in|on|at|for|to|of|from|by|with|over|than|that|and|or|not|when|as)\b)[\w'-]+ "
OBJECT = re.compile(
    rf"\b(?:prefer|rather)\b{_USE}(?:(?:the|an?|my) )?{_NOUN}(?P<head>(?:{_NOUN})??\w{{4,}})"
    r"(?: now| instead| these days)?(?=[.!,]|$)",
    re.IGNORECASE,
)
# Findings of an assistant.
FOUND = _compile(r"""
cause 0.85 \b(?:error|issue|bug|problem|failures?|tests?|lint|delay|build|
  crash)\b.{0,60}\b(?:(?:is|was|are|were) (?:caused by|due to|that|because)|(?:fail(?:s|ed|ing)?|
  happen(?:s|ed)?|occur(?:s|red)?)\b.{0,30}\bbecause)\b
cause 0.75 SPAN.{0,80}\bbecause\b.+
technical 0.8 ^(?:the )?SPAN(?: \w+){0,3} (?:is|are) (?:\w+ )?(?:defined|configured|set|written|
  implemented|located|stored|declared|registered|handled|called|used|read|created|generated|based|
  part|only|a|an|the|not|already|missing|empty|now)\b
technical 0.8 ^(?:the )?SPAN(?: \w+){0,3} (?:uses?|requires?|expects?|returns?|supports?|writes?|
  reads?|contains?|includes?|needs?|ignores?|accepts?|prints?|has|lacks|calls?|comes? from|
  lives? in|runs?|outputs?|handles?|does(?:n't| not)|do(?:n't| not)|only|already|now|still|never|
  always)\b
technical 0.75 ^there (?:is|are) \b.*SPAN|^(?:the|this|these|those|each|every|all|both|
  no) [^`]{0,60}\b(?:is|are|uses?|requires?|has|have|contains?|comes?|lives?|does(?:n't| not)|
  exists?)\b.*SPAN
technical 0.7 ^SPAN(?: \([^)]{0,40}\))? [-\u2014] (?:[a-z]+ly )?(?:adds|allows|blocks|calls|caps|
  captures|checks|contains|controls|converts|creates|defines|ensures|exports|handles|holds|keeps|
  limits|loads|maps|parses|prevents|prints|reads|registers|removes|renders|replaces|resolves|
  returns|runs|sends|sets|shows|simulates|skips|starts|stores|tells|turns|validates|waits|wraps|
  writes)\b.{8,}
change 0.8 ^(?:SPAN(?: \([^)]{0,40}\))?(?: [-\u2014]|:) )?(?:i(?:'ve| have)? )?(?:fixed|added|
  removed|updated|renamed|moved|changed|replaced|implemented|created|deleted|introduced|extracted|
  modified|refactored)\b(?! (?:it|this|that|them|to|and|imports?)\b).*(?:SPAN|\b[\w/-]+\.\w{1,5}\b)
""")
# Of a model: sentences and tags about its user, not about the users of a program.
ABOUT_USER = re.compile(
    r"^(?:the )?user(?:'s (?:(?:first|full|last|given|native|preferred|favou?rite) )?(?:"
    r"(?:name|e-?mail|address|phone|role|job|title|language|pronouns?) (?:is|are)\b"
    r"(?! (?:not |never |always |only )?\w+(?:ed|t|en)\b)"
    r"|(?:birthday|time ?zone|employer|hobb(?:y|ies)|family|salary|preferences?)\b)"
    r"| (?:preferences?|profile)\b"
    r"| (?:strongly |generally |usually |always |really |also |now )*(?:prefers|likes|loves|hates|"
    r"dislikes|favou?rs|speaks|goes by|is called|would rather|changed jobs|moved to (?-i:[A-Z])\w+|"
    r"(?:works|worked|lives|lived) (?:at|for|as|in|from|remotely)|"
    r"is an? (?:[\w+#.-]+ ){0,3}(?:developer|engineer|designer|student|scientist|researcher|"
    r"analyst|teacher|beginner|programmer))\b)",
    re.IGNORECASE,
)
USER_TAGS = frozenset(
    "personal|human|identity|preference|preferences|user preference|user preferences|about user"
    "|user profile".split("|")
)
# Of a person: a value with a number, as in "the timeout is 5 seconds", "set `retries` to 3".
VALUE = re.compile(
    r"(?:(?:please )?(?:set|raise|lower|change|increase|reduce) )?(?:(?:the|our|a) )?"
    r"(?!(?:it|this|that|there|i|we|you|they|he|she) )"
    rf"(?P<subject>{SPAN}|[a-z][\w-]*(?: (?!is |to )[a-z][\w-]*){{0,3}}) "
    r"(?:(?:is|are|should be|must be) (?:now |set to )?|to |= ?)(?:only )?"
    r"\$?\d[\d.,]*(?: ?(?:%|[a-z]{1,12}))?(?: now)?[.!]?",
    re.IGNORECASE,
)
# Of a person: one named thing does something to another, as in "the API uses Postgres".
_NAME = rf"{SPAN}|(?:[\w-]+ )?[\w.+#-]*\w"
RELATION = re.compile(
    r"(?:(?:the|our) )?(?!(?:it|this|that|these|those|there|i|we|you|they|he|she|who|what|which|"
    r"one|all|each|every|everything|nothing|something|nobody|everyone|someone|both|no|if|when|not|"
    r"and|but|so|or|then|my|your|please|check|fix|see|note|use)\b)"
    rf"(?P<source>{_NAME}) (?P<how>uses|owns|maintains|requires|calls|replaces|extends|"
    r"contains|includes|depends on|runs on|runs in|belongs to|talks to|reads from|writes to|"
    r"listens on|reports to|(?:is|are) (?:owned|maintained|used|called|written) (?:by|in)) "
    rf"(?:(?:the|our) )?(?!(?:it|this|that|these|those|a|an|to|too|more|some|any)\b)"
    rf"(?P<target>{_NAME})[.!]?",
    re.IGNORECASE,
)
# Of any speaker: sentences in the present or the past about something that has a name.
NAMED = re.compile(
    rf"{SPAN}|(?<![\w/])(?:~|\.{{1,2}})?(?:[\w.-]*/)+[\w-]*\.\w+|\b[\w-]+\.(?:py|tsx?|jsx?|go|rs|md|json"
    r"|ya?ml|toml|sh|svg)\b|\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z][a-z]{2,} (?:[A-Z][a-z]{2,}|CLI|API)\b"
    r"|\w\(\)"
)
STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|uses?|used|requires?|expects?|returns?|supports?|writes?|reads?|"
    r"contains?|includes?|needs?|ignores?|accepts?|prints?|calls?|comes?|lives?|runs?|outputs?|"
    r"handles?|fails?|does|doesn't|did|didn't|isn't|aren't|wasn't|can't|cannot|allows?|means|"
    r"produces?|creates?|loads?|stores?|points? to|refers? to|matches|exists?|lacks?|flows?|"
    r"affects?|uploads?|waits?|blocks?|tells?|controls?|determines?|renders?|displays?|shows?|"
    r"catches|recognizes?|routes?|prefers?|globs?|exposes?|declares?|triggers?|throws?)\b"
)
ORDER = re.compile(
    r"^(?:add|update|use|run|check|create|remove|read|verify|ensure|make|see|call|replace|change|"
    r"write|keep|set|test|move|rename|delete|import|extract|capture|log|enrich|modify|assert|cover|"
    r"document|after|before|for|in|on|with|from|but|and|so|or|because|since|while|note|also|only|"
    r"however|according|this|that|it|these|those|they|both|all|any|each|here|there|such|e\.g|i\.e|"
    r"no|yes|not|try|start|stop|trying|using|when|must|additionally|finally|previously|added|adds|"
    r"filled|changed|moved|fixed|created|the (?:remaining|rest|first|second|other|same|following|"
    r"check)|always|never|avoid|actually|final|one|two|three|four|five|several|multiple|potential|"
    r"consider|restart|collapse|recorded|explicit|prefer|do|don't|if|ask|tell|place|put|pass|give|"
    r"choose|existing|current(?:ly)?|future|optional|expected|both|everything|nothing|another)\b|"
    r"^\W*`[^`]*`\W* ?(?:to|with|which|that|and)\b|^optiondescription|^\w+(?:s|ing) (?:(?:when|"
    r"that|the|an?|it|how|what|whether|anyone)\b|\"|`)|(?-i:^[a-z]+ )|^[^\w`\"']|"
    r"^\W*`[^`]*`\s*(?:[-—\u2013:(]|$)|^\[|\.{3}$|…$|^\w+\s*[:=]\s|\((?:new|existing)\)",
    re.IGNORECASE,
)
PERSONAL = re.compile(r"^(?:i|we|you)\b|\b(?:i have|i've|i|my|me|your?|we|our|us)\b", re.IGNORECASE)
VERSION = re.compile(
    r"(?<![\w./-])(?P<tool>[A-Z][A-Za-z]{1,20}|[a-z][a-z0-9-]{1,30}@)\s?v?(?P<number>\d{1,4}\.\d+"
    r"(?:\.\d+)?)(?![\w.]*/)\b"
)
NO_TOOL = frozenset({
    "Step", "Phase", "Section", "Table", "Figure", "Chapter", "Line", "Version", "Part", "Since",
    "From", "About", "Only", "Over", "The", "In", "At", "To", "For", "Of", "And", "Or", "Took",
})  # fmt: skip
# No statements: questions, plans, wishes, guesses, talk about oneself.
NONE = re.compile(
    r"\?\s*$|^(?:let me|i'll|i will|i'm going|i am going|i need|i should|i can|i see|i want|now |"
    r"next|first,|then,|if |when you|to |you can|you could|you may|would|should i|can you|could|"
    r"perhaps|maybe|great|good|perfect|ok|okay|done|thanks|sure|yes|looking|checking|wait|hmm|at "
    r"line|committed|verification|changes are|[\w-]+ not (?:in|\w+ing)|here'?s|here are|summary|"
    r"plan|step|phase|goal|note that i|it (?:looks|seems|appears))\b|\b(?:might|may be|could be|"
    r"probably|perhaps|likely|seems?|appears?|i think|i guess|i believe|i suspect|unclear|not sure|"
    r"let me|i'll|i'm |going to|would be|should be able|to see (?:if|how|what)|worktree|working "
    r"tree|untracked|unstaged|staged|is (?:still )?(?:clean|dirty)|currently|screenshot|i (?:still|"
    r"also|need)|(?:is|are) (?:taking|complaining|failing|getting|trying)|yet|confirms it|"
    r"(?:approach|fix|solution|workaround) (?:for \w+ )?is to|that (?:flag|file|option|line)|"
    r"returns? no matches|left (?:alone|untouched)|should still|will stay|behaving|verified|"
    r"check(?:ing)? (?:if|whether|how))\b|^the remaining\b|\bon lines? \d|[-\u2014] should\b|^the "
    r"(?:component|strategy|function|method|class|handler|module|reproduction|plugin|option|field) "
    r"\w|^the (?:change|implementation|work) is (?:complete|done)|^there (?:is|are) no\b|\bis "
    r"(?:now )?(?:fine|ready|broken|healthy|fully gone)\b|^the (?:first|second|third|last)\b|^all "
    r"(?:two|three|four|five)\b|\bto the chat\b|^changed `[^`]*` (?:→|->|to) `[^`]*`\W*$|\bis "
    r"called(?: \([^)]{0,40}\))?\.?$",
    re.IGNORECASE,
)
NONE_SAID = re.compile(
    r"\?\s*$|^(?:if|when|can you|could you|would you|what|why|how|is|are|do)\b", re.IGNORECASE
)
