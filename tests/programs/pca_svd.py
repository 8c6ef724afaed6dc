import numpy as np

class PCA:
    def __init__(self, n_components):
        self.n_components = n_components

    def fit(self, X):
        self.mean_ = np.mean(X, axis=0)
        Xc = X - self.mean_
        U, S, Vt = np.linalg.svd(Xc, full_matrices=False)
        # fix signs so that the largest loading of every component is positive
        max_abs = np.argmax(np.abs(Vt), axis=1)
        signs = np.sign(Vt[range(Vt.shape[0]), max_abs])
        Vt *= signs[:, np.newaxis]
        self.components_ = Vt[:self.n_components]
        var = S ** 2 / (X.shape[0] - 1)
        self.explained_variance_ = var[:self.n_components]
        self.explained_variance_ratio_ = self.explained_variance_ / var.sum()
        return self

    def transform(self, X):
        return (X - self.mean_) @ self.components_.T

    def inverse_transform(self, Z):
        return Z.dot(self.components_) + self.mean_

def main():
    np.random.seed(0)
    n, d = 20000, 30
    latent = np.random.randn(n, 3) * np.array([5.0, 2.0, 1.0])
    mixing = np.random.randn(3, d)
    X = latent @ mixing + 0.1 * np.random.randn(n, d) + np.linspace(-1, 1, d)

    pca = PCA(n_components=3).fit(X)
    Z = pca.transform(X)
    X_hat = pca.inverse_transform(Z)
    err = np.sqrt(((X - X_hat) ** 2).mean())

    # compare with the eigendecomposition of the covariance matrix
    C = np.cov(X, rowvar=False)
    w, v = np.linalg.eigh(C)
    w = w[::-1]
    v = v[:, ::-1]
    same = np.allclose(w[:3], pca.explained_variance_)
    align = [abs(float(v[:, i] @ pca.components_[i])) for i in range(3)]

    cumulative = np.cumsum(w) / np.sum(w)
    k95 = int(np.argmax(cumulative >= 0.95)) + 1
    corr = np.corrcoef(Z, rowvar=False)
    off = corr[~np.eye(3, dtype=bool)]
    for i, r in enumerate(pca.explained_variance_ratio_):
        print(f"PC{i + 1}: {r:.2%}")
    return {"ratio": pca.explained_variance_ratio_, "rmse": round(err, 6), "same": same,
            "align": np.round(align, 8), "k95": k95, "uncorrelated": np.all(np.abs(off) < 1e-8),
            "Z_std": Z.std(axis=0, ddof=1), "mean": pca.mean_, "shape": Z.shape}
