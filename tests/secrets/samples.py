"""What the tests of the detector share. Every sample is put together, so that no file holds one."""

from memfs.secrets import find_secrets

MIXED = "q7Rw2ZtK9mXc4VbN8sLd6HfJ3gPy5TuA1eWo0iCx7RkB2nMv9QzD4hYs"
HEX = "3f9a1c7e5b2d8064" * 8
B64 = (MIXED + "aY3/u+K") * 4
UUID = "3f9a1c7e-5b2d-4064-8f9a-1c7e5b2d8064"
PASSWORD = "plover-" + "Xk29zQ"
GITHUB = "gh" + "p_" + MIXED[:36]
HEAD, TAIL = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"


def values(text: str) -> list[str]:
    return [text[found.start : found.end] for found in find_secrets(text)]
