import numpy as np

class KNN:
    def __init__(self, k=5):
        self.k = k
    def fit(self, X, y):
        self.X_train = X
        self.y_train = y
        return self
    def distances(self, X):
        d2 = (np.sum(X ** 2, axis=1)[:, np.newaxis] + np.sum(self.X_train ** 2, axis=1)
              - 2 * X @ self.X_train.T)
        return np.sqrt(np.maximum(d2, 0))
    def predict(self, X):
        dists = self.distances(X)
        nearest = np.argpartition(dists, self.k, axis=1)[:, :self.k]
        votes = self.y_train[nearest]
        return np.apply_along_axis(lambda v: np.bincount(v).argmax(), 1, votes)

def naive_distances(A, B):
    out = np.zeros((len(A), len(B)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            out[i, j] = np.sqrt(sum((a - b) ** 2))
    return out

def k_fold(X, y, ks, folds):
    Xf, yf = np.array_split(X, folds), np.array_split(y, folds)
    result = {}
    for k in ks:
        accs = []
        for i in range(folds):
            Xt = np.concatenate(Xf[:i] + Xf[i + 1:])
            yt = np.concatenate(yf[:i] + yf[i + 1:])
            accs.append(float((KNN(k).fit(Xt, yt).predict(Xf[i]) == yf[i]).mean()))
        result[k] = accs
    return result

def main():
    rng = np.random.default_rng(15)
    n = 1500
    y = np.repeat([0, 1, 2], n // 3)
    means = np.array([[0, 0, 0, 0], [2, 2, 0, 0], [0, 2, 2, 1]])
    X = means[y] + rng.standard_normal((n, 4))
    p = rng.permutation(n)
    X, y = X[p], y[p]
    lo, hi = X.min(axis=0), X.max(axis=0)
    X = (X - lo) / (hi - lo)
    train, test = slice(0, 1200), slice(1200, None)
    model = KNN(7).fit(X[train], y[train])
    pred = model.predict(X[test])
    d_fast = model.distances(X[1200:1220])
    d_slow = naive_distances(X[1200:1205], X[:50])
    d_bc = np.abs(X[1200:1220, None] - X[None, :1200]).sum(-1)
    cv = k_fold(X[:200], y[:200], [1, 3, 5, 9, 15], 5)
    best_k = max(cv, key=lambda k: np.mean(cv[k]))
    return {"pred": pred, "acc": np.mean(pred == y[test]), "same": np.allclose(d_fast[:5, :50], d_slow), "manhattan": d_bc.min(axis=1),
            "cv": {k: round(np.mean(v), 4) for k, v in cv.items()}, "best_k": best_k,
            "range": [X.min(), X.max()], "class_counts": np.unique(pred, return_counts=True)[1],
            "closest": int(d_fast[0].argmin()), "err_idx": np.where(pred != y[test])[0][:10].tolist()}
