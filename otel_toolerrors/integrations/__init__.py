"""One small adapter for each framework, each with an extra of its own. See ``docs/integrations``."""
