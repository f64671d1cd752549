"""The software bill of materials, as CycloneDX 1.6: `make sbom` writes it to `dist/`.

Versions and hashes are those of the locks, licenses and dependencies those of the installed packages. A package that is
not installed here, since it is for another Python or system, has none of the latter. `scope` says who gets a package:
`required` everyone, `optional` users of an extra, `excluded` developers of Hanbeon. The page's packages are
bundled into the wheel, so that they are required, too.
"""

from __future__ import annotations

import datetime
import json
import os
import tomllib
import uuid
from collections.abc import Container, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.pins import ROOT, Pin, npm_pins, python_pins, requirements

# A license field may contain the whole text of the license.
_LONGEST_LICENSE_NAME = 100
_CLASSIFIER = "License :: "


def bill() -> dict[str, Any]:
    """Return the bill of what the locks pin; the same locks, environment and SOURCE_DATE_EPOCH give the same bill."""
    project = (ROOT / "pyproject.toml").read_text()
    pins = list(python_pins((ROOT / "constraints.txt").read_text()))
    page_lock = (ROOT / "dashboard/package-lock.json").read_text()
    wanted = requirements(project)
    required = _closure(wanted[""])
    optional = _closure(each for extra in wanted.keys() - {"dev", "build-system"} for each in wanted[extra])
    everything = _closure(each for listed in wanted.values() for each in listed)
    components = [_python_component(pin, required, optional) for pin in pins]
    page = list(npm_pins(page_lock))
    licenses = {path.rpartition("node_modules/")[2]: each for path, each in json.loads(page_lock)["packages"].items()}
    components += [_npm_component(pin, licenses[pin.name].get("license")) for pin in page]
    root = _root(tomllib.loads(project)["project"])
    by_name = _references(pins)
    bundled = [pin.purl for pin in page if pin.shipped]
    dependencies = [{"ref": root["bom-ref"], "dependsOn": sorted([*_refer(wanted[""], by_name), *bundled])}]
    for pin in pins:
        needs = _needs(pin.name, everything.get(canonicalize_name(pin.name), ()))
        dependencies.append({"ref": pin.purl, "dependsOn": sorted(_refer(needs, by_name))})
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    made = datetime.datetime.fromtimestamp(int(epoch), datetime.UTC) if epoch else datetime.datetime.now(datetime.UTC)
    metadata = {"timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": root}
    content = {"metadata": metadata, "components": components, "dependencies": dependencies}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        **content,
    }


def _root(project: dict[str, Any]) -> dict[str, Any]:
    pin = Pin("pypi", project["name"], project["version"])
    licenses = [{"expression": project["license"]}]
    return {**_component(pin), "type": "application", "description": project["description"], "licenses": licenses}


def _component(pin: Pin) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": pin.purl,
        "name": pin.name,
        "version": pin.version,
        "purl": pin.purl,
    }
    if pin.hashes:
        found["hashes"] = [{"alg": algorithm, "content": digest} for algorithm, digest in pin.hashes]
    if pin.marker:
        found["properties"] = [{"name": "hanbeon:marker", "value": pin.marker}]
    return found


def _python_component(pin: Pin, required: Container[str], optional: Container[str]) -> dict[str, Any]:
    name = canonicalize_name(pin.name)
    scope = "required" if name in required else "optional" if name in optional else "excluded"
    licenses = _licenses(pin)
    return {**_component(pin), "scope": scope, **({"licenses": licenses} if licenses else {})}


def _npm_component(pin: Pin, license_id: str | None) -> dict[str, Any]:
    licenses = {"licenses": [{"expression": license_id}]} if license_id else {}
    return {**_component(pin), "scope": "required" if pin.shipped else "excluded", **licenses}


def _licenses(pin: Pin) -> list[dict[str, Any]]:
    """Return what the installed version says of its license, the most exact statement first."""
    try:
        found = distribution(pin.name)
    except PackageNotFoundError:
        return []
    if found.version != pin.version:
        return []
    if "License-Expression" in found.metadata:
        return [{"expression": found.metadata["License-Expression"]}]
    classifiers = [each for each in found.metadata.get_all("Classifier") or [] if each.startswith(_CLASSIFIER)]
    if classifiers:
        return [{"license": {"name": each.rpartition(" :: ")[2]}} for each in classifiers]
    name = found.metadata["License"].strip() if "License" in found.metadata else ""
    return [{"license": {"name": name}}] if name and len(name) <= _LONGEST_LICENSE_NAME else []


def _needs(name: str, extras: Iterable[str]) -> list[Requirement]:
    """Return what an installed package asks for with these extras; one that is not installed here asks for nothing."""
    try:
        listed = distribution(name).requires or []
    except PackageNotFoundError:
        return []
    return [each for each in map(Requirement, listed) if _applies(each, extras)]


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    # Conditions on Pythons and systems are left to the pins, which know them all.
    if requirement.marker is None or "extra" not in str(requirement.marker):
        return True
    return any(requirement.marker.evaluate({"extra": extra}) for extra in extras)


def _closure(wanted: Iterable[Requirement]) -> dict[str, set[str]]:
    """Return the names of everything that is needed for these, each with the extras that are asked for."""
    found: dict[str, set[str]] = {}
    waiting = list(wanted)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in found or not requirement.extras <= found[name]:
            found.setdefault(name, set()).update(requirement.extras)
            waiting.extend(_needs(name, found[name]))
    return found


def _references(pins: Sequence[Pin]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pin in pins:
        found.setdefault(canonicalize_name(pin.name), []).append(pin.purl)
    return found


def _refer(wanted: Iterable[Requirement], by_name: dict[str, list[str]]) -> set[str]:
    return {purl for each in wanted for purl in by_name.get(canonicalize_name(each.name), [])}


def main() -> None:
    found = bill()
    root = found["metadata"]["component"]
    path = ROOT / "dist" / f"{root['name']}-{root['version']}.cdx.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    print(f"{path.relative_to(ROOT)}: {len(found['components'])} components")


if __name__ == "__main__":
    main()
