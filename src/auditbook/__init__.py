"""Audit the fairness of clinical prediction models, and say how far each verdict can be trusted."""
