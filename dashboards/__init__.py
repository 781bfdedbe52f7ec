"""Grafana dashboards and Prometheus alerts, in the words of the vocabulary."""
