import numpy as np

def lowpass(signal, fs, cutoff):
    spectrum = np.fft.rfft(signal)
    freqs = np.fft.rfftfreq(signal.size, d=1 / fs)
    spectrum[freqs > cutoff] = 0
    return np.fft.irfft(spectrum, n=signal.size)

def spectrogram(x, fs, nperseg=256, overlap=128):
    step = nperseg - overlap
    n_frames = 1 + (len(x) - nperseg) // step
    idx = np.arange(nperseg)[None, :] + step * np.arange(n_frames)[:, None]
    frames = x[idx] * np.hanning(nperseg)
    S = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    f = np.fft.rfftfreq(nperseg, 1 / fs)
    t = (np.arange(n_frames) * step + nperseg / 2) / fs
    return f, t, S.T

def lowpass_2d(img, radius):
    F = np.fft.fftshift(np.fft.fft2(img))
    h, w = img.shape
    y, x = np.ogrid[:h, :w]
    F[(y - h // 2) ** 2 + (x - w // 2) ** 2 > radius ** 2] = 0
    return np.real(np.fft.ifft2(np.fft.ifftshift(F)))

def main():
    rng = np.random.default_rng(0)
    fs = 1000
    t = np.arange(0, 100, 1 / fs)
    clean = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 12 * t)
    noisy = clean + 0.8 * rng.standard_normal(t.size) + 0.7 * np.sin(2 * np.pi * 150 * t)
    filtered = lowpass(noisy, fs, 20)
    power = np.abs(np.fft.rfft(noisy)) ** 2 / t.size
    freqs = np.fft.rfftfreq(t.size, 1 / fs)
    peaks = np.sort(freqs[np.argsort(power)[-3:]])
    chirp = np.sin(2 * np.pi * (20 * t[:4000] + 30 * t[:4000] ** 2))
    f, tt, S = spectrogram(chirp, fs)
    ridge = f[S.argmax(axis=0)]
    slope, intercept = np.polyfit(tt, ridge, 1)
    db = 10 * np.log10(np.maximum(S, 1e-10))
    auto = np.fft.ifft(np.abs(np.fft.fft(noisy, 2 * t.size)) ** 2).real[:t.size]
    auto /= auto[0]
    sig = rng.random(8192)
    kernel = np.exp(-np.linspace(-2, 2, 64) ** 2)
    n = len(sig) + len(kernel) - 1
    fast = np.fft.irfft(np.fft.rfft(sig, n) * np.fft.rfft(kernel, n), n)
    img = rng.random((256, 256)) + np.hanning(256)[:, None] * np.hanning(256)
    low = lowpass_2d(img, 6)
    rms = lambda e: np.sqrt(np.mean(e ** 2))
    print("peaks at", peaks, "Hz")
    return {"peaks": peaks, "rms_before": rms(noisy - clean), "rms_after": rms(filtered - clean), "S_shape": S.shape,
            "slope": slope, "ridge": ridge, "db_max": db.max(), "auto": auto[:5], "lag": int(auto[100:300].argmax() + 100),
            "conv_ok": np.allclose(fast, np.convolve(sig, kernel)),
            "low_std": low.std(), "parseval": bool(np.isclose((noisy ** 2).sum(), (np.abs(np.fft.fft(noisy)) ** 2).mean())),
            "phase": np.angle(np.fft.fft(clean)[500])}
