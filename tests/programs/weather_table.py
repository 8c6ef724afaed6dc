import os
import tempfile
from io import StringIO

import numpy as np
import numpy.ma as ma

TEXT = """# station,date,tmin,tmax,rain
A1,2023-01-01,-3.5,2.1,0.0
A1,2023-01-02,-1.0,4.4,3.2
B2,2023-01-01,5.5,9.9,
B2,2023-02-02,6.0,11.2,12.5
C3,2023-02-01,,8.0,0.4
"""

def main():
    data = np.genfromtxt(StringIO(TEXT), delimiter=",", dtype=None, encoding="utf-8", names=True)
    raw = np.genfromtxt(StringIO(TEXT), delimiter=",", skip_header=1, usecols=(2, 3, 4), filling_values=-999)
    known = ma.masked_equal(raw, -999)
    dates = data["date"].astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    by_month = {str(month): known[:, 1][months == month].mean() for month in np.unique(months)}
    assert isinstance(data["station"], np.ndarray)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.txt")
        np.savetxt(path, raw, fmt=["%8.2f", "%8.2f", "%6.1f"], header="tmin tmax rain", footer="end")
        with open(path) as file:
            text = file.read()
        back = np.loadtxt(path)
        np.save(os.path.join(folder, "raw.npy"), raw)
        mapped = np.load(os.path.join(folder, "raw.npy"), mmap_mode="r+")
        mapped[0, 0] = 1.25
        del mapped
        changed = np.load(os.path.join(folder, "raw.npy"))
    percent = np.loadtxt(StringIO("1;10%\n2;20%"), delimiter=";", converters={1: lambda s: float(s.strip("%")) / 100})
    day, value = np.loadtxt(["1 2.5", "3 4.5"], unpack=True)
    report = [f"{s:>4s} {t:6.1f}" for s, t in zip(data["station"], data["tmax"])]
    return {"names": data.dtype.names, "means": np.asarray(known.mean(axis=0)), "counts": known.count(axis=0),
            "filled": known.filled(0.0), "nanmean": np.nanmean(data["tmin"]), "warm": data[data["tmax"] > 5]["station"].tolist(),
            "span": str(dates.max() - dates.min()), "by_month": by_month, "same": np.array_equal(back, raw), "text": text,
            "changed": changed[0, 0], "percent": percent, "day": day, "value": value.sum(), "report": report,
            "days": np.diff(np.sort(dates)).astype(int), "stations": np.unique(data["station"], return_counts=True)[1]}
