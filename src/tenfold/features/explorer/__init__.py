"""How does a model do it? One HTML file that runs models in the browser, without a network.

| file | content |
|---|---|
| `explore.py` | the page for some runs, or for the models that come with the package |
| `model_export.py`, `encoding_export.py` | a run as the page reads it; refusals by name |
| `page_bundle.py` | JavaScript modules, style and models in one file, with a strict content policy |
| `shipped_models.py`, `models/` | the default models, how they were made, their measured curves |
| `web/` | the page: numbers and models (`numerics.js` to `network.js`), problems, proofs, jobs, five views |
| `explorer_commands.py` | the command |

Python: `explore(*runs)` in `explore.py`. Command line: `tenfold explore [RUN ...]`.
"""
