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
# # A first look
#
# What the traces hold, what went wrong, and where to look next.

# %% [markdown]
# The next cell is the only one to change for your own traces: a file, a folder, or a glob. `None` simulates a
# fleet with planted causes (the engine is real; tools, services and the model are not).

# %%
TRACES = None

# %%
import fixture

from otel_toolerrors.analysis.report import charts, summary

traces = fixture.load(TRACES, "should_retry", "stale_hint", "retry_storm", runs=150)
totals = summary.summarise(traces)
{"runs": totals.runs, "calls": totals.calls, "recovered": totals.recovered, "failed": totals.failed}

# %%
charts.outcomes_over_time(totals)

# %%
charts.failures_by_tool(totals)

# %% [markdown]
# Every record of the vocabulary is a view: `calls`, `attempts`, `faults`, `retries`, `breaker_moves`, `surfaced`,
# … in plain SQL.

# %%
traces.sql("""
    SELECT tool, category, code, count(*) AS faults, count(DISTINCT run_id) AS runs
    FROM faults GROUP BY tool, category, code ORDER BY faults DESC LIMIT 10
""").df()

# %% [markdown]
# What the analysis makes of it, gravest first:

# %%
fixture.table(traces.findings())
