"""``chronodp federate``: keys and tokens, the server of a run, and a holder's part in it."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from chronodp.cli.federate_simulate import simulate
from chronodp.cli.options import JsonLines
from chronodp.cli.terminal import print_json, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.settings import load_settings, options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chronodp.federated import Round

__all__ = ["federate"]

federate = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Train one model across holders that keep their data; the server sees sums only.\n\n"
    "Rehearse a run with `simulate`. Then every holder makes an `identity`, the server's owner issues a `token` to "
    "each, and `server` and `client` run the rounds.",
)

federate.command()(simulate)

Run = Annotated[Path, typer.Argument(help="The run's TOML file, the same for everyone.")]
Out = Annotated[Path | None, typer.Option(help="Where the final parameters go, as .npy.")]


@federate.command()
def identity(
    path: Annotated[Path, typer.Argument(help="A new file for the private key; only its owner can read it.")],
) -> None:
    """Make a holder's identity, and print the public key that goes into the run's file.

    **Example**

    `chronodp federate identity north.key`
    """
    from chronodp.federated.aggregation import Identity

    made = Identity.create()
    made.save(path)
    print(made.public.hex())


@federate.command()
def token(
    run: Run,
    holder: Annotated[str, typer.Option(help="For whom.")],
    out: Annotated[Path, typer.Option(help="A new file for the token, to be given to the holder.")],
    days: Annotated[int, typer.Option(help="How many days it is valid.")] = 30,
) -> None:
    """Issue a holder's token; the server keeps its digest only. An older token of the holder ends.

    **Example**

    `chronodp federate token run.toml --holder north --out north.token`
    """
    from chronodp.federated.transport import issue_token, read_run

    agreed = read_run(run)
    if holder not in agreed.terms.names:
        raise InvalidArgument("holder", holder, f"one of {', '.join(agreed.terms.names)}")
    try:
        with open(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(issue_token(agreed.tokens, holder, days=days) + "\n")
    except OSError:
        raise InvalidArgument("out", str(out), "a new file in a place that can be written") from None


@federate.command()
def server(
    run: Run,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on, such as 0.0.0.0, if not the run's.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="A certificate (PEM), to serve under TLS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key (PEM).")] = None,
    out: Out = None,
    as_json: JsonLines = False,
) -> None:
    """Serve a run until its last round. Started again after a crash, it goes on where it was.

    **Example**

    `chronodp federate server run.toml --tls-cert server.pem --tls-key server.key --out model.npy`
    """
    check_extra("federated", "fastapi", "uvicorn", "httpx")
    from chronodp.federated.transport import read_run, serve

    agreed = read_run(run)
    console = terminal(errors=True)
    names, rounds = agreed.terms.names, agreed.task.rounds

    def tell(made: Round) -> None:
        if as_json:
            print_json({"round": made.number, "rounds": rounds, "survivors": made.survivors})
            return
        lost = [name for name in names if name not in made.survivors]
        without = f", without {', '.join(lost)}" if lost else ""
        console.print(f"round {made.number} of {rounds}: {len(made.survivors)} of {len(names)} holders{without}")

    if not as_json:
        terms = agreed.terms
        console.print(
            f"{terms.run} at {agreed.address}: {len(names)} holders, {terms.threshold} must stay. The server "
            f"sees sums of so many updates, also if it lies and {terms.colluders} holders help it."
        )
    _end(serve(agreed, tls_cert=tls_cert, tls_key=tls_key, host=host, progress=tell), out, as_json=as_json)


@federate.command()
def client(
    run: Run,
    holder: Annotated[str, typer.Option(help="Which holder of the run this is.")],
    token_file: Annotated[Path, typer.Option(help="The file with the holder's token.")],
    identity: Annotated[Path, typer.Option(help="The file with the holder's private key.")],
    own_file: Annotated[
        Path | None, typer.Option(help="A TOML file of this site whose `[holder]` takes the place of the run's.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(help="The file that keeps progress over restarts; beside the run's file if not given."),
    ] = None,
    patience: Annotated[float, typer.Option(help="Seconds to wait for a server that does not answer.")] = 600.0,
    out: Out = None,
    as_json: JsonLines = False,
) -> None:
    """Take part in a run, as the holder that `[holder]` in its file makes. Started again, it joins the next round.

    **Example**

    `chronodp federate client run.toml --holder north --token-file north.token --identity north.key`
    """
    check_extra("federated", "fastapi", "uvicorn", "httpx")
    from chronodp.federated import load_holder
    from chronodp.federated.aggregation import Identity
    from chronodp.federated.transport import read_run, read_token, take_part

    agreed = read_run(run)
    if holder not in agreed.terms.names:
        raise InvalidArgument("holder", holder, f"one of {', '.join(agreed.terms.names)}")
    console = terminal(errors=True)

    def tell(done: int) -> None:
        if as_json:
            print_json({"rounds_done": done, "rounds": agreed.task.rounds})
        else:
            console.print(f"{holder}: {done} of {agreed.task.rounds} rounds done")

    sys.path.append(str((own_file or run).parent.resolve()))  # where the function that makes the holder may lie
    end = take_part(
        agreed,
        load_holder(_own(own_file) if own_file else agreed.holder, name=holder, task=agreed.task),
        identity=Identity.load(identity),
        token=read_token(token_file),
        journal=journal or run.parent / f"{agreed.terms.run}.{holder}.journal",
        patience=patience,
        progress=tell,
        away=lambda why: console.print(f"{holder}: the server is away ({shown(why)}); waiting for it"),
    )
    _end(end, out, as_json=as_json)


def _end(parameters: NDArray[np.float32], out: Path | None, *, as_json: bool) -> None:
    told: dict[str, Any] = {"parameters": len(parameters), "sha256": hashlib.sha256(parameters.tobytes()).hexdigest()}
    if out is not None:
        try:
            with out.open("wb") as file:
                np.save(file, parameters)
        except OSError:
            allowed = "a place that can be written; run the command again, the rounds are done"
            raise InvalidArgument("out", str(out), allowed) from None
        told["out"] = str(out)
    if as_json:
        print_json(told)
    else:
        where = f", written to {out}" if out else ""
        terminal().print(f"{len(parameters):,} parameters after the last round{where}.")


def _own(path: Path) -> dict[str, Any]:
    """Return the table [holder] of a file, which may be a copy of the run's with more in it."""
    own: dict[str, Any] = load_settings("own_file", path, {"holder": options(needed="a table [holder]")}, others=True)[
        "holder"
    ]
    return own
