//! What a tool of a coding agent is, and who sees it: tool trait, tiers, surfaces, gates.
