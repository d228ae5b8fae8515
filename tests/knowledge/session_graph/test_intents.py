"""What a message is for: sentences of our own, labelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.knowledge.session_graph import intents


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Add a retry to the payment client", "request"),
        ("can you add a retry to the payment client?", "request"),
        ("Great! Can you also write a test for it?", "request"),
        ("we need a flag that turns it off", "request"),
        ("Why does the gateway answer with 502?", "question"),
        ("and where is the port configured?", "question"),
        ("The build crashes with a stack overflow in the parser", "problem"),
        ("No, that's not what I meant", "correction"),
        ("it still doesn't compile", "correction"),
        ("you forgot the changelog", "correction"),
        ("https://example.invalid/issues/7 investigate how this can be resolved", "request"),
        ("yes", "approval"),
        ("go ahead", "approval"),
        ("Thanks, that's perfect!", "thanks"),
        ("Great job", "thanks"),
        ("that fixed it", "thanks"),
        ("Yes, that fixed the tests. Now bump the version of the client", "request"),
        ("it works now, thank you", "thanks"),
        ("That did the trick!", "thanks"),
        ("this has solved it for me", "thanks"),
        ("that fixed it, but the build fails now", "problem"),
        ("it works?", "question"),
        ("this fixed price is wrong", "problem"),
        ("it works like a queue of the broken messages", "problem"),
        ("From now on, use tabs", "preference"),
        ("/compact", "command"),
        ("hello there", "greeting"),
        ("The colour of the sky", "talk"),
    ],
)
def test_what_people_want(text: str, intent: str) -> None:
    assert intents.classify_message("user", "", text) == intent


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Let me look at the client first.", "plan"),
        ("The client has no timeout. Let me add one:", "plan"),
        ("The filter.go changes look good. Now let me update settings.go to log warnings", "plan"),
        ("Storing that now.", "plan"),
        ("Done. The client retries three times now.", "done"),
        ("All 12 tests pass.", "done"),
        ("Found the cause: the pool is closed too early.", "finding"),
        ("Should the flag be on by default?", "question"),
        ("A generator yields values one after the other.", "answer"),
    ],
)
def test_what_assistants_do(text: str, intent: str) -> None:
    assert intents.classify_message("assistant", "", text) == intent


@pytest.mark.parametrize(
    ("tool", "text", "intent"),
    [
        ("Read", "file_path: /a/b.py", "read"),
        ("Bash", "command: npm run test -- --watch=false\ndescription: Run tests", "test"),
        ("Bash", "command: cd app && pytest -q", "test"),
        ("exec_command", "cmd: git commit -m 'fix: retry'", "commit"),
        ("shell", 'command: ["bash", "-lc", "cargo clippy"]', "check"),
        ("Bash", "command: rg retry src", "search"),
        ("Bash", "command: sed -n '1,20p' a.py", "read"),
        ("Bash", "command: pip install httpx", "install"),
        ("Bash", "command: ./deploy.sh", "run"),
        ("Bash", "command: grep -rl goreleaser .github 2>/dev/null; ls", "search"),
        ("Bash", "command: rtk grep foo src 2>/dev/null", "search"),
        ("Bash", "command: cat a.md > b.md", "edit"),
        ("Bash", "command: cd app && git add -A && git commit -m 'it; test'", "commit"),
        ("Bash", "command: gh pr list", "web"),
        ("Bash", "command: git tag -l", "run"),
        ("Bash", "command: git rebase --abort", "run"),
        ("Bash", "command: grep pytest setup.cfg", "search"),
        ("Bash", "command: cat jest.config.js", "read"),
        ("Bash", "command: pip install pytest", "install"),
        ("Bash", "command: rg 'black' src", "search"),
        ("Bash", 'command: echo "git commit && make test"', "run"),
        ("Bash", "command: npx tsc --noEmit 2>&1 | head", "check"),
        ("apply_patch", "*** Begin Patch", "edit"),
        ("mcp__memfs__core_memory_append", "label: human", "memory"),
        ("result", "3 passed in 0.1s", "result"),
        ("result", "1 failed, 2 passed", "failure"),
        ("result", "error: logged on purpose\n1351 pass\n0 fail", "result"),
        ("result", "error: no\n1 passed\n0 failures\n--- FAIL: other\nFAILED", "failure"),
        ("result", "Traceback (most recent call last):\n  File", "failure"),
        ("result", "0 errors, 0 failed", "result"),
    ],
)
def test_which_kind_a_call_is(tool: str, text: str, intent: str) -> None:
    assert intents.classify_message("tool", tool, text) == intent


@given(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=20), st.text())
def test_everything_has_an_intent(role: str, tool: str, text: str) -> None:
    known = {"user": intents.USER, "assistant": intents.ASSISTANT, "tool": intents.TOOL}
    assert intents.classify_message(role, tool, text) in known[role]
