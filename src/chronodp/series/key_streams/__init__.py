"""Streams of keys that nobody declared: found once enough people hold them, told with their past, and carried on."""

from chronodp.series.key_streams.answer import KeyAnswer
from chronodp.series.key_streams.design import LONGEST_KEY, KeyStreamDesign, design_key_stream
from chronodp.series.key_streams.look import look_at as look_at
from chronodp.series.key_streams.stream import KeyStream

__all__ = ["LONGEST_KEY", "KeyAnswer", "KeyStream", "KeyStreamDesign", "design_key_stream"]
