"""The signals: each module reads one kind of evidence and says which rules it matches."""
