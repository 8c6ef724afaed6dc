import numpy as np

def confusion_matrix(y_true, y_pred, n_classes):
    cm = np.zeros((n_classes, n_classes), dtype=int)
    for t, p in zip(y_true, y_pred):
        cm[t, p] += 1
    return cm

def scores(cm):
    rows = []
    for k in range(cm.shape[0]):
        tp = cm[k, k]
        fp = cm[:, k].sum() - tp
        fn = cm[k].sum() - tp
        precision = tp / (tp + fp) if tp + fp > 0 else 0.0
        recall = tp / (tp + fn) if tp + fn > 0 else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        rows.append([precision, recall, f1, cm[k].sum()])
    return np.array(rows)

def cohen_kappa(cm):
    n = cm.sum()
    po = np.trace(cm) / n
    pe = np.sum(cm.sum(axis=0) * cm.sum(axis=1)) / n ** 2
    return (po - pe) / (1 - pe)

def report(names, table):
    lines = [f"{'':>10} {'precision':>9} {'recall':>9} {'f1':>9} {'support':>9}"]
    for name, (p, r, f, s) in zip(names, table):
        lines.append(f"{name:>10} {p:9.2f} {r:9.2f} {f:9.2f} {int(s):9d}")
    return "\n".join(lines)

def main():
    np.random.seed(10)
    names = ["cat", "dog", "bird", "fish"]
    n = 2000
    y_true = np.random.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    y_pred = y_true.copy()
    wrong = np.random.rand(n) < 0.25
    y_pred[wrong] = np.random.randint(0, 4, wrong.sum())

    cm = confusion_matrix(y_true, y_pred, 4)
    fast = np.bincount(4 * y_true + y_pred, minlength=16).reshape(4, 4)
    table = scores(cm)
    normalized = cm / cm.sum(axis=1, keepdims=True)
    sub = np.random.permutation(n)[:500]
    worst = np.unravel_index(np.argmax(cm - np.diag(np.diag(cm))), cm.shape)
    text = report(names, table)
    print(text)
    print(cm)
    with np.printoptions(precision=2, suppress=True):
        print(normalized)
    per_class = {name: round(float(f), 4) for name, f in zip(names, table[:, 2])}
    return {"cm": cm, "same": np.array_equal(cm, fast), "report": text, "f1": per_class,
            "macro_f1": table[:, 2].mean(), "weighted_f1": np.average(table[:, 2], weights=table[:, 3]),
            "accuracy": np.trace(cm) / cm.sum(), "kappa_sub": cohen_kappa(confusion_matrix(y_true[sub], y_pred[sub], 4)), "kappa": cohen_kappa(cm), "normalized": normalized,
            "worst": f"{names[worst[0]]} taken for {names[worst[1]]}"}

if __name__ == "__main__":
    main()
