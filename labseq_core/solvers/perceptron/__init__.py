"""Online updates of perceptrons, primal and dual."""
