//! The tools of a coding-agent harness that need a live resource behind them, in one place.
