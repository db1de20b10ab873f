"""Every front door against things it was not made for: only our errors, and no private value in any of them."""
