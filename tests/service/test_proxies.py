"""The proxies' configurations of the how-to, run as they stand there."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from chronodp.service import read_policy
from tests.docs.pages import ROOT, blocks
from tests.service.certificate import write_certificate
from tests.service.town import API, SUM, House, free_port, open_house, write_policy

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs/how-to/put-a-curator-online.md"
DEFAULTS, PROXIES = [block.text for block in blocks(PAGE) if block.language == "toml"]


def configuration(language: str, **replaced: str) -> str:
    """Return a block of the page with other names and ports; each must be there."""
    (text,) = [block.text for block in blocks(PAGE) if block.language == language]
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    return text


def nginx(house: House, folder: Path, port: int) -> list[str]:
    text = configuration("nginx", **{
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "127.0.0.1:8321": f"127.0.0.1:{house.http.base_url.port}",
        "/etc/curator/": f"{folder}/",
    })  # fmt: skip
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    whole = f"daemon off; master_process off; pid {folder}/pid; events {{}}\nhttp {{ access_log off;\n{places}{text}}}"
    (folder / "nginx.conf").write_text(whole, encoding="utf-8")
    return ["nginx", "-e", str(folder / "nginx.log"), "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(house: House, folder: Path, port: int) -> list[str]:
    text = configuration("text", **{
        "curator.example {": f"https://127.0.0.1:{port} {{\n    tls {folder}/cert.pem {folder}/key.pem",
        "127.0.0.1:8321": f"127.0.0.1:{house.http.base_url.port}",
    })  # fmt: skip
    text = text.replace("{\n", "{\n    admin off\n    auto_https off\n", 1)
    (folder / "Caddyfile").write_text(text, encoding="utf-8")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def behind(name: str, folder: Path, edge: str) -> Iterator[tuple[House, str]]:
    """Run a curator behind a proxy; give both, and the proxy's address."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: its configuration in {PAGE.name} was not run")
    write_certificate(folder / "cert.pem", folder / "key.pem")
    policy = write_policy(folder)
    policy.write_text(f"{policy.read_text(encoding='utf-8')}\n{edge}\n", encoding="utf-8")
    with open_house(policy) as house, (folder / "proxy.log").open("wb") as log:
        port = free_port()
        command = {"nginx": nginx, "caddy": caddy}[name](house, folder, port)
        environment = {"PATH": "/usr/sbin:/usr/bin:/bin:/usr/local/bin", "HOME": str(folder)}
        proxy = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            until = time.monotonic() + 30
            while not answers(port):
                assert proxy.poll() is None, (folder / "proxy.log").read_text(encoding="utf-8")
                assert time.monotonic() < until
                time.sleep(0.05)
            yield house, f"https://127.0.0.1:{port}"
        finally:
            proxy.terminate()
            proxy.wait(30)


def test_the_limits_of_the_page_are_those_that_hold_unless_others_are_set(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    bare = policy.read_text(encoding="utf-8")
    usual = read_policy(policy).running
    policy.write_text(f"{bare}\n{DEFAULTS}", encoding="utf-8")
    said = read_policy(policy).running.edge
    assert said.strangers == 20
    for name in ("connections", "per_caller", "head", "body", "proxies"):
        assert getattr(said, name) == getattr(usual.edge, name)
    policy.write_text(f"{bare}\n{PROXIES}", encoding="utf-8")
    assert read_policy(policy).running.edge.proxies == ("127.0.0.1",)


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_a_documented_proxy_hands_on_who_calls_and_nothing_made_up(name: str, tmp_path: Path) -> None:
    with behind(name, tmp_path, f"{PROXIES}\nstrangers = 2") as (house, url):
        ana = house.headers("ana")
        with httpx.Client(base_url=f"{url}{API}", verify=False, timeout=30) as http:
            assert http.get("/me", headers=ana).json()["name"] == "ana"
            assert http.post("/datasets/meters/plan", json=SUM, headers=ana).status_code == 200
            signed = http.post("/session", json={"token": house.tokens["ana"]})
            assert "secure" in signed.headers["set-cookie"].lower()
            assert "strict-transport-security" in signed.headers
            large = json.dumps({"release": "x" * (2 << 20), "link": {"body": "b", "signature": "s"}})
            kind = {"Content-Type": "application/json"}
            assert http.post("/verify", content=large, headers=kind | ana).json()["valid"] is False
            http.cookies.clear()
            assert http.post("/verify", content=large, headers=kind).status_code in {401, 429}
            spoofed = [http.get("/health", headers={"X-Forwarded-For": f"192.0.2.{n}"}).status_code for n in range(12)]
            assert 429 in spoofed
            assert http.get("/me", headers=ana).status_code == 200
        elsewhere = httpx.HTTPTransport(verify=False, local_address="127.0.0.77")
        with httpx.Client(base_url=f"{url}{API}", transport=elsewhere, timeout=30) as http:
            assert http.get("/health").status_code == 200  # another address, with calls of its own
