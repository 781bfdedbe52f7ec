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
# # Before and after
#
# The tuned policy, tried on a fleet that it has not seen. With your own traces: tune on last week's, roll the
# policy out, and compare with this week's.

# %% [markdown]
# The next cell is the only one to change: traces before and after. `None` simulates both.

# %%
BEFORE = AFTER = None

# %%
import fixture
import pandas as pd

tuned = fixture.with_outages(None, seed=3).tune(policy=fixture.IN_FORCE)
before = fixture.with_outages(BEFORE, seed=4)
after = fixture.with_outages(AFTER, policy=tuned.policy, seed=4)

# %%
NUMBERS = """
    SELECT count(*) AS calls, count(*) FILTER (WHERE outcome = 'recovered') AS recovered,
      count(*) FILTER (WHERE outcome NOT IN ('ok', 'recovered')) AS failed, sum(attempts) AS attempts,
      round(sum(duration)) AS seconds
    FROM calls
"""
pd.concat([before.sql(NUMBERS).df(), after.sql(NUMBERS).df()], keys=["before", "after"]).droplevel(1).T

# %% [markdown]
# What replay had promised for the runs before, with a range that is to hold nine times in ten. Where the breaker
# had kept every call away, nobody saw the service recover: there the model leans to the late side.

# %%
SHOWN = ("recovered", "failed", "attempts")
promised = before.replay(tuned.policy)
pd.DataFrame(
    {name: (one.low, one.value, one.high) for name, one in promised.intervals.items() if name in SHOWN},
    index=["low", "mean", "high"],
).T

# %% [markdown]
# And what is still worth a look:

# %%
fixture.table(after.findings())
