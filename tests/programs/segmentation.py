import numpy as np

def otsu(gray):
    p = np.bincount(gray.ravel(), minlength=256) / gray.size
    weight, mean = np.cumsum(p), np.cumsum(p * np.arange(256))
    between = np.zeros(256)
    inner = (weight > 1e-9) & (weight < 1 - 1e-9)
    np.divide((mean[-1] * weight - mean) ** 2, weight * (1 - weight), out=between, where=inner)
    return int(between.argmax())

def label(mask):
    labels, count = np.zeros(mask.shape, int), 0
    for y, x in np.argwhere(mask):
        if labels[y, x]:
            continue
        count += 1
        stack = [(int(y), int(x))]
        while stack:
            i, j = stack.pop()
            if 0 <= i < mask.shape[0] and 0 <= j < mask.shape[1] and mask[i, j] and not labels[i, j]:
                labels[i, j] = count
                stack += [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    return labels, count

def hough(mask, angles=12):
    theta = np.deg2rad(np.arange(0, 180, 180 / angles))
    ys, xs = np.nonzero(mask)
    reach = int(np.ceil(np.hypot(*mask.shape)))
    rho = np.rint(xs[:, None] * np.cos(theta) + ys[:, None] * np.sin(theta)).astype(int) + reach
    votes = np.zeros((2 * reach + 1, angles), int)
    np.add.at(votes, (rho, np.arange(angles)[None].repeat(len(xs), 0)), 1)
    return votes

def main():
    yy, xx = np.mgrid[0:16, 0:20]
    image = (40 + 3 * yy + 2 * xx).astype(np.uint8)
    for top, left in ((2, 3), (8, 10)):
        image[top : top + 4, left : left + 5] += 120
    threshold = otsu(image)
    mask = image > threshold
    labels, count = label(mask)
    centres = [np.argwhere(labels == k).mean(axis=0) for k in range(1, count + 1)]
    integral = np.pad(image.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    box = integral[3:, 3:] - integral[:-3, 3:] - integral[3:, :-3] + integral[:-3, :-3]
    eroded = mask[1:-1, 1:-1] & mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
    votes = hough(np.eye(12, dtype=bool))
    cumulated = np.cumsum(np.bincount(image.ravel(), minlength=256))
    equalized = ((cumulated - cumulated.min()) * 255 // (cumulated.max() - cumulated.min())).astype(np.uint8)[image]
    packed = np.packbits(mask, axis=1)
    dct = np.cos(np.pi / 4 * (np.arange(4)[:, None] + 0.5) * np.arange(4)).T
    tiles = image.reshape(4, 4, 5, 4).transpose(0, 2, 1, 3)
    return {"threshold": threshold, "labels": labels, "areas": np.bincount(labels.ravel())[1:], "centres": centres, "box": box.max(),
            "eroded": eroded.sum(), "line": np.unravel_index(votes.argmax(), votes.shape), "votes": votes.max(), "equalized": equalized[::5, ::5],
            "packed": packed.shape, "unpacked": bool((np.unpackbits(packed, axis=1)[:, :20] == mask).all()), "bytes": image.tobytes()[:4],
            "dct": (dct @ (tiles - 128.0) @ dct.T)[0, 0], "columns": np.ascontiguousarray(image.T).strides, "negative": (255 - image)[0, :4],
            "wrapped": (image + np.uint8(200))[0, :3], "median": np.median(np.stack([np.roll(image, k, 1) for k in (-1, 0, 1)]), axis=0)[3]}
