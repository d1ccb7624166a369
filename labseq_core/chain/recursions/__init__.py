"""The compiled loops behind `chain`."""
