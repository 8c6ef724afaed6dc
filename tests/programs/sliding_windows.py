import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

def rolling(a, n):
    return as_strided(a, shape=(*a.shape[:-1], a.shape[-1] - n + 1, n), strides=(*a.strides, a.strides[-1]))

def blocks(image, n):
    h, w = image.shape
    row, col = image.strides
    return as_strided(image, (h // n, w // n, n, n), (n * row, n * col, row, col))

def main():
    x = np.cumsum(np.array([0.0, 3, -1, 4, 1, -5, 9, 2, -6, 5]))
    image = (np.arange(64).reshape(8, 8) * 7) % 13
    windows = sliding_window_view(image, (3, 3))
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16
    smooth = rolling(x, 3).mean(axis=-1)
    overlapping = as_strided(x, (4, 4), (x.strides[0] * 2, x.strides[0]))
    tiles = blocks(image, 2)
    totals = tiles.sum(axis=(2, 3))
    tiles[:, :, 0, 0] = 0  # a view: the image is written
    toeplitz = as_strided(np.concatenate([x[:0:-1], x[:1]]), (3, 3), (8, 8))
    repeated = np.lib.stride_tricks.as_strided(np.array([1, 2, 3]), shape=(2, 3), strides=(0, 8))
    lags = np.array([np.corrcoef(*sliding_window_view(x, len(x) - lag)[[0, lag]])[0, 1] for lag in (1, 2, 3)])
    return {"smooth": smooth, "median": np.median(windows, axis=(2, 3)), "blur": np.einsum("ijkl,kl->ij", windows, kernel),
            "range": windows.max(axis=(2, 3)) - windows.min(axis=(2, 3)), "overlapping": overlapping, "totals": totals,
            "image": image, "toeplitz": toeplitz, "repeated": repeated, "lags": lags, "strides": image.T.strides,
            "order": image.T.flags.f_contiguous and not image.T.flags["C_CONTIGUOUS"], "row": np.broadcast_to(x[:3], (2, 3))}
