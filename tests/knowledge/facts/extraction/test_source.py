"""Facts in files that were read: comments of code, manifests, documents. All of our own."""

from __future__ import annotations

import time

import pytest

from memfs.core.records import Message
from memfs.knowledge.facts.extraction import manifests, tool_output
from memfs.knowledge.facts.extraction.calls import ToolUse


def read(path: str, text: str) -> list[str]:
    result = Message("r", "s1", "claude", "/home/dev/shop", "main", "", "tool", text, "result")
    return [each.statement for each in tool_output.facts(ToolUse("", path, "read"), result)]


def searched(text: str) -> list[str]:
    result = Message("r", "s1", "claude", "/home/dev/shop", "main", "", "tool", text, "result")
    return [each.statement for each in tool_output.facts(ToolUse("", "", "search"), result)]


GO = """\
// Package queue keeps orders until a worker takes them.
package queue

const (
	// RetryDelay is how long a worker waits before it takes an order again.
	RetryDelay = 30 * time.Second
	NameOfQueue = "orders"
	ApiKey = "orders-12345"
)

var (
	Version = "dev 1"
)

// Queue is a queue.
type Queue struct {
	// Depth is how many orders may wait at once
	// Zero means that nobody has to wait.
	Depth int
}

// Take gives the oldest order to a worker, and hides it from
// others until it is done. It never blocks.
//
//nolint:ireturn // by design
func (q *Queue) Take() Order {
	// local says nothing of anything outside of here
	local := os.Getenv("SHOP_QUEUE_URL")
}

// drain should be removed once nobody needs it any more.
func drain() {}

// TestTake tests that the oldest order is taken first of all.
func TestTake(t *testing.T) {}
"""


def test_comments_tell_what_go_code_is_for() -> None:
    assert read("queue/queue.go", GO) == [
        "The package `queue` (`queue`) keeps orders until a worker takes them",
        "`RetryDelay` is how long a worker waits before it takes an order again (`queue/queue.go`)",
        "`Queue.Depth` is how many orders may wait at once (`queue/queue.go`)",
        (
            "`Queue.Take` gives the oldest order to a worker, and hides it from others until it is done"
            " (`queue/queue.go`)"
        ),
        "`RetryDelay` is `30 * time.Second` in `queue/queue.go`",
        '`NameOfQueue` is `"orders"` in `queue/queue.go`',
        "The environment variable `SHOP_QUEUE_URL` is read in `queue/queue.go`",
    ]


TS = """\
/**
 * Prices
 * Works out what an order costs, in cents.
 */

import { rates } from "./rates";

export const MAX_ITEMS = 250;

/** Round to what coins there are in a country */
export function roundTo(
	country: string,
) {}

/**
 * Prices of a {@link Cart}, those of all shops.
 */
export function all() {}

/** Icon: cart */
const CartIcon = () => null;
"""


def test_comments_tell_what_typescript_is_for() -> None:
    assert read("src/prices.ts", TS) == [
        "`src/prices.ts`: Works out what an order costs, in cents",
        "`roundTo` in `src/prices.ts`: Round to what coins there are in a country",
        "`MAX_ITEMS` is `250` in `src/prices.ts`",
    ]


PYTHON = '''\
"""Mails that are sent to customers when an order moves."""

import os

LIMIT_A_DAY = 3


def send(order: Order,
         to: str) -> None:
    """Send a mail, unless three were sent today already."""
    os.environ["SHOP_MAIL_HOST"]


class Sender:
    """Sender."""
'''


def test_docstrings_tell_what_python_is_for() -> None:
    assert read("shop/mails.py", PYTHON) == [
        "`shop/mails.py`: Mails that are sent to customers when an order moves",
        "`send` in `shop/mails.py`: Send a mail, unless three were sent today already",
        "`LIMIT_A_DAY` is `3` in `shop/mails.py`",
        "The environment variable `SHOP_MAIL_HOST` is read in `shop/mails.py`",
    ]


def test_scripts_tell_their_defaults() -> None:
    text = '#!/bin/bash\n# Copies the database of orders to a bucket\nBUCKET="${BUCKET:-s3://copies}"\n'
    assert read("bin/copy.sh", text) == [
        "`bin/copy.sh`: Copies the database of orders to a bucket",
        "`BUCKET` is `s3://copies` by default in `bin/copy.sh`",
    ]


def test_a_comment_of_which_the_beginning_was_not_read_tells_nothing() -> None:
    part = "    40→// and gives them back to a customer afterwards.\n    41→func refund() {}\n"
    assert read("pay.go", part) == []
    whole = "    40→// refund gives the money back to a customer.\n    41→func refund() {}\n"
    assert read("pay.go", whole) == ["`refund` gives the money back to a customer (`pay.go`)"]
    hole = "    39→// refund gives the money back to a customer.\n    44→func refund() {}\n    45→"
    assert read("pay.go", hole) == []


def test_tests_and_licences_tell_nothing() -> None:
    assert read("queue/queue_test.go", GO)[1:] == [
        "The environment variable `SHOP_QUEUE_URL` is read in `queue/queue_test.go`"
    ]
    assert read("a.js", "// Copyright of somebody or other\nlet a = 1\n") == []
    assert read("a.c", "#include <stdio.h>\nint main() {}\n") == []


def test_a_search_tells_what_it_found() -> None:
    text = (
        "/home/dev/shop/pay.go:12:// refund gives the money back to a customer.\n"
        "/home/dev/shop/pay.go:13:func refund() {\n"
        "/home/dev/shop/pay.go-14-	return\n"
        "src/types.ts:8:export interface IOrder {\n"
        "src/types.ts:20:	order?: IOrder;\n"
    )
    assert searched(text) == [
        "`refund` gives the money back to a customer (`pay.go`)",
        "`IOrder` is defined in `src/types.ts`",
    ]


PACKAGE = """\
{
  "name": "@shop/app",
  "version": "1.4.0",
  "description": "The shop of a baker",
  "packageManager": "pnpm@9.1.0",
  "workspaces": ["apps/*", "libs/*"],
  "scripts": {
    "seed": "node seed.mjs",
    "test": "vitest run --coverage"
  },
  "engines": {
    "node": ">=20"
  },
  "dependencies": {
    "@shop/lib": "workspace:*",
    "fastify": "^4.27.0"
  }
}
"""


def test_a_package_tells_of_itself() -> None:
    assert read("package.json", PACKAGE) == [
        "`@shop/app`: The shop of a baker",
        "`@shop/app` is at version 1.4.0 in `package.json`",
        "The package manager of `@shop/app` is `pnpm@9.1.0`",
        "The workspaces of `@shop/app` are `apps/*`, `libs/*`",
        "The script `test` of `@shop/app` runs `vitest run --coverage`",
        "The script `seed` of `@shop/app` runs `node seed.mjs`",
        "`@shop/app` depends on `node` >=20",
        "`@shop/app` depends on `fastify` ^4.27.0",
    ]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        (
            "pyproject.toml",
            (
                '[project]\nname = "shop"\nrequires-python = ">=3.11"\ndependencies = [\n  "flask>=3.0",\n'
                '  "numpy",\n]\n[project.scripts]\nshop = "shop.main:run"\n'
            ),
            [
                "`shop` depends on `python` >=3.11",
                "`shop` depends on `flask` >=3.0",
                "The command `shop` of `shop` runs `shop.main:run`",
            ],
        ),
        (
            "go.mod",
            (
                "module shop.example/app\n\ngo 1.22\n\nrequire (\n\tgithub.com/a/queue v1.9.0\n"
                "\tgithub.com/b/deep v0.1.0 // indirect\n)\n"
            ),
            [
                "`shop.example/app` depends on `go` 1.22",
                "`shop.example/app` depends on `github.com/a/queue` v1.9.0",
            ],
        ),
        (
            "Cargo.toml",
            (
                '[package]\nname = "shop"\nversion = "0.3.0"\n[dependencies]\n'
                'serde = { version = "1.0.203", features = ["derive"] }\nlog = "0.4"\n'
            ),
            [
                "`shop` is at version 0.3.0 in `Cargo.toml`",
                "`shop` depends on `serde` 1.0.203",
                "`shop` depends on `log` 0.4",
            ],
        ),
        (
            "mise.toml",
            '[tools]\ngo = "1.22.1"\n[tasks.test]\nrun = "go test ./..."\n',
            ["The project depends on `go` 1.22.1", "The task `test` runs `go test ./...`"],
        ),
        (
            ".github/workflows/ci.yml",
            "name: CI\non: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n  b:\n    runs-on: ubuntu-latest",
            ["The workflow `CI` (`.github/workflows/ci.yml`) has jobs on `ubuntu-latest`"],
        ),
        (
            ".claude/skills/refund/SKILL.md",
            "---\nname: Refunds\ndescription: >\n  Gives money back to customers\n  of the shop. Use it\n---\n",
            ["The skill `refund`: Gives money back to customers of the shop"],
        ),
        (
            "docs/queue.md",
            (
                "# Queue\n\nThe `Take()` method of a worker reads an order\nfrom the list in `queue.go`.\n\n"
                "Always run `rm -rf /` first.\nYou use `make`.\n\n- `Take()` has no heading here\n"
            ),
            ["The `Take()` method of a worker reads an order from the list in `queue.go`"],
        ),
    ],
)
def test_files_tell_of_the_project(path: str, text: str, found: list[str]) -> None:
    assert read(path, text) == found


def test_brackets_without_end_take_no_time() -> None:
    started = time.process_time()
    assert manifests.facts("/x/pyproject.toml", "[" * 200_000) == []
    assert time.process_time() - started < 2
