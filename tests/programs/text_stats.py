import numpy as np

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity,
it was the season of Light, it was the season of Darkness, it was the spring of hope, it was
the winter of despair, we had everything before us, we had nothing before us, we were all
going direct to Heaven, we were all going direct the other way."""

def letter_counts(text):
    codes = np.frombuffer(text.lower().encode("ascii"), dtype=np.uint8)
    letters = codes[(codes >= ord("a")) & (codes <= ord("z"))] - ord("a")
    return np.bincount(letters, minlength=26)

def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return -np.sum(p * np.log2(p))

def caesar(text, shift):
    codes = np.array([ord(c) for c in text])
    low = (codes >= 97) & (codes <= 122)
    codes[low] = (codes[low] - 97 + shift) % 26 + 97
    return "".join(chr(c) for c in codes)

def break_caesar(cipher, reference):
    ref = reference / reference.sum()
    scores = []
    for s in range(26):
        c = letter_counts(caesar(cipher, -s))
        expected = ref * c.sum() + 1e-9
        scores.append(((c - expected) ** 2 / expected).sum())
    return int(np.argmin(scores))

def main():
    words = [w.strip(".,").lower() for w in TEXT.split()]
    uniq, first, inverse, counts = np.unique(words, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((uniq, -counts))
    top = [(str(uniq[i]), int(counts[i])) for i in order[:5]]
    n = len(uniq)
    bigrams = np.zeros((n, n), dtype=int)
    np.add.at(bigrams, (inverse[:-1], inverse[1:]), 1)
    i, j = np.unravel_index(bigrams.argmax(), bigrams.shape)
    lengths = np.array([len(w) for w in words])
    hist, edges = np.histogram(lengths, bins=np.arange(1, 13))
    for e, h in zip(edges[:-1], hist):
        print(f"{int(e):2d} {'*' * int(h)}")
    counts26 = letter_counts(TEXT)
    cipher = caesar(TEXT.lower(), 11)
    shift = break_caesar(cipher, counts26)
    ranks = np.arange(1, n + 1)
    zipf = np.polyfit(np.log(ranks), np.log(np.sort(counts)[::-1]), 1)[0]
    rng = np.random.default_rng(9)
    stream = rng.integers(0, 26, 6_000_000)
    pairs = np.bincount(stream[:-1] * 26 + stream[1:], minlength=676).reshape(26, 26)
    return {"top": top, "n_unique": n, "first": first[:6], "bigram": f"{uniq[i]} {uniq[j]}", "bigram_n": bigrams.max(),
            "hist": hist, "entropy": entropy(counts26), "letters": counts26, "shift": shift,
            "zipf": zipf, "rebuilt": [str(w) for w in uniq[inverse][:5]], "longest": max(words, key=len),
            "e_letter": chr(97 + int(counts26.argmax())), "chi2": ((pairs - pairs.mean()) ** 2 / pairs.mean()).sum()}
