"""Runs that others can use: a folder with a model card, the hub, and back.

| file | what it does |
|---|---|
| `model_card.py` | the card: what a run is, what it was given, accuracy by length, the theorem |
| `hub_folder.py` | `share`: the folder that is uploaded |
| `hub_transfer.py` | upload and download with huggingface_hub |
| `shared_run.py` | `load`: a run from a folder or from the hub, with its hashes checked |
"""
