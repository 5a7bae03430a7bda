# SPDX-License-Identifier: MIT
"""What the tests share: numbers that f32 sums exactly, and exceptions with their text."""
import numpy as np

try:
    import ml_dtypes
    BF16, F8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
except ImportError:  # torch's tests do without
    BF16 = F8 = None


class Skip(Exception):
    """A test that cannot run here, and why."""


def numbers(*shape, dtype=np.float32, seed=0):
    """Small whole numbers: sums of their products are exact, in any order."""
    return np.random.default_rng((seed, *shape)).integers(-4, 5, shape).astype(dtype)


def raises(error, text, call, *args, **named):
    try:
        call(*args, **named)
    except error as caught:
        assert text in str(caught), f"says: {caught}"
        return caught
    raise AssertionError(f"no {error.__name__}: {text}")


def same(x, y):
    x, y = np.asarray(x), np.asarray(y)
    assert x.shape == y.shape, (x.shape, y.shape)
    np.testing.assert_array_equal(x.astype(np.float64), y.astype(np.float64))


def close(x, y, tolerance):
    np.testing.assert_allclose(np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64), rtol=tolerance,
                               atol=tolerance)
