"""What is audited, room by room: each module lists its promises in ``ENTRIES``."""
