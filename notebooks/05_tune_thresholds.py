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
# # Tuning
#
# `replay` runs the production engine over the recorded calls under another policy. Where the trace does not hold
# the answer, the outcome is drawn from an outage model, and counted as modelled. `tune` searches on the earlier
# runs and lets the later ones refuse.

# %% [markdown]
# The next cell is the only one to change for your own traces: a file, a folder, or a glob, and the policy file under
# which they were recorded, if there was one. `None` simulates a fleet with planted causes (the engine is real; tools,
# services and the model are not).

# %%
TRACES = None
POLICY = None

# %%
import altair as alt
import fixture
import pandas as pd

from otel_toolerrors.analysis.patch import Change
from otel_toolerrors.analysis.tune import changed

traces = fixture.with_outages(TRACES)
in_force = fixture.in_force(TRACES, POLICY)

# %% [markdown]
# One number at a time: what would another first wait have done, for the tool that meets most faults that pass?

# %%
tool = traces.sql("SELECT mode(tool) FROM faults WHERE passing").fetchall()[0][0]
rows = []
for delay in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0):
    path = ("tools", tool, "retry")
    policy = changed(in_force, [Change((*path, "base_delay"), delay), Change((*path, "max_attempts"), 4)])
    replayed = traces.replay(policy)
    failed = replayed.intervals["failed"]
    rows.append(
        {"delay": delay, "failed": failed.value, "low": failed.low, "high": failed.high, "modelled": replayed.modelled}
    )
curve = pd.DataFrame(rows)
base = alt.Chart(curve).encode(
    x=alt.X("delay:Q", title=f"first wait of {tool}, s", scale=alt.Scale(type="log", base=2))
)
band = base.mark_area(opacity=0.25).encode(y=alt.Y("low:Q", title="failed calls"), y2="high:Q")
(band + base.mark_line(point=True).encode(y="failed:Q")).properties(width=560, height=220)

# %%
curve

# %% [markdown]
# All numbers of a service together, with the reason for each:

# %%
tuned = traces.tune(policy=in_force)
print(tuned.toml())

# %%
from otel_toolerrors.analysis.report import charts

charts.tuning_front(tuned)
