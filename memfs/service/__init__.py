"""The warm process of a user: it answers hooks and searches, and keeps what they need current."""
