import numpy as np
import os
import tempfile

def iqr_mask(x, k=1.5):
    q1, q3 = np.nanpercentile(x, [25, 75])
    iqr = q3 - q1
    return (x < q1 - k * iqr) | (x > q3 + k * iqr)

def mad_score(x):
    med = np.nanmedian(x)
    mad = np.nanmedian(np.abs(x - med))
    return 0.6745 * (x - med) / mad

def fill_linear(x):
    x = x.copy()
    bad = np.isnan(x)
    x[bad] = np.interp(bad.nonzero()[0], (~bad).nonzero()[0], x[~bad])
    return x

def forward_fill(a):
    mask = np.isnan(a)
    idx = np.where(~mask, np.arange(mask.shape[0]), 0)
    np.maximum.accumulate(idx, out=idx)
    return a[idx]

def main():
    rng = np.random.default_rng(33)
    n = 100000
    data = np.column_stack([rng.normal(20, 3, n), rng.normal(1013, 8, n), rng.gamma(2.0, 2.0, n)])
    data[rng.integers(0, n, 60), 0] += 40
    data[rng.choice(n, 250, replace=False), 1] = -999.0
    data[rng.random(data.shape) < 0.03] = np.nan
    data[0] = np.nan_to_num(data[0], nan=10.0)
    data[data == -999.0] = np.nan
    missing = np.isnan(data).sum(axis=0)
    cleaned = data.copy()
    removed = []
    for j in range(cleaned.shape[1]):
        col = cleaned[:, j]
        m = iqr_mask(col)
        col[m] = np.nan
        removed.append(int(m.sum()))
    filled = np.apply_along_axis(fill_linear, 0, cleaned)
    col_means = np.nanmean(cleaned, axis=0)
    imputed = cleaned.copy()
    rows, cols = np.where(np.isnan(imputed))
    imputed[rows, cols] = np.take(col_means, cols)
    ff = forward_fill(cleaned[:, 0])
    robust = np.abs(mad_score(data[:, 0])) > 3.5
    path = os.path.join(tempfile.gettempdir(), "cleaned_%d.npy" % os.getpid())
    np.save(path, filled)
    again = np.load(path)
    os.unlink(path)
    summary = [f"{h}: {m:.2f} +/- {s:.2f}" for h, m, s in zip(["temp", "press", "wind"], col_means, np.nanstd(cleaned, axis=0))]
    print("\n".join(summary))
    print(np.array2string(filled[:3], precision=2, separator=", "))
    return {"missing": missing, "removed": removed, "summary": summary, "complete": (~np.isnan(data).any(axis=1)).sum(), "filled_any_nan": np.isnan(filled).any(),
            "means": imputed.mean(axis=0), "ff": ff[:20], "robust": np.count_nonzero(robust), "range": [np.nanmin(data), np.nanmax(data)], "saved": np.array_equal(again, filled), "text": np.array2string(filled[1], precision=3),
            "cumulative": np.nancumsum(cleaned[:, 2])[-1], "quartiles": np.nanquantile(data, [0.25, 0.5, 0.75], axis=0)}
