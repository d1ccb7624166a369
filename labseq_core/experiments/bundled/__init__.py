"""Results that come with LabSeq."""
