import numpy as np

def sigmoid(z):
    return 1 / (1 + np.exp(-z))

def standardize(X):
    mu = X.mean(axis=0)
    sigma = X.std(axis=0)
    sigma[sigma == 0] = 1
    return (X - mu) / sigma, mu, sigma

def compute_cost(X, y, theta, lam):
    m = len(y)
    h = sigmoid(X @ theta)
    h = np.clip(h, 1e-12, 1 - 1e-12)
    cost = -np.sum(y * np.log(h) + (1 - y) * np.log(1 - h)) / m
    reg = lam / (2 * m) * np.sum(theta[1:] ** 2)
    return cost + reg

def gradient_descent(X, y, alpha=0.5, iterations=1500, lam=1.0):
    m, n = X.shape
    theta = np.zeros((n, 1))
    costs = []
    for i in range(iterations):
        h = sigmoid(np.dot(X, theta))
        grad = np.dot(X.T, h - y) / m
        grad[1:] += lam / m * theta[1:]
        theta -= alpha * grad
        if i % 150 == 0:
            costs.append(compute_cost(X, y, theta, lam))
    return theta, costs

def roc_auc(scores, y):
    order = np.argsort(-scores)
    y = y[order]
    tpr = np.concatenate(([0], np.cumsum(y) / y.sum()))
    fpr = np.concatenate(([0], np.cumsum(1 - y) / (1 - y).sum()))
    return np.trapezoid(tpr, fpr)

def main():
    rng = np.random.default_rng(7)
    m = 5000
    raw = rng.normal(size=(m, 5)) * [1, 10, 0.1, 3, 1] + [0, 50, 2, -1, 0]
    raw = np.c_[raw, np.ones(m)]                     # a useless constant feature
    w_true = np.array([1.5, 0.2, -8.0, 0.0, -1.0, 0.0])
    p = sigmoid((raw - raw.mean(0)) @ w_true)
    y = (rng.random(m) < p).astype(int).reshape(-1, 1)
    X, mu, sigma = standardize(raw)
    X = np.hstack([np.ones((m, 1)), X])
    idx = rng.permutation(m)
    split = int(0.8 * m)
    train, test = idx[:split], idx[split:]
    theta, costs = gradient_descent(X[train], y[train])
    prob = sigmoid(X[test] @ theta).ravel()
    pred = prob >= 0.5
    truth = y[test].flatten().astype(bool)
    acc = np.mean(pred == truth)
    print("accuracy: %.3f" % acc)
    return {"theta": theta.ravel(), "costs": costs, "accuracy": acc, "auc": roc_auc(prob, truth.astype(float)),
            "positive": int(truth.sum()), "sure": np.count_nonzero((prob < 0.1) | (prob > 0.9)), "sigma": sigma}
