import numpy as np

def mandelbrot(h, w, maxit=20):
    y, x = np.ogrid[-1.4 : 1.4 : h * 1j, -2 : 0.8 : w * 1j]
    c = x + y * 1j
    z = c
    divtime = maxit + np.zeros(z.shape, dtype=int)
    for i in range(maxit):
        z = z**2 + c
        diverge = z * np.conj(z) > 2**2
        div_now = diverge & (divtime == maxit)
        divtime[div_now] = i
        z[diverge] = 2
    return divtime

def newton(c, steps=12):
    for _ in range(steps):
        c = c - (c**3 - 1) / (3 * c**2)
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    return np.abs(c[..., None] - roots).argmin(axis=-1)

def main():
    d = mandelbrot(30, 45)
    chars = np.array(list(" .:-=+*#%@%"))
    picture = ["".join(chars[np.minimum(row // 2, 10)]) for row in d[::3]]
    print("\n".join(picture))
    y, x = np.mgrid[-1:1:12j, -1:1:12j]
    basins = newton(x + 1j * y + 1e-9)
    return {"times": d, "picture": picture, "counts": np.bincount(d.ravel()), "basins": np.bincount(basins.ravel()),
            "highest": np.max(np.array([1 + 2j, 1 - 1j, 0.5j])), "inside": d[15, 25] == 20}
