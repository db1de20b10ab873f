"""A run between processes on the command line, with certificates of its own."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests import forkserver
from tests.cli.conftest import run
from tests.federated.network import Network


def certify(folder: Path) -> None:
    """Make an authority of our own, and a certificate of the server signed by it."""
    now = datetime.now(UTC)
    authority, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer, subject = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("authority", "127.0.0.1")
    )

    def build(name: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        start = x509.CertificateBuilder().subject_name(name).issuer_name(issuer).public_key(public)
        return (
            start.serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
        )

    top = build(issuer, authority.public_key()).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    top = top.add_extension(
        x509.KeyUsage(False, False, False, False, False, True, True, False, False), critical=True
    ).add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    leaf = (
        build(subject, key.public_key())
        .add_extension(names, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
    )
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(top.sign(authority, hashes.SHA256()).public_bytes(pem))
    (folder / "server.pem").write_bytes(leaf.sign(authority, hashes.SHA256()).public_bytes(pem))
    (folder / "server.key").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def start(*arguments: str) -> forkserver.Program:
    command = ("-c", "from chronodp.cli import main; main()", "federate", *arguments)
    return forkserver.start(*command, environment={"COLUMNS": "300"})


def holder(network: Network, name: str, *options: str) -> tuple[str, ...]:
    place = network.folder / name
    needed = ("--token-file", f"{place}.token", "--identity", f"{place}.key", "--out", f"{place}.npy")
    return ("client", str(network.file), "--holder", name, *needed, *options)


@contextlib.contextmanager
def ended(*processes: forkserver.Program) -> Iterator[None]:
    """Leave no process behind, whatever happens."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.close()


@pytest.mark.kill
def test_a_run_over_tls(tmp_path: Path) -> None:
    certify(tmp_path)
    network = Network(
        tmp_path, ("north", "south"), rounds=2, seconds=60.0, scheme="https", server='authority = "ca.pem"'
    )
    own = tmp_path / "own.toml"
    own.write_text('[holder]\nmake = "tests.federated.crowd:make_toy"\nfactor = 0.5\n', encoding="utf-8")
    stranger = tmp_path / "stranger.toml"
    text = network.file.read_text(encoding="utf-8").replace('authority = "ca.pem"', "")
    stranger.write_text(text, encoding="utf-8")
    keys = ("--tls-cert", str(tmp_path / "server.pem"), "--tls-key", str(tmp_path / "server.key"))
    server = start("server", str(network.file), *keys, "--out", str(tmp_path / "model.npy"), "--json")
    distrusts = start("client", str(stranger), *holder(network, "north")[2:])
    with ended(server, distrusts):
        said = distrusts.communicate(timeout=300)[1]
        assert distrusts.returncode == 2, said
        assert "the server's certificate is not one that this holder trusts" in said
        clients = [start(*holder(network, "north")), start(*holder(network, "south", "--own-file", str(own)))]
        with ended(*clients):
            for process in clients:
                _, said = process.communicate(timeout=300)
                assert process.returncode == 0, said
                assert "2 of 2 rounds done" in said
        out, said = server.communicate(timeout=300)
        assert server.returncode == 0, said
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line.get("survivors") for line in lines[:2]] == [["north", "south"]] * 2
    assert lines[2]["parameters"] == 40
    for name in ("north", "south"):
        assert np.array_equal(np.load(tmp_path / f"{name}.npy"), np.load(tmp_path / "model.npy"))


def test_keys_and_tokens(tmp_path: Path, refuse: Callable[..., str]) -> None:
    network = Network(tmp_path, ("north", "south"))
    public = run("federate", "identity", str(tmp_path / "new.key")).strip()
    assert len(bytes.fromhex(public)) == 32
    assert "never overwritten" in refuse("federate", "identity", str(tmp_path / "new.key"))
    out = tmp_path / "new.token"
    run("federate", "token", str(network.file), "--holder", "north", "--out", str(out), "--days", "3")
    assert len(out.read_text(encoding="ascii").strip()) >= 43
    assert out.stat().st_mode & 0o077 == 0
    again = refuse("federate", "token", str(network.file), "--holder", "north", "--out", str(out))
    assert "out must be a new file" in again
    other = ("federate", "token", str(network.file), "--holder", "west", "--out", str(tmp_path / "x"))
    assert "holder must be one of north, south" in refuse(*other)


@pytest.mark.slow
def test_refusals_before_anything_starts(tmp_path: Path, refuse: Callable[..., str]) -> None:
    network = Network(tmp_path, ("north", "south"))
    file, key = str(network.file), str(tmp_path / "north.key")
    assert "a file that can be read" in refuse("federate", "server", str(tmp_path / "none.toml"))
    with_certificate = refuse("federate", "server", file, "--tls-cert", key, "--tls-key", key)
    assert "https, since there is a certificate" in with_certificate
    assert "loopback, since the run's address is not https" in refuse("federate", "server", file, "--host", "0.0.0.0")
    given = dict(zip(*[iter(holder(network, "north")[2:])] * 2, strict=True))
    for change, said in (
        ({"--holder": "west"}, "holder must be one of north, south"),
        ({"--token-file": str(tmp_path / "none")}, "token_file must be a file with the token"),
        ({"--identity": str(tmp_path / "none")}, "identity must be a file that can be read"),
        ({"--identity": str(tmp_path / "south.key")}, "the private key of the public one in the run's file"),
        ({"--own-file": key}, "own_file must be a TOML file (Expected"),
    ):
        arguments = [part for pair in {**given, **change}.items() for part in pair]
        assert said in refuse("federate", "client", file, *arguments)
    away = [part for pair in {**given, "--patience": "0.2"}.items() for part in pair]
    said = refuse("federate", "client", file, *away)
    assert "the server is away (ConnectError); waiting for it" in said
    assert "start again when it is back" in said
    assert "federate server" in run("federate", "server", "--help")


@pytest.mark.kill
def test_a_taken_address_is_said(tmp_path: Path) -> None:
    network = Network(tmp_path, ("north", "south"))
    host, port = network.run.place
    with socket.socket() as taken:
        taken.bind((host, port))
        taken.listen()
        server = start("server", str(network.file))
        said = server.communicate(timeout=300)[1]
    assert server.returncode == 2
    assert "an address where this machine can listen" in said


@pytest.mark.parametrize("options", [(), ("--tls-key", "x.pem")])
def test_https_needs_a_certificate(tmp_path: Path, refuse: Callable[..., str], options: tuple[str, ...]) -> None:
    network = Network(tmp_path, ("north", "south"), scheme="https")
    assert "given with its key" in refuse("federate", "server", str(network.file), *options)
