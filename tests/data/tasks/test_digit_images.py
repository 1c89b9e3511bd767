"""Digit images: what is drawn is what is answered, at every resolution."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.tasks.symbolic.digit_images import (
    STYLES,
    DigitImages,
    drawings,
    drawn,
    patched,
    pixels_of,
)

LABELS = np.repeat(np.arange(10), STYLES)


def tokens_of(pixels, length):
    bits = pixels.reshape(length, -1).astype(np.int64)
    return bits @ (1 << np.arange(bits.shape[1]))


@pytest.mark.parametrize("grows", [True, False])
@pytest.mark.parametrize("length", [64, 100, 256])
def test_every_drawing_is_answered_by_its_digit(length, grows):
    task = DigitImages(grows=grows)
    every = drawn(length, grows)
    answers = [task.answer(tokens_of(pixels, length))[0] - task.base for pixels in every]
    assert answers == LABELS.tolist()


def test_the_answer_differs_in_the_fewest_pixels():
    """A plain loop over all drawings; images that were flipped a lot."""
    task, rng = DigitImages(noise=0.2), np.random.default_rng(0)
    for _ in range(20):
        tokens = task.draw(rng, 64)
        image = pixels_of(tokens).ravel()
        different = [int((image != pixels).sum()) for pixels in drawn(64, True)]
        best = {int(LABELS[n]) for n, count in enumerate(different) if count == min(different)}
        assert task.answer(tokens)[0] - task.base in best


def test_a_finer_image_is_the_same_drawing():
    """Of most pixels of the coarse image, the four fine ones say the same."""
    coarse, fine = drawings(16, grows=True), drawings(32, grows=True)
    shares = fine.reshape(-1, 16, 2, 16, 2).mean((2, 4))
    agreed = (shares > 0.5) == coarse
    assert agreed.mean() > 0.95


def test_a_larger_image_has_the_same_digit_in_it():
    """As many lit pixels as in the trained size, give or take a border, whatever the size of the image."""
    original = drawings(16, grows=False).sum((1, 2))
    assert np.array_equal(drawings(16, grows=True).sum((1, 2)), original)
    larger = drawings(48, grows=False).sum((1, 2))
    assert 0.9 < (larger / original).mean() < 1.15


def test_patches_are_read_row_by_row():
    image = np.zeros((1, 4, 4), dtype=bool)
    image[0, 0, 2] = True  # the first pixel of the second patch
    image[0, 3, 1] = True  # the last pixel of the third
    assert tokens_of(patched(image, 4), 4).tolist() == [0, 1, 8, 0]
    assert DigitImages().shown(np.array([0, 1, 8, 0])) == "--#-\n----\n----\n-#--"


def test_noise_flips_so_many_pixels():
    task, clean = DigitImages(noise=0.1), drawn(256, True)
    rng = np.random.default_rng(3)
    least = [
        min((pixels_of(task.draw(rng, 256)).ravel() != pixels).mean() for pixels in clean)
        for _ in range(5)
    ]
    assert 0.07 < np.mean(least) < 0.13
    with pytest.raises(TenfoldError, match="a noise of"):
        DigitImages(noise=0.5)


def test_every_digit_is_drawn():
    task = DigitImages()
    examples = task.sample(300, 36, np.random.default_rng(0))
    assert {task.truth(examples, row) for row in range(300)} == set("0123456789")
    assert set(examples.lengths[:, 0]) == {36}
