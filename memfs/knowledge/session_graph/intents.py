"""Intents of messages, kinds of tool calls, and topics: by rules, without a model."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from memfs.search import lexical, prompt_relevance
from memfs.search.stopwords import STOP

USER = tuple(
    "question request problem correction approval thanks preference command greeting talk".split()
)
ASSISTANT = ("plan", "finding", "done", "answer", "question")
TOOL = tuple(
    (
        "read search edit test check build commit install run web delegate tasks memory result "
        "failure"
    ).split()
)
_LOOKED_AT = 400  # characters of a text
_END = 200  # characters of its end
_PRINTED = 4000  # characters of a tool's output
_SIGNS = (  # each match of `_FAILED` has one of them: a fast check
    "rror", "ail", "FAIL", "atal", "raceback", "panic", "ERR!", "\u2717", "\u2718", "E   ", "code ",
    "not found", "No such", "denied", "status ", "cannot ", "undefined:", "not assignable",
)  # fmt: skip

_WANTED = (
    "add|allow|analy[sz]e|apply|bump|build|change|check|clean|close|commit|configure|convert|"
    "copy|create|debug|delete|deploy|describe|design|disable|do|document|draw|drop|enable|ensure|"
    "exclude|explain|extend|extract|find|finish|fix|format|generate|give|handle|help|hide|"
    "implement|improve|include|increase|inline|install|integrate|introduce|investigate|keep|"
    "lint|list|look|make|measure|merge|migrate|modify|move|open|optimi[sz]e|paint|perform|plan|"
    "port|print|propose|publish|pull|push|put|read|rebase|recall|reduce|refactor|release|"
    "remember|remove|rename|reorder|replace|reply|research|resolve|restart|restore|return|revert|"
    "review|rewrite|run|save|say|scan|search|send|set|set up|setup|show|simplify|sort|speed|"
    "split|start|stop|store|suggest|summari[sz]e|swap|switch|sync|take|tell|test|tidy|try|turn|"
    "undo|unify|update|upgrade|use|validate|verify|wait|walk|wire|work|wrap|write"
)


def _compile(flags: int, table: str) -> dict[str, re.Pattern[str]]:
    """Return the rows of a table: a name, and a form that may go on indented."""
    rows = re.findall(r"(?m)^(\w+) (.*(?:\n  .*)*)", table)
    return {name: re.compile(re.sub("\n  ", "", form), flags) for name, form in rows}


_RULES = _compile(
    re.IGNORECASE,
    r"""
command ^\s*(?:/[a-z][\w:-]*(?:\s|$)|!\S|<command-name>)
correction ^(?:no|nope|nah|wait|stop|actually,? (?:no|that|it|this)|that'?s (?:not|wrong)|
  this is (?:not|wrong)|wrong|not (?:that|quite|what)|hmm+,? (?:no|but|that|this|now)|(?:it|this|
  that) (?:still|doesn'?t|didn'?t|does not|did not|isn'?t|is not)|still )\b|
  \b(?:that'?s not what i|you (?:forgot|missed|broke|should(?:n'?t| not) have)|i (?:said|asked|
  meant|told you)|undo (?:that|this|it)|revert (?:that|this|it))\b
thanks ^(?:(?:ok(?:ay)?|yes|yeah|oh)[,.! ]+)?(?:thanks?\b|thank you|thx|ty\b|great\b|perfect|
  awesome|excellent|amazing|wonderful|brilliant|nice\b|cool\b|love (?:it|this)|(?:this|that|
  it)(?:'?s| is| looks?) (?:great|perfect|exactly|excellent|awesome|very helpful|what i)|
  good (?:job|work)|well done|looks good|lgtm|works?(?: now)?!*$)
approval ^(?:yes|yep|yeah|yup|sure|ok(?:ay)?|please do|go (?:ahead|on|for it)|do it|proceed|
  continue|sounds good|agreed?|correct|right|exactly|y|k|approved?|ship it|next|let'?s (?:do|
  go)(?: (?:it|that|this|ahead))?)\b
preference \b(?:from now on|i (?:really )?(?:prefer|like|hate|dislike|love)\b|always|never\b|
  my name is|call me|i work (?:at|for)|i use\b|please remember|remember (?:that|this)|in future)
problem \b(?:error|exception|traceback|panic|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?|bug|broken|
  issue|problem|doesn'?t work|does not work|not working|wrong|unexpected(?:ly)?|leak|hangs?|stuck|
  slow|regression|flaky|conflicts?)\b
greeting ^(?:hi|hello|hey|good (?:morning|evening|afternoon)|yo|bye)\b[^?]{0,40}$
""",
)
# "yes, that fixed it", "it works now"; not "that fixed it, but", "it works?"
_CONFIRMED = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|oh)[,.! ]+)?(?:that|this|it)(?:'?s| is| has)?"
    r"(?: now| just| finally| all)*"
    r"(?: (?:fixed|solved|resolved|sorted|cured)(?: it| that| this| them| (?:the|my) \w+)?|"
    r" did (?:it|the trick)| works?| worked)(?: now| again| for me| fine| perfectly| as expected)*"
    r"(?=\s*(?:[.,;!\n]|$|(?:and )?thank))(?![^.\n]*(?:\?|\b(?:but|except|however)\b))",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"^(?:i'?m|i am) (?:so |really |very )?(?:happy|pleased|impressed)\b(?![^.\n]*\bnot\b)|"
    r"^(?:that|this|it)(?:'?s| is| looks) (?:so |really )?(?:much better|beautiful|fantastic)\b",
    re.IGNORECASE,
)
_DISCONTENT = re.compile(
    r"^(?:ugh|argh+|sigh|wtf|what a mess|you made (?:it|things) worse)\b|"
    r"^(?:i'?m|i am) (?:so |really |very )?(?:frustrated|disappointed|annoyed|fed up)\b|"
    r"^(?:that|this|it)(?:'?s| is| looks| got) (?:so |really |even |much |just )*(?:worse|terrible|"
    r"awful|horrible|useless|frustrating|annoying)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"^(?:https?://\S+|@\S+)\s+")  # in front of a request about it
_QUESTION = re.compile(
    r"^(?:what|why|how|when|where|who|which|whose|is|are|was|were|does|do|did|has|have|should|"
    r"would|could|can (?:i|we|it|this|that)|isn'?t|aren'?t|any idea)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:(?:please|now|then|also|and|next|first|ok(?:ay)?|yes|yeah|great|nice|perfect|cool|so|"
    r"hey|hi|hello|actually|alright|but|thanks|thank you|sure|good|awesome|today|hmm+)\b[ ,.!:-]*)*"
    rf"(?:(?:please|just|now|then|also|let'?s|let us|let me|go|help me(?: to)?) )*(?:{_WANTED})\b"
    r"|\b(?:can|could|will|would) (?:you|we)\b|\bi(?:'d| would)? (?:want|need|like you|like to)\b|"
    r"\bi want\b|\bwe (?:need|should|have to|must)\b|\bplease\b|\bhelp me\b|\blet'?s\b|\bi need\b",
    re.IGNORECASE,
)
_PLANS = re.compile(
    r"^(?:(?:[^.\n]|\.\w){0,160}[.!] )?(?:let me|let's|now (?:let|i|update|add|run|fix)|i'?ll|i "
    r"will|i'?m (?:going|now|checking|inspecting|reading|looking|running|using|updating|adding|"
    r"starting|doing|making|testing)|i am (?:going|now)|next,? i|first,? i|going to|starting|"
    r"checking|running|reading|looking|waiting)\b|^(?:now )?[a-z]+ing\b[^.\n]{0,60}[.:\u2026]*$",
    re.IGNORECASE,
)
_LEADS_ON = re.compile(
    r"(?:let me|i'?ll|i will|now) (?:[^.\n]|\.\w){3,160}[:.\u2026]*\s*$", re.IGNORECASE
)
_DONE = re.compile(
    r"\b(?:done|all (?:\d[\d,]* )?(?:tests?|checks?)(?: now)? pass|is (?:now )?(?:complete|fixed|"
    r"done|ready|in place|committed|merged)|are (?:now )?(?:complete|fixed|done|in place|"
    r"committed)|(?:i'?ve|i have|successfully) (?:\w+ )?(?:\w+ed|written|made|built|set)|"
    r"summary of (?:the )?(?:changes|what)|changes made|^(?:fixed|added|created|updated|removed|"
    r"renamed|committed|merged|implemented|moved|saved|stored|noted|ok|okay|ready|"
    r"remembered|finished|deployed|pushed|installed|refactored|wrote|implemented)\b)",
    re.IGNORECASE,
)
_FINDS = re.compile(
    r"^(?:found|i (?:found|see|can see|notice|understand|now understand|now see)|"
    r"now i (?:see|understand|have)|the (?:issue|problem|bug|error|test|tests|build|cause|root|"
    r"reason)|this (?:is|means|happens|shows)|there(?:'s| is| are)|it (?:looks|seems|turns)|"
    r"looks like|interesting|good,|the reproduction|that'?s (?:the|why|because))",
    re.IGNORECASE,
)
_CALLS = {  # the tools of each kind
    "read": "read read_file view cat notebookread read_many_files open",
    "search": (
        "ls list list_directory grep glob search rg codebase_search grep_search file_search "
        "search_file_content toolsearch tool_search"
    ),
    "edit": (
        "edit write multiedit apply_patch patch write_file replace str_replace create "
        "notebookedit edit_file search_replace str_replace_editor delete_file"
    ),
    "tasks": (
        "todowrite taskupdate taskcreate tasklist update_plan todoread exitplanmode enterplanmode"
    ),
    "delegate": "task agent skill",
    "web": "webfetch websearch web_search web_fetch fetch google_web_search",
}
_TOOLS = {tool: kind for kind, tools in _CALLS.items() for tool in tools.split()}
# By the beginning of a simple command.
_COMMANDS = _compile(
    0,
    r"""
commit git(?: -\S+(?: [\w./=]+)?)* (?:commit|push|merge|cherry-pick|rebase|
  revert)\b(?!.*--(?:abort|quit|dry-run))|gh pr (?:create|merge)\b
test (?:python[\d.]* -m |uv run |poetry run |npx |bunx |pnpm exec |yarn |bundle exec )*(?:pytest|
  tox|nox|ctest|jest|vitest|mocha|phpunit|rspec|unittest|playwright test)\b|(?:npm|pnpm|yarn|bun|
  deno|cargo|go|make|mise|just|task|\S*gradlew?|mvn|dotnet|mix|rake|bazel|swift)(?: run| exec|
   --\S+| -\S+)* (?:test|check-test|t|e2e)\w*
check (?:python[\d.]* -m |uv run |poetry run |npx |bunx |pnpm exec |yarn |bundle exec )*(?:eslint|
  ruff|mypy|tsc|golangci-lint|shellcheck|prettier|biome|black|pyright|flake8|pylint|gofmt|
  rubocop)\b|(?:npm|pnpm|yarn|bun|deno|cargo|go|make|mise|just|task|dotnet|mix)(?: run| exec|
   --\S+| -\S+)* (?:lint|fmt|format|typecheck|type-check|check|vet|clippy)\b
install npm (?:i|ci|install)\b|pnpm (?:i|add|install)\b|yarn(?: add| install)\b|
  (?:python[\d.]* -m )?pip3? install|uv (?:add|sync|pip)\b|poetry (?:add|install)\b|brew install|
  apt(?:-get)? install|cargo add|go (?:get|install|mod)\b|bundle install|composer (?:require|
  install)\b
build (?:cmake|make)(?: -\S+| all)*$|make (?:build|all|compile)\w*|(?:npm|pnpm|yarn|bun|cargo|go|
  mise|just|\S*gradlew?|mvn|dotnet|docker)(?: run)? (?:build|compile|package|assemble)\w*
web (?:curl|wget|gh (?:api|issue|run|search|pr|repo))\b
edit sed -i|perl -p?i|(?:mv|rm|cp|mkdir|touch|chmod|patch|git (?:rm|mv|add|apply))\b
search (?:rg|grep|find|fd|ls|tree|ag|git (?:-\S+ )*(?:log|diff|status|show|blame|branch|grep|
  ls-files)|which|wc)\b
read (?:cat|head|tail|less|sed -n|nl|jq|bat)\b
""",
)
_WRITES = re.compile(r"<<-?\s*['\"]?[A-Z]+|(?<![0-9&>])>>? ?(?!/dev/null|&)[\w./~$]")
_SIMPLE = re.compile(r"\s*(?:&&|\|\|?|;|\n)\s*")
_STRONGEST = ("commit", "test", "check", "build", "install")  # win over others in a line
_SHELLS = frozenset(
    (
        "bash shell exec_command run_shell_command powershell run_terminal_cmd terminal "
        "local_shell execute_command run_command shell_command"
    ).split()
)
_WRAPPED = re.compile(r"^(?:(?:rtk|sudo|time|command|env(?: \w+=\S*)*|\w+=\S*) +)+")
_END_OF_LIST = re.compile(r"[\"']+\]$")  # of arguments as JSON
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")  # quoted text is no command
_ALL_PASSED = re.compile(r"\b[1-9][\d,]* pass(?:ed|es|ing)?\b")
_NONE_FAILED = re.compile(r"\b0 fail(?:ed|ures?|ing)?\b")
_SOME_FAILED = re.compile(r"\b[1-9][\d,]* fail(?:ed|ures?|ing)?\b|FAILED")
_CALLED = re.compile(r"(?:^|\n)(?:command|cmd): (?:\[?[^\n]*?-l?c[\"', ]+)?([^\n]*)")
_FAILED = re.compile(
    r"(?:^|\n)(?:Error\b|error:|error TS|fatal:|Traceback \(most recent|panic:|E   |FAIL|"
    r"FAILED|--- FAIL|npm ERR!|✗ |✘ |AssertionError|SyntaxError|TypeError:|Exit code [1-9])|"
    r"exited with code [1-9]|command not found|No such file or directory|<tool_use_error>|"
    r"\b[1-9]\d* (?:failed|failures?|errors?)\b|Permission denied|exit status [1-9]|"
    r"cannot (?:use|find|open)|undefined:|not assignable"
)


def classify_message(role: str, tool: str, text: str) -> str:
    """Return the intent of a message, one of `USER`, `ASSISTANT` or `TOOL` by its role."""
    if role == "tool":
        if tool not in ("result", ""):
            return _classify_call(tool, text)
        return "failure" if _is_failure(text) else "result"
    if role == "user":
        return _classify_prompt(text)
    return _classify_reply(text)


def _classify_call(tool: str, text: str) -> str:
    name = tool.lower()
    known = _TOOLS.get(name)
    if known:
        return known
    if name in _SHELLS or name.rpartition("__")[2] in _SHELLS:
        return _classify_command(text[:2000])
    if "memory" in name or "memfs" in name or "remember" in name or "journal" in name:
        return "memory"
    return "search" if "search" in name or "query" in name else "run"


def _classify_command(text: str) -> str:
    """Return the kind of a shell command: of several, a check or commit wins."""
    match = _CALLED.search(text)
    line = _END_OF_LIST.sub("", (match[1] if match else text).strip())
    parts = [_WRAPPED.sub("", part) for part in _SIMPLE.split(_QUOTED.sub("''", line)) if part]
    kinds = [
        next((name for name, form in _COMMANDS.items() if form.match(part)), "") for part in parts
    ]
    for name in _STRONGEST:
        if name in kinds:
            return name
    if _WRITES.search(line):
        return "edit"
    return next((name for name in kinds if name), "run")


def _is_failure(text: str) -> bool:
    begin = text[:_PRINTED]
    if not any(word in begin for word in _SIGNS) or not _FAILED.search(begin):
        return False
    # Tests that all passed may have printed errors on the way.
    passed = _ALL_PASSED.search(begin) and _NONE_FAILED.search(begin)
    return not passed or bool(_SOME_FAILED.search(begin))


def is_confirmed(text: str) -> bool:
    """Tell whether a prompt begins with the news that what was done worked."""
    return bool(_CONFIRMED.match(text[:_LOOKED_AT].strip()))


def _classify_prompt(text: str) -> str:
    begin = _ADDRESS.sub("", text[:_LOOKED_AT].strip())
    first = begin.split("\n", 1)[0]
    if _RULES["command"].search(begin):
        return "command"
    if _RULES["correction"].search(first):
        return "correction"
    asks = bool(_REQUEST.search(begin)) and not _RULES["preference"].search(first)
    question = bool(_QUESTION.search(begin)) or text.rstrip().endswith("?")
    confirmed = _CONFIRMED.match(begin)
    if confirmed or _RULES["thanks"].search(begin):
        past = begin[confirmed.end() :] if confirmed else begin
        rest = re.sub(r"^[^.!,]*[.!,]", "", past, count=1)
        if len(rest) > 25 and (_REQUEST.search(rest.strip()) or rest.rstrip().endswith("?")):
            return "request" if _REQUEST.search(rest.strip()) else "question"
        return "thanks"
    if _RULES["approval"].search(begin) and len(begin) < 40:
        return "approval"
    if _RULES["preference"].search(first):
        return "preference"
    if asks and (not question or not _QUESTION.search(begin)):
        return "request"
    if question:
        return "question"
    for name in ("problem", "approval", "greeting"):
        if _RULES[name].search(begin):
            return name
    return "talk"


def _classify_reply(text: str) -> str:
    begin, end = text[:_LOOKED_AT].strip(), text[-_END:].strip()
    if _PLANS.search(begin) and len(text) < 3 * _LOOKED_AT:
        return "plan"
    if _DONE.search(begin):
        return "plan" if _LEADS_ON.search(end) else "done"
    if end.endswith("?"):
        return "question"
    if _LEADS_ON.search(end):
        return "plan"
    return "finding" if _FINDS.search(begin) else "answer"


def classify_sentiment(text: str) -> str:
    """Return positive or negative where a text begins with praise or complaint, else ""."""
    head = text[:_LOOKED_AT].strip()
    if _DISCONTENT.search(head):
        return "negative"
    return "positive" if _CONTENT.search(head) else ""


MOST = 5
_SEARCHED = 600  # characters of a text
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)*|[\u3040-\u30ff\u4e00-\u9fff]{2,8}")
_PLAIN = re.compile(r"[a-z]{4,24}")
_PARTS = re.compile(r"[_.-]+")
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{5,}")  # an id, or a part of one
_NAMED = 2  # weight of a name: an identifier, a file, an acronym
_FILLING = """
able above across already another around based because before better called code command committed
complete could create current currently details different does else ensure even example exactly
existing false find following found function have here include instead into like main make many
might must name needs none null output part possible project read results running same section
should simple since something string such sure than that them then there these they this those
through true type under update updated used user value well were when where whether which while
with within without work would your assistant tool
afterwards alone although always among anybody anyone away became began besides bring came caused
either enough ever everybody everyone except gave given goes gone gotten happen held keep kept knew
known less least left long longer made neither never nobody often otherwise perhaps quite rather
said several shown somebody someone sometimes somewhere together told took taken towards twice
unless upon usually went whatever whenever wherever whether whose written wrote
"""


def extract_topics(texts: Sequence[str]) -> list[str]:
    """Return the common topics of texts, the weightiest first; the first text counts twice."""
    weights: Counter[str] = Counter()
    for place, text in enumerate(texts):
        factor = 2 if place == 0 else 1
        for word in set(_WORD.findall(text[:_SEARCHED])):
            folded = word.lower().strip("._-")
            weight = 0 if _is_filling(folded) else _weight(word, folded)
            if weight:
                weights[folded] += weight * factor
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return [word for word, _ in ordered[:MOST]]


@cache
def _filling() -> frozenset[str]:
    words = (*STOP, *_FILLING.split(), *prompt_relevance.TALK.split())
    return frozenset((*words, *lexical.stems(" ".join(words))))


@lru_cache(1 << 16)
def _is_filling(folded: str) -> bool:
    """Tell whether a word names nothing: `adding`, `now.it`."""
    known = _filling()
    return all(
        part in known or (part.isascii() and known.issuperset(lexical.stems(part)))
        for part in _PARTS.split(folded)
    )


def _weight(word: str, folded: str) -> int:
    if _HASH.fullmatch(folded):
        return 0
    if _PLAIN.fullmatch(folded):
        return 1 if word[1:] == word[1:].lower() else _NAMED
    # An acronym, an identifier, a file, or a word of another script.
    return _NAMED if len(folded) > 2 and (word[1:] != word[1:].lower() or len(folded) > 3) else 0
