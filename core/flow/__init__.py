"""Gas that flows between bodies and the air: hoses, holes and pumps, and the thrust of what streams out."""
