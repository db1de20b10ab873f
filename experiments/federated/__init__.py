"""Training across holders: what privacy and secure addition cost in accuracy, and what an attack finds."""
