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
# # Context injection: what it costs, and what it does
#
# Cost is counted. Effect needs a held-out arm: runs that get the bare error. Without one, nothing can be claimed.

# %% [markdown]
# The next cell is the only one to change for your own traces: a file, a folder, or a glob. `None` simulates a
# fleet with planted causes (the engine is real; tools, services and the model are not).

# %%
TRACES = None

# %%
import altair as alt
import fixture

from otel_toolerrors.analysis.findings import find
from otel_toolerrors.analysis.findings.injection_effect import effect

traces = fixture.load(TRACES, "helpful_context", runs=200)
fixture.table(find(traces, kinds=["injection_overhead", "injection_effect"]))

# %% [markdown]
# Tokens injected per run, by arm:

# %%
tokens = traces.sql("SELECT run_id, arm, sum(injected_tokens) AS tokens FROM surfaced GROUP BY run_id, arm").df()
alt.Chart(tokens).mark_bar().encode(
    x=alt.X("tokens:Q", bin=alt.Bin(maxbins=20), title="tokens injected in a run"),
    y=alt.Y("count():Q", title="runs"),
    color=alt.Color("arm:N", title=None),
).properties(width=560, height=180)

# %% [markdown]
# The share of errors that were followed by another failure of the same tool, with context minus without; the
# interval is taken over whole runs.

# %%
difference = effect(traces)
"no held-out arm: no effect can be claimed" if difference is None else difference
