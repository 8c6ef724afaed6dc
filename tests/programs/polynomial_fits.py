import numpy as np
from numpy.polynomial import Chebyshev, Legendre, Polynomial
from numpy.polynomial import polynomial as P

def newton_root(p, x, steps=30):
    slope = p.deriv()
    for _ in range(steps):
        x = x - p(x) / slope(x)
    return x

def main():
    x = np.linspace(-1, 1, 21)
    y = 1 + 2 * x - 3 * x**3
    fit = Polynomial.fit(x, y, 3).convert()
    wave = Chebyshev.interpolate(np.cos, 7)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    p = Polynomial([6, -5, 1])
    quotient, remainder = divmod(p, Polynomial([-2, 1]))
    q = np.poly1d([1, -3, 2])
    coefficients, covariance = np.polyfit(x, y + 0.01 * np.sin(40 * x), 2, cov=True)
    spline = np.array([[0, 0], [1, 2], [3, 3], [4, 0.0]])
    t = np.linspace(0, 1, 5)[:, None]
    bezier = sum(c * (1 - t) ** (3 - i) * t**i * spline[i] for i, c in enumerate((1, 3, 3, 1)))
    return {"fit": np.round(fit.coef, 8) + 0.0, "text": str(Polynomial([1.0, 2.0, 3.0])), "value": fit(0.5),
            "values": p(x[:3]), "polyval": P.polyval(x[:3], [1, 2, 3]), "from_roots": P.polyfromroots([1, 2]),
            "wave": wave(0.5), "degree": wave.degree(), "legendre": Legendre.basis(3)(x[:4]), "integral": (weights * np.exp(nodes)).sum(),
            "roots": p.roots(), "quotient": quotient.coef, "remainder": remainder.coef, "newton": newton_root(p, 10.0),
            "poly1d": [q(4), q.r, q.deriv().c, (q * q).c], "polyfit": coefficients, "errors": np.sqrt(np.diag(covariance)),
            "products": [np.polymul([1, 1], [1, -1]), np.polydiv([1, 0, -1], [1, 1])[0], np.polyder([1, 2, 3]), np.polyint([2, 1])],
            "matrix": np.vander(x[:3], 4), "bezier": bezier, "companion": np.sort(np.roots([1, -6, 11, -6]))}
