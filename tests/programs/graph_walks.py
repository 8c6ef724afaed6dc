import heapq

import numpy as np

INF = np.inf

def floyd(weights):
    d = weights.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d

def prim(weights):
    used = np.zeros(len(weights), dtype=bool)
    used[0] = True
    total, edges = 0, []
    while not used.all():
        m = np.where(used[:, None] & ~used[None], weights, INF)
        i, j = np.unravel_index(np.argmin(m), m.shape)
        total += m[i, j]
        used[j] = True
        edges.append((int(i), int(j)))
    return total, edges

def bfs(adjacent, start):
    distance = -np.ones(len(adjacent), dtype=int)
    distance[start] = 0
    queue = [start]
    while queue:
        u = queue.pop(0)
        for v in np.flatnonzero(adjacent[u]):
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance

def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), int)
    d[:, 0], d[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return d[-1, -1]

def main():
    w = np.array([[0, 3, INF, 7], [8, 0, 2, INF], [5, INF, 0, 1], [2, INF, INF, 0]])
    d = floyd(w)
    adjacent = (np.add.outer(np.arange(10), np.arange(10)) % 5 == 0) & ~np.eye(10, dtype=bool)
    laplacian = np.diag(adjacent.sum(1)) - adjacent
    sieve = np.ones(60, dtype=bool)
    sieve[:2] = False
    for i in range(2, 8):
        if sieve[i]:
            sieve[i * i :: i] = False
    primes = np.flatnonzero(sieve)
    buckets = [0] * primes[2]
    for p in primes:
        buckets[p % primes[2]] += 1
    heap = [(cost, i) for i, cost in enumerate(d[1])]
    heapq.heapify(heap)
    np.einsum("ii->i", w)[:] = 1
    return {"shortest": d, "tree": prim(np.minimum(d, d.T)), "steps": bfs(adjacent, 0), "parts": np.sum(np.linalg.eigvalsh(laplacian) < 1e-9),
            "edit": edit_distance("kitten", "sitting"), "primes": primes, "buckets": buckets, "bar": "-" * primes[1],
            "nearest": [int(heapq.heappop(heap)[1]) for _ in range(4)], "order": sorted(range(4), key=lambda i: d[0, i]),
            "diagonal": w.diagonal(), "triangles": np.trace(np.linalg.matrix_power(adjacent.astype(int), 3)) // 6}
