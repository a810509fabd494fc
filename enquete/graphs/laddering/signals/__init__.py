"""Signals: what can be read off an interview at a turn. One pool a module, one small class a signal."""
