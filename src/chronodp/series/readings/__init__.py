"""Linear readings of releases, and what is made of them: ratios, shares, changes, and which of them are published."""

from chronodp.series.readings.covariance import PlaceCovariance as PlaceCovariance

__all__: list[str] = []
