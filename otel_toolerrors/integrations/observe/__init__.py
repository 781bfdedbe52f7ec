"""Observers: they record what fails in a framework's tool calls, and change nothing.

`ToolErrorsInstrumentor` finds them by their entry points. Each ``observe(tracing)`` hooks into its framework, and
returns the function that takes the hooks out again.
"""
