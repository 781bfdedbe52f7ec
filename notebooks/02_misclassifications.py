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
# # Misclassifications
#
# Errors that were called final although they pass, and errors that are retried although they do not.
#
# "The same arguments worked later" proves little: most often another call repaired something in between. So a
# pair of calls counts only if nothing in between could have changed state.

# %% [markdown]
# The next cell is the only one to change for your own traces: a file, a folder, or a glob. `None` simulates a
# fleet with planted causes (the engine is real; tools, services and the model are not).

# %%
TRACES = None

# %%
import altair as alt
import fixture
import pandas as pd

from otel_toolerrors.analysis.findings import find

traces = fixture.load(TRACES, "should_retry", "should_not_retry", runs=300)
kinds = ["misclassified_should_retry", "misclassified_should_not_retry", "misclassified_signals_disagree"]
found = find(traces, kinds=kinds)
fixture.table(found)

# %% [markdown]
# The shares that the findings rest on, with their 95 % intervals. Below a fifth, a retry is not worth it.

# %%
shares = pd.DataFrame(
    [(f"{f.tool}: {f.code}", f.interval.low, f.interval.value, f.interval.high) for f in found],
    columns=["error", "low", "share", "high"],
)
SHARE = alt.Scale(domain=[0, 1])
base = alt.Chart(shares).encode(y=alt.Y("error:N", title=None))
bars = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title="works when repeated", scale=SHARE), x2="high:Q")
worth = alt.Chart(pd.DataFrame({"worth": [0.2]})).mark_rule(strokeDash=[4, 4]).encode(x="worth:Q")
(bars + base.mark_point(size=80, filled=True).encode(x="share:Q") + worth).properties(width=560, height=120)

# %% [markdown]
# Each finding proposes a classification rule. Read it before you use it: prose can be shared by errors that mean
# other things.

# %%
print("\n\n".join(finding.patch.toml() for finding in found if finding.patch))
