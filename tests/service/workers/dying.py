"""A worker that ends at once."""


def main() -> None:
    raise SystemExit(3)
