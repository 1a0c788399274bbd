//! Privacy vocabulary and arithmetic: relations, losses, composition, receipts, ledger; no randomness.
