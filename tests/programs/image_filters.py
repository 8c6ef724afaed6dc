import numpy as np
sliding_window_view = np.lib.stride_tricks.sliding_window_view

def make_image(h, w, rng):
    yy, xx = np.mgrid[:h, :w]
    img = 60 + 40 * np.sin(xx / 9.0) * np.cos(yy / 13.0)
    img[(yy - h // 2) ** 2 + (xx - w // 3) ** 2 < 30 ** 2] = 160
    img[h // 5:h // 3, w // 2:w - 20] = 30
    img += rng.normal(0, 6, img.shape)
    return np.clip(img, 0, 255).astype(np.uint8)

def convolve2d(img, kernel):
    kh, kw = kernel.shape
    padded = np.pad(img.astype(float), ((kh // 2, kh // 2), (kw // 2, kw // 2)), mode='edge')
    windows = sliding_window_view(padded, (kh, kw))
    return np.einsum('ijkl,kl->ij', windows, kernel[::-1, ::-1])

def sobel(img):
    Kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gx = convolve2d(img, Kx)
    gy = convolve2d(img, Kx.T)
    mag = np.sqrt(gx ** 2 + gy ** 2)
    mag *= 255.0 / mag.max()
    return mag, np.arctan2(gy, gx)

def equalize(img):
    hist, bins = np.histogram(img.flatten(), 256, [0, 256])
    cdf = hist.cumsum()
    cdf_min = cdf[cdf > 0].min()
    lut = np.round((cdf - cdf_min) / (cdf[-1] - cdf_min) * 255).clip(0, 255).astype('uint8')
    return lut[img]

def median_filter(img, k=3):
    p = np.pad(img, k // 2, mode='reflect')
    return np.median(sliding_window_view(p, (k, k)), axis=(2, 3)).astype(img.dtype)

def main():
    rng = np.random.default_rng(8)
    img = make_image(500, 600, rng)
    mag, angle = sobel(img)
    blur = convolve2d(img, np.ones((3, 3)) / 9)
    eq = equalize(img)
    binary = img > img.mean() + img.std()
    noisy = img.copy()
    salt = rng.random(img.shape)
    noisy[salt < 0.02] = 0
    noisy[salt > 0.98] = 255
    clean = median_filter(noisy)
    rgb = np.dstack([img, 255 - img, np.full_like(img, 128)])
    gray = rgb @ np.array([0.299, 0.587, 0.114])
    blocks = img.reshape(250, 2, 300, 2).mean(axis=(1, 3))
    err = lambda a: float(np.abs(a.astype(int) - img.astype(int)).mean())
    return {"dtype": str(eq.dtype), "edges": int((mag > 128).sum()), "angle_std": angle.std(), "blur": blur[::30, ::40],
            "eq_hist": np.histogram(eq, bins=8, range=(0, 256))[0],
            "area": int(binary.sum()), "median_helps": err(clean) < err(noisy), "gray": gray[:3, :3],
            "small": blocks[:4, :4], "turned": np.array_equal(np.rot90(img), img.T[::-1]),
            "wrap": img[:2, :5] + np.uint8(200), "contrast": int(img.max() - img.min())}
