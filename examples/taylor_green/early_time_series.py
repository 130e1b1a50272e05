"""Exact power series in time of the 3-D Taylor-Green vortex: the answer the solver must reproduce.

The Navier-Stokes equations determine each Taylor coefficient of the velocity from those before it.
Starting from a handful of Fourier modes, every coefficient is a short list of rational numbers, so
the whole series is computed here in fractions: no grid, no rounding, no code shared with the solver.
Its first terms are those of Taylor and Green, with R = 1 / viscosity,

    enstrophy(t) / enstrophy(0) = 1 - 6 t/R + (5/48 + 18/R^2) t^2 - ...

Sources:  G. I. Taylor, A. E. Green, Proc. R. Soc. Lond. A 158 (1937) 499-521.
          M. E. Brachet et al., J. Fluid Mech. 130 (1983) 411-452.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

Vector = tuple[Fraction, Fraction, Fraction]
WaveVector = tuple[int, int, int]
Modes = dict[WaveVector, Vector]  # a Fourier coefficient for each wave vector
ZERO: Vector = (Fraction(0), Fraction(0), Fraction(0))


def enstrophy_series(viscosity: Fraction, order: int) -> list[Fraction]:
    """Return the Taylor coefficients of the enstrophy at t = 0.

    Parameters
    ----------
    viscosity : Fraction
        Kinematic viscosity, the inverse of the Reynolds number.
    order : int
        Highest power of t.

    Returns
    -------
    list of Fraction, order + 1 entries
        Coefficient n multiplies t**n; entry 0 is 3/8.
    """
    velocity = [_initial_velocity()]
    vorticity = [_curl(velocity[0])]
    for n in range(order):
        velocity.append(_next_coefficient(velocity, vorticity, viscosity))
        vorticity.append(_curl(velocity[n + 1]))
    return [
        sum((_mean_product(vorticity[j], vorticity[n - j]) for j in range(n + 1)), Fraction(0)) / 2
        for n in range(order + 1)
    ]


def _initial_velocity() -> Modes:
    """Velocity (sin x cos y cos z, -cos x sin y cos z, 0).

    The flow is odd under reflection in the origin, so its Fourier coefficients are imaginary and
    those of its vorticity real: velocities are stored divided by i, and no number is complex.
    """
    return _mirror({(1, 1, 1): (Fraction(-1, 8), Fraction(1, 8), Fraction(0))})


def _mirror(octant: Modes) -> Modes:
    """Extend velocities from k >= 0 to all k: u_x is odd in k_x, even in k_y and k_z, and so on."""
    return {
        (r * k[0], s * k[1], t * k[2]): (r * u[0], s * u[1], t * u[2])
        for k, u in octant.items()
        for r, s, t in product((1, -1), repeat=3)
    }


def _next_coefficient(velocity: list[Modes], vorticity: list[Modes], viscosity: Fraction) -> Modes:
    """(n+1) u[n+1] = projection of (sum over j of u[j] x w[n-j]) - viscosity k^2 u[n]."""
    n = len(velocity) - 1
    force = {k: ZERO for k in velocity[n] if min(k) >= 0}
    for u, w in zip(velocity, reversed(vorticity), strict=True):
        for (p, u_p), (q, w_q) in product(u.items(), w.items()):
            k = (p[0] + q[0], p[1] + q[1], p[2] + q[2])
            if min(k) >= 0:
                force[k] = _add(force.get(k, ZERO), _cross(u_p, w_q))

    following: Modes = {}
    for k, f in force.items():
        k_squared = max(_dot(k, k), 1)
        pressure = _dot(k, f) / k_squared
        decaying = velocity[n].get(k, ZERO)
        rate = [f[i] - k[i] * pressure - viscosity * k_squared * decaying[i] for i in range(3)]
        if any(rate):
            following[k] = (rate[0] / (n + 1), rate[1] / (n + 1), rate[2] / (n + 1))
    return _mirror(following)


def _curl(velocity: Modes) -> Modes:
    """Vorticity: i k x (i u) = u x k."""
    return {k: _cross(u, k) for k, u in velocity.items()}


def _mean_product(a: Modes, b: Modes) -> Fraction:
    """Mean over the box of the product of two real vector fields with real coefficients."""
    return sum((_dot(a[k], b[k]) for k in a.keys() & b.keys()), Fraction(0))


def _add(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _cross(a: Vector | WaveVector, b: Vector | WaveVector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _dot(a: Vector | WaveVector, b: Vector | WaveVector) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
