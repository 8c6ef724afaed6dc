import numpy as np

def make_blobs(n_per, centers, spread, rng):
    parts = []
    labels = []
    for k, c in enumerate(centers):
        parts.append(rng.normal(loc=c, scale=spread, size=(n_per, len(c))))
        labels += [k] * n_per
    X = np.vstack(parts)
    y = np.array(labels)
    perm = rng.permutation(len(X))
    return X[perm], y[perm]

def init_plus_plus(X, k, rng):
    centroids = [X[rng.integers(len(X))]]
    for _ in range(1, k):
        d2 = np.min([((X - c) ** 2).sum(axis=1) for c in centroids], axis=0)
        probs = d2 / d2.sum()
        idx = np.searchsorted(np.cumsum(probs), rng.random())
        centroids.append(X[idx])
    return np.array(centroids)

def kmeans(X, k, max_iter=100, tol=1e-6, rng=None):
    centroids = init_plus_plus(X, k, rng)
    history = []
    for it in range(max_iter):
        dist = np.linalg.norm(X[:, np.newaxis, :] - centroids[None, :, :], axis=2)
        labels = dist.argmin(axis=1)
        history.append(float((dist[np.arange(len(X)), labels] ** 2).sum()))
        new = np.zeros_like(centroids)
        for j in range(k):
            members = X[labels == j]
            if len(members) > 0:
                new[j] = members.mean(axis=0)
            else:
                new[j] = centroids[j]
        shift = np.abs(new - centroids).max()
        centroids = new
        if shift < tol:
            break
    return centroids, labels, history

def main():
    rng = np.random.default_rng(42)
    true_centers = [[0, 0], [6, 1], [2, 7], [-5, 4]]
    X, y = make_blobs(10000, true_centers, 2.0, rng)
    centroids, labels, history = kmeans(X, 4, rng=rng)
    order = np.lexsort((centroids[:, 1], centroids[:, 0]))
    counts = np.bincount(labels, minlength=4)[order]
    purity = 0
    for j in range(4):
        purity += np.bincount(y[labels == j], minlength=4).max()
    decreasing = bool((np.diff(history) <= 1e-9).all())
    return {"centroids": centroids[order].round(4), "counts": counts, "n_iter": len(history),
            "inertia": history[-1], "purity": f"{purity / len(y):.4f}", "monotone": decreasing}
