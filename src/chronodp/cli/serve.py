"""``chronodp serve``: the curator's service for analysts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from chronodp.cli.curated_town import prepare_town
from chronodp.cli.options import Address, Keys
from chronodp.cli.terminal import terminal
from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.privacy import check_whole

__all__ = ["serve"]

_DEMO = Path("chronodp-curator")


def serve(
    policy: Annotated[Path | None, typer.Option(help="The policy's TOML file.")] = None,
    ledger: Address = "budget.db",
    keys: Keys = None,
    witness: Annotated[
        Path | None,
        typer.Option(help="A file that counts charges, on another disk, to notice a ledger that was set back."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8321,
    workers: Annotated[int, typer.Option(help="How many processes share the work.")] = 1,
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate (PEM), to serve under TLS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key (PEM).")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Make up a town in ./chronodp-curator and serve that.")] = False,
) -> None:
    """Serve the API and the page: analysts plan for nothing, submit and get releases; everyone sees the budget.

    Stopped, it finishes the jobs it has begun; those that wait go on at the next start.

    **Examples**

    `chronodp serve --demo`

    `chronodp serve --policy policy.toml --ledger budget.db`

    `chronodp serve --policy policy.toml --ledger postgresql://curator@db/ledger --keys owner.keys --workers 4
    --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem`
    """
    console = terminal(errors=True, soft_wrap=True)
    if demo:
        made = prepare_town(_DEMO, households=5_000)
        policy, ledger = _DEMO / "policy.toml", str(_DEMO / "budget.db")
        for name, token in made["tokens"].items():
            console.print(f"  {name:<8}{token}")
    if policy is None:
        raise InvalidArgument("policy", None, "given, or --demo for a made-up town")
    check_whole("workers", workers, most=64)
    check_whole("port", port, least=0, most=65535)
    check_extra("service", "fastapi", "jinja2", "prometheus_client", "uvicorn")
    from chronodp.service import Settings, serve as run

    tls = tls_cert is not None
    if not tls and host not in ("127.0.0.1", "localhost", "::1"):
        console.print("Tokens travel in the clear: use --tls-cert and --tls-key, or a proxy that does.", style="yellow")
    settings = Settings(
        str(policy),
        ledger,
        keys=None if keys is None else str(keys),
        witness=None if witness is None else str(witness),
        tls=tls,
        workers=workers,
    )
    run(
        settings,
        host=host,
        port=port,
        certificate=None if tls_cert is None else str(tls_cert),
        key=None if tls_key is None else str(tls_key),
        told=lambda address: console.print(f"{address}  (Ctrl-C stops)"),
        warned=lambda warning: console.print(Text.assemble(("Warning: ", "bold yellow"), warning)),
    )
