"""Every statistic, bound and step under every unit, as digests: what a redesign must give again, digit by digit."""
