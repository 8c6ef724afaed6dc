import numpy as np

def main():
    a = np.arange(12.0).reshape(3, 4)
    work = np.empty_like(a)
    np.multiply(a, 2, out=work)
    np.add(work, a, work)
    np.sqrt(work, where=work > 9, out=work)
    np.negative(a, out=a, where=a % 2 == 0)
    np.exp(a[0] / 10, out=work[1])
    a += 1
    a -= a.mean(axis=0)
    a *= [1, 2, 3, 4]
    a //= 2
    bits = np.arange(5)
    bits <<= 2
    bits |= 1
    bits ^= 3
    bits >>= 1
    m = np.zeros((3, 3), int)
    m[1:, 1:] += 5
    m[m == 5] *= 2
    m[[0, 2]] += [[1, 2, 3]]
    m[np.arange(3), np.arange(3)] = 9
    m.T[0] -= 1
    m.ravel()[2] = 6
    m.reshape(-1)[-1] = 8
    total = np.empty((3, 3), int)
    np.cumsum(m, axis=1, out=total)
    total.sort(axis=0)
    np.clip(total, 0, 20, out=total)
    shifted = np.zeros(5)
    shifted[1:] += shifted[:-1] + 1
    shifted[::2] = 7
    c = np.zeros(2, complex)
    c.real += 2
    c.imag[:] = 5
    c *= 1j
    rows = np.zeros((2, 2))
    first = rows[0]
    first += 1
    rows[1] += first
    e = np.eye(2)
    e[:, [0, 1]] = e[:, [1, 0]]
    e[0], e[1] = e[1].copy(), e[0].copy()
    q = np.arange(4)
    q[q > 1], q[0] = 0, 9
    counts = np.zeros(3)
    np.add.at(counts, [0, 0, 2], 1)
    copied = np.array([1.0, 5.0, np.nan])
    np.copyto(copied, 0, where=np.isnan(copied))
    np.putmask(copied, copied > 2, -1)
    error = None
    try:
        q += 0.5
    except TypeError as caught:
        error = type(caught).__mro__[-4].__name__
    text = str(bits), f"{a.max():.1f}", "%s" % first, np.array2string(work, precision=2)
    return {"a": a, "work": work, "bits": bits, "m": m, "total": total, "shifted": shifted, "c": c, "rows": rows, "e": e, "q": q,
            "counts": counts, "copied": copied, "error": error, "text": text, "swapped": np.arange(3, dtype=np.int16).byteswap()}
