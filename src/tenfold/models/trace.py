"""Read activations by name: the identity modules of the attention, and any other module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from tenfold.core.errors import TenfoldError, unknown


def activations(model: nn.Module) -> list[str]:
    """The names that `trace` takes: `stack.blocks.0.attention.weights`, ..."""
    return [name for name, module in model.named_modules() if isinstance(module, nn.Identity)]


@contextmanager
def trace(model: nn.Module, *names: str) -> Iterator[dict[str, list[Tensor]]]:
    """Collect the outputs of the named modules, one tensor a call; all named activations by default.

    with trace(model) as seen:
        model(batch)
    seen["stack.blocks.0.attention.weights"][0]  # (B, H, T, S)
    """
    modules = dict(model.named_modules())
    wanted = names or tuple(activations(model))
    if not wanted:
        raise TenfoldError(
            f"a trace without names needs attention, which {type(model).__name__} does not have; name its modules"
        )
    seen: dict[str, list[Tensor]] = {name: [] for name in wanted}
    hooks = []
    for name in wanted:
        if name not in modules:
            raise unknown("activation", name, activations(model))

        def keep(_module: nn.Module, _given: object, out: Tensor, name: str = name) -> None:
            seen[name].append(out.detach())

        hooks.append(modules[name].register_forward_hook(keep))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()
