import numpy as np

def main():
    rng = np.random.default_rng(3)
    n = 96
    t = np.arange(n)
    y = 0.05 * t + 3 * np.sin(2 * np.pi * t / 12) + rng.normal(0, 0.5, n)
    average = np.convolve(y, np.ones(12) / 12, "valid")
    season = np.array([y[i::12].mean() for i in range(12)])
    rest = y - np.polyval(np.polyfit(t, y, 1), t)
    correlation = np.correlate(rest, rest, "full")[n - 1 :] / (rest @ rest)
    lagged = np.column_stack([y[2 - k : n - k] for k in (1, 2)])
    level, trend, forecast = y[0], y[1] - y[0], []
    for value in y[1:]:
        before, level = level, 0.3 * value + 0.7 * (level + trend)
        trend = 0.1 * (level - before) + 0.9 * trend
        forecast.append(level + trend)
    gaps = y.copy()
    gaps[rng.integers(0, n, 10)] = np.nan
    known = ~np.isnan(gaps)
    gaps[~known] = np.interp(t[~known], t[known], gaps[known])
    last = np.where(known, t, 0)
    np.maximum.accumulate(last, out=last)
    peaks = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] > y[2:])) + 1
    runs = np.diff(np.flatnonzero(np.concatenate(([True], np.diff(y > y.mean()) != 0, [True]))))
    months = np.datetime64("2020-01") + t.astype("timedelta64[M]")
    years = months.astype("datetime64[Y]")
    spectrum = np.abs(np.fft.rfft(rest))
    warp = np.full((8, 8), np.inf)
    warp[0, 0] = 0
    for i in range(1, 8):
        for j in range(1, 8):
            warp[i, j] = abs(y[i] - y[j + 5]) + min(warp[i - 1, j], warp[i, j - 1], warp[i - 1, j - 1])
    growth = np.exp(np.cumsum(np.diff(np.log(np.abs(y) + 10))))
    return {"average": average[:3], "season": season, "correlation": correlation[[1, 6, 12]], "order": np.linalg.lstsq(lagged, y[2:], rcond=None)[0],
            "forecast": np.array(forecast[-3:]), "filled": np.abs(gaps - y).max(), "last": last[-5:], "peaks": peaks[:6], "runs": runs[:8],
            "by_year": {str(k): y[years == k].mean() for k in np.unique(years)}, "highest": str(months[y.argmax()]), "period": n / spectrum.argmax(),
            "warp": warp[-1, -1], "drawdown": (1 - growth / np.maximum.accumulate(growth)).max(), "unusual": np.flatnonzero(np.abs(y - y.mean()) > 2 * y.std()),
            "bands": np.bincount(np.digitize(y, [-2, 0, 2, 4])), "table": [f"{m} {v:6.2f}" for m, v in zip(months[:2], y)]}
