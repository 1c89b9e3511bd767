"""A stand-in for the Hugging Face hub: the part of its HTTP interface that an upload and a download use."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import tenfold

COMMIT = "a" * 40


class Hub(BaseHTTPRequestHandler):
    """Files in memory, by repository; every upload is one commit of base64 text, without LFS."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.asked.append(("POST", self.path, body))
        if self.path == "/api/repos/create":
            given = json.loads(body)
            owner = given.get("organization") or "me"
            repo = f"{owner}/{given['name']}"
            self.server.repos.setdefault(repo, {})
            self.reply({"url": f"{self.server.address}/{repo}"})
        elif "/preupload/" in self.path:
            files = json.loads(body)["files"]
            modes = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files
            ]
            self.reply({"files": modes})
        elif "/commit/" in self.path:
            repo = "/".join(self.path.split("/")[3:5])
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    data = base64.b64decode(line["value"]["content"])
                    self.server.repos[repo][line["value"]["path"]] = data
            self.reply(
                {"commitUrl": f"{self.server.address}/{repo}/commit/{COMMIT}", "commitOid": COMMIT}
            )
        else:
            self.reply({}, 200 if "validate-yaml" in self.path else 404)

    def do_GET(self):
        path, self.server.asked[:] = (
            self.path.split("?")[0],
            [*self.server.asked, ("GET", self.path, b"")],
        )
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            repo = "/".join(parts[2:4])
            if repo not in self.server.repos:
                return self.reply(
                    {"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"}
                )
            if "tree" in parts:
                files = self.server.repos[repo].items()
                return self.reply(
                    [{"type": "file", "path": n, "size": len(d), "oid": etag(d)} for n, d in files]
                )
            files = [
                {"rfilename": name, "size": len(data)}
                for name, data in self.server.repos[repo].items()
            ]
            return self.reply({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": files, "private": False,
                               "downloads": 0, "likes": 0, "tags": []})  # fmt: skip
        data = self.server.repos.get("/".join(parts[:2]), {}).get("/".join(parts[4:]))
        if data is None:
            return self.reply({}, 404, {"X-Error-Code": "EntryNotFound"})
        return self.reply(data, headers={"X-Repo-Commit": COMMIT, "ETag": f'"{etag(data)}"'})

    do_HEAD = do_GET

    def reply(self, value, status=200, headers=None):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": len(data), **(headers or {})}.items():
            self.send_header(name, str(text))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_):
        """Nothing is printed."""


def etag(data):
    return hashlib.sha1(data).hexdigest()


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A running hub: `hub.repos["me/adder"]["README.md"]`."""
    constants = pytest.importorskip("huggingface_hub.constants")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.address = f"http://127.0.0.1:{server.server_port}"
    server.repos, server.asked = {}, []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE
    path = template[template.index("/{repo_id}") :]
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.address + path)
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.setenv("HF_TOKEN", "a-token-of-the-test")
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of seconds."""
    recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke")
    return tenfold.train(recipe, out=tmp_path_factory.mktemp("sharing") / "run")
