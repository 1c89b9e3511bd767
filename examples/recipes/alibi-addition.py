"""The adder of the `symmetry` paper with ALiBi."""

import tenfold

recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke").replace(
    name="examples/alibi-addition", pe="alibi", train={"steps": 30}
)
