"""Taylor-Green vortex: a pseudo-spectral Navier-Stokes solver that checks itself.

    mpiexec -n 4 python taylor_green.py --grid 32 --decomposition pencil --output run.json

An incompressible fluid in a periodic box of side 2 pi starts as one smooth vortex. In three
dimensions the vortex stretches, finer eddies appear and the enstrophy climbs; `--flow 2d` only
decays. Every step costs eight all-to-all exchanges in each direction that the grid is split.

Method:  Fourier coefficients of the velocity; nonlinear term u x w in physical space, alias-free by
         the 2/3 rule, made divergence-free by projection; viscosity exact by integrating factor;
         fourth-order Runge-Kutta in time.
Sources: S. A. Orszag, G. S. Patterson, Phys. Rev. Lett. 28 (1972) 76-79 (pseudo-spectral method);
         S. A. Orszag, J. Atmos. Sci. 28 (1971) 1074 (2/3 rule);
         A.-K. Kassam, L. N. Trefethen, SIAM J. Sci. Comput. 26 (2005) 1214-1233, section 2
         (integrating factor);
         M. E. Brachet et al., J. Fluid Mech. 130 (1983) 411-452 (the flow and its known answers).

Units: the box is 2 pi long, the greatest initial velocity is 1, the density is 1.
Exit status: 0 all checks passed, 1 a check failed, 2 bad arguments.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import traceback
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from distributed_fft import DistributedFFT, Exchange, by_mpi, rank_grid, without_blocking
from early_time_series import enstrophy_series
from kept_exchange import Kept, Persistent, planned
from mpi4py import MPI
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

ENERGY_BALANCE_TOLERANCE = 1e-6  # of the initial energy; measured values are in README.md
EARLY_TIME_TOLERANCE = 1e-6  # of the initial enstrophy
EARLY_TIME_ORDER = 6
EARLY_TIME_LAST_TERMS = 1e-5  # the series serves until its last two terms exceed this
CALLS: dict[str, Exchange] = {"blocking": by_mpi, "nonblocking": without_blocking, "persistent": Kept(Persistent)}
EXACT_TOLERANCE = 1e-10  # velocity of the 2-D flow, whose greatest initial value is 1


# --- the solver -------------------------------------------------------------------------------


class NavierStokes:
    """The equations of motion, for Fourier coefficients of shape (3, kx, ky/rows, kz/columns)."""

    def __init__(self, transform: DistributedFFT, viscosity: float, time_step: float) -> None:
        self.transform = transform
        self.viscosity = viscosity
        self.time_step = time_step
        kx, ky, kz = transform.wavenumbers
        self.k = np.stack(np.broadcast_arrays(kx, ky, kz))
        self.k_squared = np.sum(self.k**2, axis=0)
        self.half_decay = np.exp(-viscosity * self.k_squared * time_step / 2)
        self.resolved = np.all(3 * np.abs(self.k) < transform.grid, axis=0)  # the 2/3 rule
        # Only kz >= 0 is stored: a coefficient also stands for its mirror image, unless kz = 0.
        self.weight = np.where(kz == 0, 1.0, 2.0) * self.resolved

    def curl(self, u: NDArray) -> NDArray:
        """Return i k x u."""
        return 1j * np.cross(self.k, u, axis=0)

    def nonlinear(self, u: NDArray) -> NDArray:
        """Return the part of u x curl(u) that is resolved and free of divergence."""
        velocity, vorticity = self.transform.inverse(np.stack([u, self.curl(u)]))
        force = self.transform.forward(np.cross(velocity, vorticity, axis=0)) * self.resolved
        along_k = np.sum(self.k * force, axis=0) / np.maximum(self.k_squared, 1)
        return force - self.k * along_k

    def step(self, u: NDArray) -> NDArray:
        """Advance by one time step: Runge-Kutta for u without its viscous decay."""
        dt, half = self.time_step, self.half_decay
        a = self.nonlinear(u)
        b = self.nonlinear(half * (u + dt / 2 * a))
        c = self.nonlinear(half * u + dt / 2 * b)
        d = self.nonlinear(half * (half * u + dt * c))
        return half * (half * (u + dt / 6 * a) + dt / 3 * (b + c)) + dt / 6 * d

    def averages(self, u: NDArray) -> tuple[float, float, float] | None:
        """Return energy, enstrophy and dissipation rate per volume on rank 0. Collective.

        Ranks add up what they hold; rank 0 adds the ranks in order, so that a number depends on
        the decomposition but never on the MPI library's way of reducing.
        """
        u_squared = self.weight * np.sum(np.abs(u) ** 2, axis=0)
        w_squared = self.weight * np.sum(np.abs(self.curl(u)) ** 2, axis=0)
        local = (
            float(np.sum(u_squared)) / 2,
            float(np.sum(w_squared)) / 2,
            float(np.sum(self.k_squared * u_squared)) * self.viscosity,
        )
        parts = self.transform.comm.gather(local)
        if parts is None:
            return None
        energy, enstrophy, dissipation = (math.fsum(column) for column in zip(*parts, strict=True))
        return energy, enstrophy, dissipation


def taylor_green_velocity(flow: str, transform: DistributedFFT) -> NDArray[np.float64]:
    """Return the initial velocity, (3, x/rows, y/columns, z); `flow` is "2d" or "3d"."""
    x, y, z = (2 * np.pi / transform.grid * index for index in transform.indices)
    along_z = np.cos(z) if flow == "3d" else np.ones_like(z)
    u = np.sin(x) * np.cos(y) * along_z
    v = -np.cos(x) * np.sin(y) * along_z
    return np.stack([u, v, np.zeros_like(u)])


# --- what is known about the flow -------------------------------------------------------------


@dataclass
class Sample:
    """Averages over the box at one time."""

    time: float
    energy: float  # <u.u> / 2
    enstrophy: float  # <w.w> / 2
    dissipation: float  # viscosity * <grad u : grad u>


@dataclass
class Check:
    """A measured deviation from a known answer, and how much of it is accepted."""

    name: str
    measured: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """False also for NaN."""
        return self.measured <= self.tolerance


def check_energy_balance(samples: list[Sample], viscosity: float) -> Check:
    """dE/dt = -2 viscosity * enstrophy, integrated over time by Simpson's rule."""
    from scipy.integrate import cumulative_simpson  # takes a third of a second to load, and only rank 0 checks

    energy = np.array([sample.energy for sample in samples])
    loss_rate = np.array([2 * viscosity * sample.enstrophy for sample in samples])
    time = np.array([sample.time for sample in samples])
    lost = cumulative_simpson(loss_rate, x=time, initial=0.0)
    deviation = np.max(np.abs(energy + lost - energy[0])) / energy[0]
    return Check("energy balance", float(deviation), ENERGY_BALANCE_TOLERANCE)


def check_divergence(samples: list[Sample], viscosity: float) -> Check:
    """Dissipation = 2 viscosity * enstrophy: true only if the velocity has no divergence."""
    deviations = (abs(s.dissipation / (2 * viscosity * s.enstrophy) - 1) for s in samples)
    return Check("no divergence", max(deviations), 1e-12)


def check_early_times(samples: list[Sample], reynolds: float, grid: int) -> Check:
    """Enstrophy follows its exact power series, as long as the last two terms hardly matter.

    The n-th term brings in wave numbers up to n + 1. Losing those above K by the 2/3 rule acts back
    on the enstrophy from the term 2 K on (K terms up to the cut, K back), so stop short of that.
    """
    highest_wavenumber = (grid - 1) // 3
    order = min(EARLY_TIME_ORDER, 2 * highest_wavenumber - 1)
    series = enstrophy_series(1 / Fraction(reynolds), order)
    relative = [float(coefficient / series[0]) for coefficient in series]
    worst = last = 0.0
    for sample in samples:
        terms = [coefficient * sample.time**n for n, coefficient in enumerate(relative)]
        if abs(terms[-1]) + abs(terms[-2]) > EARLY_TIME_LAST_TERMS:
            break
        worst = max(worst, abs(sample.enstrophy / float(series[0]) - math.fsum(terms)))
        last = sample.time
    return Check(f"exact series, t <= {last:.3g}", worst, EARLY_TIME_TOLERANCE)


def check_exact_decay(deviation: float) -> Check:
    """The 2-D flow keeps its shape and decays like exp(-2 viscosity t)."""
    return Check("exact solution", deviation, EXACT_TOLERANCE)


# --- one run ----------------------------------------------------------------------------------


def run(arguments: argparse.Namespace, shape: tuple[int, int]) -> int:
    """Integrate, report on rank 0, and return the exit status, the same on every rank."""
    comm = MPI.COMM_WORLD
    exchange = Kept(planned(arguments.plan)) if arguments.plan is not None else CALLS[arguments.calls]
    transform = DistributedFFT(comm, arguments.grid, *shape, exchange, arguments.parts)
    solver = NavierStokes(transform, 1 / arguments.reynolds, arguments.dt)
    initial = taylor_green_velocity(arguments.flow, transform)
    if comm.rank == 0:
        print(
            f"Taylor-Green vortex, {arguments.flow}, Re = {arguments.reynolds:g}, "
            f"{arguments.grid}^3 points, {comm.size} ranks as {shape[0]} x {shape[1]} "
            f"({arguments.decomposition})\n\n    time        energy     enstrophy   dissipation"
        )

    comm.Barrier()
    transform.exchange_seconds = 0.0
    start = MPI.Wtime()
    u, samples = integrate(solver, transform.forward(initial), arguments.steps)
    wall_seconds = MPI.Wtime() - start
    exchange_seconds = comm.gather(transform.exchange_seconds)

    velocity = transform.inverse(u)
    decayed = initial * math.exp(-2 * solver.viscosity * arguments.steps * arguments.dt)
    deviations = comm.gather(float(np.max(np.abs(velocity - decayed))))
    whole_velocity = transform.gather(velocity)
    if comm.rank > 0:
        return comm.bcast(None)

    checks = [
        check_energy_balance(samples, solver.viscosity),
        check_divergence(samples, solver.viscosity),
        check_exact_decay(max(deviations))
        if arguments.flow == "2d"
        else check_early_times(samples, arguments.reynolds, arguments.grid),
    ]
    print()
    for check in checks:
        verdict = "passed" if check.passed else "FAILED"
        print(f"{verdict}  {check.name:<26}{check.measured:8.1e}  (at most {check.tolerance:.0e})")
    share = sum(exchange_seconds) / comm.size
    print(
        f"\nwall time {wall_seconds:.2f} s, in all-to-all {share:.4f} s (mean of the ranks), "
        f"{share / wall_seconds:.0%}",
        flush=True,
    )
    if arguments.output:
        write_result(arguments, shape, samples, checks, whole_velocity)
    return comm.bcast(0 if all(check.passed for check in checks) else 1)


def integrate(solver: NavierStokes, u: NDArray, steps: int) -> tuple[NDArray, list[Sample]]:
    """Return the final velocity, and on rank 0 the samples, of which it prints about ten."""
    samples: list[Sample] = []
    for step in range(steps + 1):
        if step > 0:
            u = solver.step(u)
        averages = solver.averages(u)
        if averages is not None:
            now = Sample(step * solver.time_step, *averages)
            samples.append(now)
            if step % max(1, steps // 10) == 0:
                print(f"{now.time:8.3f}{now.energy:14.9f}{now.enstrophy:14.9f}{now.dissipation:14.9f}")
    return u, samples


def write_result(
    arguments: argparse.Namespace,
    shape: tuple[int, int],
    samples: list[Sample],
    checks: list[Check],
    velocity: NDArray[np.float64],
) -> None:
    """Write all numbers in full precision and nothing that varies between equal runs."""
    document = {
        "flow": arguments.flow,
        "grid": arguments.grid,
        "steps": arguments.steps,
        "dt": arguments.dt,
        "reynolds": arguments.reynolds,
        "decomposition": arguments.decomposition,
        "rank_grid": shape,
        "samples": [asdict(sample) for sample in samples],
        "checks": [asdict(check) | {"passed": check.passed} for check in checks],
        "velocity_sha256": hashlib.sha256(velocity.astype("<f8").tobytes()).hexdigest(),
    }
    arguments.output.write_text(json.dumps(document, indent=1) + "\n")


# --- command line -----------------------------------------------------------------------------


class CollectiveParser(argparse.ArgumentParser):
    """Speaks on rank 0 only, and leaves with the same status on every rank."""

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help once."""
        if MPI.COMM_WORLD.rank == 0:
            super().print_help(file)

    def error(self, message: str) -> NoReturn:
        """Say once what is wrong; every rank exits with status 2."""
        if MPI.COMM_WORLD.rank == 0:
            print(f"{self.prog}: {message}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Barrier()  # a launcher may kill the others as soon as one has left
        sys.exit(2)


def parse_arguments() -> tuple[argparse.Namespace, tuple[int, int]]:
    """Return the arguments and the shape of the rank grid, or exit with status 2."""
    parser = CollectiveParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--flow", choices=["3d", "2d"], default="3d")
    parser.add_argument("--decomposition", choices=["slab", "pencil"], default="slab")
    parser.add_argument("--grid", type=int, default=32, metavar="N", help="points per axis")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--dt", type=float, default=0.05, help="time step")
    parser.add_argument("--reynolds", type=float, default=100.0, help="1 / viscosity")
    parser.add_argument("--parts", type=int, default=1, metavar="K", help="of each exchange, one after the other")
    parser.add_argument(
        "--calls",
        choices=list(CALLS),
        default="blocking",
        help="of MPI; while those that do not block exchange a part, the next is transformed",
    )
    parser.add_argument("--plan", metavar="SPEC", help="call Swapmeet, with planned exchanges; auto: of its choice")
    parser.add_argument("--output", type=Path, metavar="FILE.json", help="all digits, no timings")
    arguments = parser.parse_args()

    # Rank 0 decides for all: another node may see another file system.
    comm = MPI.COMM_WORLD
    shape = rank_grid(arguments.decomposition, comm.size, arguments.grid)
    problem = comm.bcast(find_problem(arguments, shape, comm.size) if comm.rank == 0 else None)
    if problem or shape is None:
        parser.error(problem)
    return arguments, shape


def find_problem(arguments: argparse.Namespace, shape: tuple[int, int] | None, ranks: int) -> str | None:
    """Return what is wrong with the arguments, in one line."""
    if arguments.grid < 8:
        return f"--grid {arguments.grid}: need at least 8 points per axis"
    if arguments.steps < 2:
        return f"--steps {arguments.steps}: need at least 2 (Simpson's rule of the energy balance)"
    if arguments.parts < 1:
        return f"--parts {arguments.parts}: need at least 1"
    if arguments.calls == "persistent" and MPI.Get_version() < (4, 0):
        return f"--calls persistent: MPI {MPI.Get_version()[0]} has none, need MPI 4"
    for name in ("dt", "reynolds"):
        value = getattr(arguments, name)
        if not (value > 0 and math.isfinite(value)):
            return f"--{name} {value}: must be positive and finite"
    if shape is None:
        limit = f"at most {arguments.grid} ranks"
        if arguments.decomposition == "pencil":
            limit = f"ranks = rows * columns, rows <= {arguments.grid}, columns <= {arguments.grid // 2 + 1}"
        return f"--decomposition {arguments.decomposition}: {ranks} ranks do not fit, need {limit}"
    if arguments.plan is not None and (problem := find_plan_problem(arguments.plan)):
        return problem
    try:
        if arguments.output:
            arguments.output.open("a").close()
    except OSError as error:
        return f"--output {arguments.output}: {error.strerror}"
    return None


def find_plan_problem(spec: str) -> str | None:
    """Return why exchanges cannot be planned by `spec`, in one line."""
    try:
        from swapmeet.errors import SwapmeetError
        from swapmeet.specs import parse_spec
    except ImportError as error:
        return f"--plan {spec}: needs Swapmeet: {error}"
    try:
        if spec != "auto":
            parse_spec(spec, "--plan")
    except SwapmeetError as error:
        return str(error)
    return None


def main() -> int:
    """Return the exit status; an unforeseen error on one rank ends all instead of hanging them."""
    arguments, shape = parse_arguments()
    try:
        return run(arguments, shape)
    except Exception:
        traceback.print_exc()
        MPI.COMM_WORLD.Abort(1)
        raise


if __name__ == "__main__":
    sys.exit(main())
