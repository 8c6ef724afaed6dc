import numpy as np

def build_matrix(links, n):
    A = np.zeros((n, n))
    for src, dsts in links.items():
        for dst in dsts:
            A[dst, src] = 1
    return A

def pagerank(A, d=0.85, tol=1e-10, max_iter=200):
    n = A.shape[0]
    out = A.sum(axis=0)
    dangling = out == 0
    M = np.divide(A, out, out=np.full_like(A, 1.0 / n), where=~dangling)
    r = np.ones(n) / n
    for i in range(max_iter):
        new = d * M.dot(r) + (1 - d) / n
        if np.linalg.norm(new - r, 1) < tol:
            break
        r = new
    return new, i, M

def pagerank_eig(M, d=0.85):
    n = len(M)
    G = d * M + (1 - d) / n * np.ones((n, n))
    vals, vecs = np.linalg.eig(G)
    k = np.argmax(vals.real)
    v = np.abs(vecs[:, k].real)
    return v / v.sum()

def main():
    pages = ["home", "about", "products", "links", "siteA", "siteB", "siteC", "siteD"]
    links = {0: [1, 2, 3], 1: [0], 2: [0], 3: [0, 4, 5, 6, 7], 4: [0], 5: [0], 6: [0], 7: [0, 6]}
    A = build_matrix(links, len(pages))
    r, it, M = pagerank(A)
    ranking = [pages[i] for i in np.argsort(-r.round(8), kind="stable")]
    for i in (-r.round(8)).argsort(kind="stable"):
        print("%-10s %.4f" % (pages[i], r[i]))
    r2 = pagerank_eig(M)

    rng = np.random.default_rng(5)
    n = 1500
    big = (rng.random((n, n)) < 0.01).astype(float)
    np.fill_diagonal(big, 0)
    big[:, rng.choice(n, 20, replace=False)] = 0          # pages without links
    rb, itb, Mb = pagerank(big)
    top = np.argpartition(rb, -5)[-5:]
    top = top[np.argsort(rb[top])[::-1]]
    return {"rank": r, "ranking": ranking, "same": np.allclose(r, r2, atol=1e-8), "iters": [it, itb],
            "sum": round(rb.sum(), 8), "top": top.tolist(), "top_scores": rb[top], "stochastic": np.allclose(Mb.sum(0), 1),
            "in_degree_corr": np.corrcoef(big.sum(axis=1), rb)[0, 1]}
