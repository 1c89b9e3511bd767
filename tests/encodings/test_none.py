from tenfold.encodings import NoPE


def test_changes_nothing(line, normal):
    pe, at = NoPE(), line(0, 1, -1)
    x, q, k = normal(1, 3, 8), normal(1, 2, 3, 4), normal(1, 2, 3, 4)
    assert pe.embed(x, at) is x
    assert pe.rotate(q, k, at, at) == (q, k)
    assert pe.scores(q, k, at, at) is None
    assert pe.bias(at, at) is None
    assert pe.visible(at, at) is None
    assert pe.values(q, at, at) is None
    assert pe.axes == frozenset()
    assert not pe.attends
    assert not list(pe.parameters())
