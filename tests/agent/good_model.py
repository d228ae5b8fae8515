"""A model that manages memory well: what it calls in each conversation, turn by turn, step by step.

It is written from what the users say, as a careful assistant would act, not from what is expected.
"""

from __future__ import annotations

from memfs.agent import conversations
from tests.agent.scripted_endpoint import Asked, Say, Tool

Steps = list[list[Tool]]


def append(label: str, content: str) -> Tool:
    return Tool("core_memory_append", {"label": label, "content": content})


def replace(label: str, old: str, new: str) -> Tool:
    return Tool("core_memory_replace", {"label": label, "old_content": old, "new_content": new})


def create(label: str, description: str, value: str) -> Tool:
    return Tool(
        "memory_create", {"label": label, "description": description, "initial_value": value}
    )


def archive(content: str, *tags: str) -> Tool:
    return Tool("archival_memory_insert", {"content": content, "tags": list(tags), "importance": 7})


CALLS: dict[str, list[Steps]] = {
    "new-in-payments": [
        [
            [
                append(
                    "human",
                    "Name: Priya\nTeam: payments (was in data)\nWrites Rust now, Python for years",
                )
            ]
        ]
    ],
    "teacher-from-leipzig": [
        [],
        [
            # The arguments of the first call are cut off; the second is made after the correction.
            [Tool("core_memory_append", '{"label": "human", "content": "Name: Jür')],
            [
                append(
                    "human", "Name: Jürgen, from Leipzig\nTeaches computer science at a Gymnasium"
                )
            ],
        ],
    ],
    "cannot-tell-red-from-green": [
        [],
        [[append("human", "Is red-green colour-blind: never tell lines apart by red and green.")]],
    ],
    "all-by-keyboard": [
        [[append("human", "Nombre: Lucía")]],
        [
            [
                append("human", "Vive en Buenos Aires; el equipo está en Madrid"),
                append("human", "Usa solo el teclado (tendinitis): no proponer nada con el ratón"),
            ]
        ],
    ],
    "react-beginner-in-japanese": [
        [[append("human", "田中さん。バックエンド出身、React は初心者。説明は日本語で。")]]
    ],
    "on-call-from-tonight": [
        [],
        [[append("human", "The only DBA at Northwind")]],
        [
            [
                Tool(
                    "memory_insert",
                    {"label": "human", "line": 0, "content": "Call them Sam (not Samuel)"},
                )
            ]
        ],
    ],
    "from-vim-to-helix": [[[replace("human", "Editor: Vim", "Editor: Helix")]]],
    "shorter-answers": [
        [],
        [
            [
                replace(
                    "human",
                    "Likes long explanations with background",
                    "Wants the command first, then at most two sentences",
                )
            ]
        ],
    ],
    "moved-to-nantes": [
        [
            [Tool("core_memory_read", {"label": "human"})],
            [replace("human", "Habite à Lyon", "Habite à Nantes depuis novembre 2026")],
        ]
    ],
    "typescript-after-all": [
        [],
        [],
        [
            [
                Tool(
                    "memory_rethink",
                    {
                        "label": "human",
                        "new_value": "Name: Marco\nTypeScript for all new code; a build step is fine\nTabs, not spaces",
                    },
                )
            ]
        ],
    ],
    "nothing-after-thursday": [
        [[append("system_rules", "No deploys after Thursday noon, without exception.")]]
    ],
    "amounts-in-cents": [
        [],
        [[append("system_rules", "Money: integer amounts in cents, never floats.")]],
    ],
    "from-vue-to-react": [
        # The first text is not in the block: the model looks at it and tries again.
        [
            [replace("system_rules", "Frontend: Vue.js", "Frontend: React")],
            [
                replace(
                    "system_rules",
                    "Frontend: Vue 3 with Pinia",
                    "Frontend: React (port begins this month)",
                )
            ],
        ]
    ],
    "customers-python": [
        [],
        [
            [
                append(
                    "system_rules",
                    "Code has to run on Python 3.9 until 2027 (the customer's RHEL).",
                )
            ]
        ],
    ],
    "contract-tests-first": [
        [[append("system_rules", "Neue Routen werden erst mit einem Vertragstest gemergt.")]]
    ],
    "how-the-flaky-test-was-solved": [
        [
            [
                archive(
                    "Flaky test_checkout_total (one in forty runs): the clock was frozen just before midnight, and "
                    "load_rates.sql seeded the rates of the current date only. Fixed by seeding three days and "
                    "TAX_CACHE_TTL = 0 in conftest.py.",
                    "tests",
                    "flaky",
                )
            ]
        ]
    ],
    "layout-of-the-old-export": [
        [
            [
                archive(
                    "Record of the old warehouse export, 128 bytes: 0-5 article (EBCDIC), 6-13 date (packed decimal), "
                    "14-17 quantity, 18-21 price in tenths of a cent, 22 state, 23-86 description (code page 273), "
                    "last two bytes CRC-16/XMODEM.",
                    "importer",
                    "format",
                )
            ]
        ],
        [],
    ],
    "outage-of-the-third-of-march": [
        [],
        [
            [
                archive(
                    "Outage of 3 March: 09:12 deploy of gateway 4.18.0 lowered the connection pool from 200 to 20; "
                    "rolled back 10:04, but the value stayed in etcd (/gateway/pool/max) until 10:22. 1,940 carts "
                    "lost.",
                    "outage",
                    "gateway",
                )
            ]
        ],
    ],
    "queue-benchmark": [
        [
            [
                archive(
                    "Queue benchmark (c6i.2xlarge, 64 producers, 1 kB): Postgres SKIP LOCKED 11,800/s, Redis streams "
                    "73,000/s but 212 lost at failover, NATS JetStream 41,000/s and none lost, Kafka 88,000/s with "
                    "three brokers.",
                    "benchmark",
                    "queue",
                )
            ]
        ]
    ],
    "project-aurora": [
        [
            [
                create(
                    "aurora",
                    "Project Aurora, the new billing engine: goals, architecture, open questions",
                    "A service of its own, FastAPI with Postgres; replaces the nightly COBOL jobs.",
                )
            ]
        ],
        [
            [
                append(
                    "aurora",
                    "Sent invoices are immutable; corrections are new documents.\nShadow mode by end of June.",
                )
            ]
        ],
        [[append("aurora", "Open: who owns the tax rules? Is dunning part of it?")]],
    ],
    "who-is-who": [
        [],
        [
            [
                create(
                    "team",
                    "The people the user writes to, and what each one does",
                    "Dana: platform lead (certificates, DNS, Kubernetes)\nKofi: mobile app",
                )
            ]
        ],
        [[append("team", "Mei: QA, wants the test plan before each release")]],
    ],
    "telescope-control": [
        [
            [
                create(
                    "nachtfalter",
                    "Teleskopsteuerung des Nutzers, ein eigenes Projekt neben der Arbeit",
                    "ESP32 mit zwei TMC2209, Montierung EQ3",
                )
            ]
        ],
        [[append("nachtfalter", "Firmware: Rust mit Embassy; LX200 über USB")]],
        [[append("nachtfalter", "Offen: Nachführung, periodischer Fehler 40 Bogensekunden")]],
    ],
    "a-typo": [[], []],
    "files-by-size": [[], []],
    "monday-morning": [[]],
    "this-build-only": [[[append("working", "Build time: 41 s and 38 s, noise?")]], []],
    "what-if": [[]],
    "known-already": [[[Tool("conversation_search", {"query": "Emacs delete line"})]], []],
    "the-password-is": [
        [],
        [
            [
                append(
                    "system_rules",
                    "Staging database: host db.staging.internal, user shop; the user has the passphrase.",
                )
            ]
        ],
    ],
    "a-page-gives-orders": [[], []],
    "off-the-record": [[], []],
}

_NAMES = {each.turns[0]: each.name for each in conversations.load()}


def answer(asked: Asked) -> Say:
    """Make the calls that are due at this step, then say something."""
    steps = CALLS[_NAMES[asked.said[0]]][asked.turn]
    return Say("", tuple(steps[asked.step])) if asked.step < len(steps) else Say("Done.")
