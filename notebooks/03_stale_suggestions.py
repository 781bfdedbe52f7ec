# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Stale suggestions
#
# Hints that name tools which are gone, that mislead those who follow them, or that nobody follows.

# %% [markdown]
# The next cell is the only one to change for your own traces: a file, a folder, or a glob. `None` simulates a
# fleet with planted causes (the engine is real; tools, services and the model are not).

# %%
TRACES = None

# %%
import fixture

from otel_toolerrors.analysis.findings import find

traces = fixture.load(TRACES, "stale_hint", runs=200)
found = find(traces, kinds=["stale_suggestion"])
fixture.table(found)

# %% [markdown]
# How often each hint was shown, and what became of it:

# %%
import pandas as pd

pd.DataFrame([{"hint": finding.code, **finding.counts} for finding in found])

# %% [markdown]
# The proposed catalog goes ahead of the default one and leaves the stale hints out:

# %%
from otel_toolerrors.analysis.patch import merged

print(merged([finding.patch for finding in found], "catalog").toml())
