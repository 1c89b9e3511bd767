"""How far an encoding and a trained model look, and whether longer inputs can hurt."""
