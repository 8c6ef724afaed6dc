import numpy as np
from numpy.lib import recfunctions as rfn

def main():
    rng = np.random.default_rng(3)
    particles = np.zeros(200, dtype=[("pos", float, 2), ("vel", float, 2), ("kind", "U4")])
    particles["pos"] = rng.uniform(0, 1, (200, 2))
    particles["vel"] = rng.normal(0, 0.01, (200, 2))
    particles["kind"] = np.where(particles["pos"][:, 0] > 0.5, "warm", "cold")
    for _ in range(20):
        particles["pos"] += particles["vel"]
        out = (particles["pos"] < 0) | (particles["pos"] > 1)
        particles["vel"][out] *= -1
    people = np.array([("Rex", 9, 81.0), ("Fido", 3, 27.0), ("Ada", 36, 55.5)], dtype=[("name", "U10"), ("age", "i4"), ("weight", "f4")])
    people["age"][people["name"] == "Rex"] += 1
    oldest = people[people["age"].argmax()]
    records = people.view(np.recarray)
    wide = rfn.append_fields(people, "height", np.array([0.5, 0.4, 1.7]), usemask=False)
    wire = np.dtype([("t", "<f8"), ("v", "<f4", (3,)), ("id", "u1")])
    sent = np.empty(3, wire)
    sent["t"], sent["v"], sent["id"] = np.linspace(0, 1, 3), np.arange(9).reshape(3, 3), 7
    read = np.frombuffer(sent.tobytes(), dtype=wire)
    fields = np.zeros((12, 12), [("U", float), ("V", float)])
    u, v = fields["U"], fields["V"]
    u[...] = 1.0
    u[4:8, 4:8], v[4:8, 4:8] = 0.5, 0.25
    for _ in range(10):
        lu, lv = (f[:-2, 1:-1] + f[1:-1, :-2] - 4 * f[1:-1, 1:-1] + f[1:-1, 2:] + f[2:, 1:-1] for f in (u, v))
        uvv = u[1:-1, 1:-1] * v[1:-1, 1:-1] ** 2
        u[1:-1, 1:-1] += 0.16 * lu - uvv + 0.035 * (1 - u[1:-1, 1:-1])
        v[1:-1, 1:-1] += 0.08 * lv + uvv - 0.1 * v[1:-1, 1:-1]
    return {"centre": particles["pos"].mean(axis=0), "kinds": np.unique(particles["kind"], return_counts=True)[1],
            "sorted": np.sort(people, order="age")["name"].tolist(), "oldest": oldest["name"].item(), "row": people[1].item(),
            "mean": records.age.mean(), "first": str(records.name[0]), "fields": wide.dtype.names, "height": wide["height"],
            "plain": rfn.structured_to_unstructured(people[["age", "weight"]]), "itemsize": wire.itemsize, "t": read["t"],
            "v": read["v"].sum(axis=1), "same": bool((read == sent).all()), "u": fields["U"].mean(), "v_max": fields["V"].max()}
