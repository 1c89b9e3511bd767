"""Files of somebody else are read as data, within their folder, up to a size; every problem is one line."""

import json
import os

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.core.stored_files import (
    check_no_way_out,
    manifest,
    parse_yaml,
    read_checked,
    read_json,
    read_manifest,
    read_stored,
    sealed,
    stored_mapping,
)


def refused(call, said):
    with pytest.raises(TenfoldError, match=said) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_is_read_within_its_folder(tmp_path):
    folder, secret = tmp_path / "run", tmp_path / "secret"
    folder.mkdir()
    secret.write_text("mine")
    (folder / "plain").write_text("data")
    (folder / "near").symlink_to("plain")
    (folder / "out").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    assert read_stored(folder, "plain") == read_stored(folder, "near") == b"data"
    (tmp_path / "link").symlink_to(folder)  # the folder itself is named by a person
    assert read_stored(tmp_path / "link", "plain") == b"data"
    for name in ("out", "up/secret", "../secret", str(secret)):
        refused(lambda name=name: read_stored(folder, name), "leads out of the folder")
    refused(lambda: check_no_way_out(folder), "leads out of the folder")
    with pytest.raises(FileNotFoundError):
        read_stored(folder, "nothing")


def test_neither_a_pipe_nor_a_device_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        refused(lambda name=name: read_stored(tmp_path, name), "is no regular file|cannot be read")
    refused(lambda: check_no_way_out(tmp_path), "pipe is no regular file")
    (tmp_path / "large").write_bytes(b"12345")
    refused(lambda: read_stored(tmp_path, "large", most=4), "5 bytes; 4 at the most")


@pytest.mark.parametrize("text", ["", "{", "[" * 10**5, "9" * 5000, "\xff", '{"seal": "x"}'])
def test_damaged_json_is_one_line(tmp_path, text):
    (tmp_path / "a.json").write_bytes(text.encode("latin-1"))
    refused(lambda: read_json(tmp_path, "a.json"), r"a\.json is damaged")


def test_a_seal_covers_every_value(tmp_path):
    values = {"rows": [{"value": 0.125, "n": 1000}], "seed": 3, "name": "x", "none": None}
    whole = sealed(values)
    (tmp_path / "a.json").write_bytes(whole)
    assert read_json(tmp_path, "a.json") == values | {"seal": json.loads(whole)["seal"]}
    digits = [at for at, letter in enumerate(whole) if chr(letter).isdigit()]
    for at in digits:
        changed = b"%d" % ((int(chr(whole[at])) + 1) % 10)
        (tmp_path / "a.json").write_bytes(whole[:at] + changed + whole[at + 1 :])
        refused(lambda: read_json(tmp_path, "a.json"), r"a\.json is damaged")


@pytest.mark.parametrize("name", ["/dev/zero", "../secret", "..", ".", "", "a/b", "a\\b", "a\0b"])
def test_a_manifest_names_files_of_its_folder_alone(tmp_path, name):
    (tmp_path / "manifest.json").write_bytes(manifest({name: b"x"}))
    refused(lambda: read_manifest(tmp_path), "is no file of this folder")


def test_a_file_agrees_with_its_manifest(tmp_path):
    (tmp_path / "manifest.json").write_bytes(manifest({"a": b"data"}))
    stated = read_manifest(tmp_path)["a"]
    for content, said in ((b"data", None), (b"dat", "3 bytes of 4"), (b"dato", "was changed")):
        (tmp_path / "a").write_bytes(content)
        if said is None:
            assert read_checked(tmp_path, "a", stated) == b"data"
        else:
            refused(lambda: read_checked(tmp_path, "a", stated), said)


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
MERGED = "m0: &m0 {x: 1}\n" + "".join(
    f"m{n}: &m{n}\n  <<: [{', '.join([f'*m{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS, "it stands for more than 200,000 values"),
        (MERGED, "it stands for more than 200,000 values"),
        ("a: &a [*a]", "a value contains itself"),
        ("a: " + "[" * 100 + "]" * 100, "nested too deep"),
        ("a: " + "{b: " * 10**5, "nested too deep"),
        ("".join(" " * n + "a:\n" for n in range(600)), "nested too deep"),
        ("- " * 10**5, "nested too deep"),
        ("a: !!binary /w==", "!!binary is no plain value"),
        ("a: !!set {x}", "!!set is no plain value"),
        ("a: !!python/object/apply:os.system [ls]", "is no plain value"),
        ("a: " + "9" * 5000, "is not YAML"),
        ("a: 1\na: 2", "stands there twice"),
        ("a: [", "is not YAML"),
        ("a: \x00", "is not YAML"),
    ],
    ids=lambda each: each[:20].splitlines()[0],
)
def test_yaml_is_limited(text, said):
    refused(lambda: parse_yaml(text, "a.yaml"), f"a.yaml is not YAML.*{said}|{said}")


def test_yaml_of_people_is_as_before():
    text = "base: &base {lr: 1, steps: 5}\nmine: {<<: *base, lr: 2}\nabout: 2020-99-99\nday: 2020-01-01\n"
    assert parse_yaml(text, "a.yaml") == {
        "base": {"lr": 1, "steps": 5},
        "mine": {"lr": 2, "steps": 5},
        "about": "2020-99-99",
        "day": "2020-01-01",
    }


def test_a_yaml_file_that_is_none(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff")
    refused(lambda: stored_mapping(tmp_path, "a.yaml", "a recipe"), "is not text")
    (tmp_path / "a.yaml").write_text("- 1")
    refused(lambda: stored_mapping(tmp_path, "a.yaml", "a recipe"), "does not hold a recipe")
    refused(lambda: stored_mapping(tmp_path, "b.yaml", "a recipe"), "cannot read .*b.yaml")
