"""Experiments: replay strategies on a bed, train them, and record what the lab gave them."""
