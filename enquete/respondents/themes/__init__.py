"""Theme coding of open answers: the interviewer's own work, shared by every methodology that asks open questions."""
