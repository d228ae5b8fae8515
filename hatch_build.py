"""What the wheel brings along beside our code, as a CycloneDX document in `.dist-info/sboms/`.

What memfs depends on is in the wheel's metadata. The document has no date and no random number: the
same sources make the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MODEL = "memfs/search/model"
_FILES = ("config.json", "model.safetensors", "tokenizer.json")


def _describe_file(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "type": "file",
        "bom-ref": f"{_MODEL}/{path.name}",
        "name": f"{_MODEL}/{path.name}",
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }


def _describe_model(root: Path, home: str, version: str) -> dict[str, Any]:
    card = f"{home}/blob/v{version}/{_MODEL}/README.md"
    return {
        "type": "machine-learning-model",
        "bom-ref": _MODEL,
        "name": "memfs-embedding",
        "version": version,
        "description": "Static embeddings of short English texts about software, made for memfs.",
        "licenses": [{"license": {"id": "MIT"}}],
        "externalReferences": [{"type": "model-card", "url": card}],
        "modelCard": {
            "modelParameters": {
                "approach": {"type": "supervised"},
                "task": "sentence-similarity",
                "architectureFamily": "static embeddings",
                "modelArchitecture": "model2vec",
            }
        },
        "properties": [
            {"name": "memfs:card", "value": f"{_MODEL}/README.md"},
            {"name": "memfs:teacher", "value": "thenlper/gte-small (MIT)"},
            {
                "name": "memfs:teacher",
                "value": "ibm-granite/granite-embedding-30m-english (Apache-2.0)",
            },
        ],
        "components": [_describe_file(root / _MODEL / name) for name in _FILES],
    }


def describe(root: Path, name: str, version: str, home: str) -> dict[str, Any]:
    """Return the document for the package in `root`."""
    package = f"pkg:pypi/{name}@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": package,
                "name": name,
                "version": version,
                "purl": package,
                "licenses": [{"license": {"id": "MIT"}}],
                "externalReferences": [{"type": "vcs", "url": home}],
            }
        },
        "components": [_describe_model(root, home, version)],
        "dependencies": [{"ref": package, "dependsOn": [_MODEL]}, {"ref": _MODEL}],
    }


class CustomBuildHook(BuildHookInterface[Any]):
    """Writes the document while the wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Have the wheel take the document in."""
        core = self.metadata.core
        document = describe(
            Path(self.root), core.raw_name, self.metadata.version, core.urls["Homepage"]
        )
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name, f"{core.raw_name}.cdx.json")
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(path))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was written."""
        self._folder.cleanup()
