"""Where the methods of the league are from: `year, authors, number at arXiv`; what is our own combination says so.

Two papers are named where an entry combines their methods.
"""

from __future__ import annotations

from collections.abc import Mapping

OURS = "our combination"  # a combination that we know from no paper, or that papers of this repository made
RANDOMIZED = "Ruoss et al. 2023, 2305.16843"
SERIES = "Qin et al. 2023, 2307.10156"
KERPLE = "Chi et al. 2022, 2205.09921"
GRAPE = "Zhang et al. 2025, 2512.07805"
BIAS = "Duan et al. 2023, 2310.11984"

PAPERS: Mapping[str, str] = {
    "none": "Kazemnejad et al. 2023, 2305.19466",
    "learned": "Gehring et al. 2017, 1705.03122",
    "sinusoidal": "Vaswani et al. 2017, 1706.03762",
    "rotary": "Su et al. 2021, 2104.09864",
    "rotary-linear": "Chen et al. 2023, 2306.15595",
    "rotary-ntk": "bloc97 2023; Peng et al. 2023, 2309.00071",
    "rotary-yarn": "Peng et al. 2023, 2309.00071",
    "p-rope": "Barbero et al. 2024, 2410.06205",
    "hope": "Chen et al. 2024, 2410.21216",
    "drope": "Gelberg et al. 2025, 2512.12167",
    "xpos": "Sun et al. 2022, 2212.10554",
    "pope": "Gopalakrishnan et al. 2025, 2509.10534",
    "grape-m": GRAPE,
    "grape-ap": GRAPE,
    "alibi": "Press et al. 2021, 2108.12409",
    "type-1": SERIES,
    "type-2": SERIES,
    "inverse": SERIES,
    "inverse-log": SERIES,
    "power": SERIES,
    "kerple-log": KERPLE,
    "kerple-power": KERPLE,
    "bam": "Bianchessi et al. 2025, 2505.22842",
    "sandwich": "Chi et al. 2022, 2212.10356",
    "t5": "Raffel et al. 2019, 1910.10683",
    "scalar": OURS,
    "fire": "Li et al. 2023, 2310.04418",
    "hard-alibi": "Jelassi et al. 2024, 2402.01032",
    "relative": "Shaw et al. 2018, 1803.02155",
    "cope": "Golovneva et al. 2024, 2405.18719",
    "dape": "Zheng et al. 2024, 2405.14722",
    "fox": "Lin et al. 2025, 2503.02130",
    "gated-decay": "Wall attention 2026, flash-linear-attention 0.5",
    "path": "Yang et al. 2025, 2505.16381",
    "selective": "Leviathan et al. 2024, 2410.02703",
    "stick-breaking": "Tan et al. 2024, 2410.17980",
    "scalable-softmax": "Nakanishi 2025, 2501.19399",
    "entmax": "Vasylenko et al. 2025, 2506.16640",
    "log-length": "Chiang and Cholak 2022, 2202.12172",
    "swan": "Puvvada et al. 2025, 2504.08719",
    "shifted": "Kiyono et al. 2021, 2109.05644",
    "randomized-learned": RANDOMIZED,
    "randomized-rotary": RANDOMIZED,
    "randomized-fire": "Zhou et al. 2024, 2402.09371",
    "floats": "Shimizu et al. 2026, 2602.14050",
    "abacus": "McLeish et al. 2024, 2405.17399",
    "coupled": "Cho et al. 2024, 2405.20671",
    "coupled-randomized": OURS,
    "alibi-columns": OURS,
    "rotary-columns": OURS,
    "columns": OURS,
    "alibi-steep": OURS,
    "hinted-fire": "Zhou et al. 2024, 2402.09371",
    "reversed-padded": "Lee et al. 2023, 2307.03381; Shen et al. 2023, 2311.14737",
    "random-spaces": "Shen et al. 2023, 2311.14737",
    "abc": BIAS,
    "window": BIAS,
    "window-cyclic": BIAS,
    "in-place": OURS,
    "looped": "Fan et al. 2024, 2409.15647",
    "looped-window": OURS,
    "gated-linear": "Yang et al. 2023, 2312.06635",
    "gru": "Cho et al. 2014, 1406.1078",
}
