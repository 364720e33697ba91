"""Fakes of the batch interfaces of two services, as strict as their documents say. No model is behind them."""
