"""Written by `make index`."""
from typing import Any

from everflow.ops.strings.elements import as_string as as_string
from everflow.ops.strings.ragged import bytes_split as bytes_split
from everflow.ops.strings.format import string_format as _format
format = _format
from everflow.ops.strings.elements import string_join as _join
join = _join
from everflow.ops.strings.elements import string_length as _length
length = _length
from everflow.ops.strings.elements import string_lower as _lower
lower = _lower
from everflow.ops.strings.ragged import ngrams as ngrams
from everflow.ops.strings.elements import reduce_join as reduce_join
from everflow.ops.strings.regex import regex_full_match as regex_full_match
from everflow.ops.strings.regex import regex_replace as regex_replace
from everflow.ops.strings.splitting import strings_split as _split
split = _split
from everflow.ops.strings.elements import string_strip as _strip
strip = _strip
from everflow.ops.strings.elements import substr as substr
from everflow.ops.strings.hashing import string_to_hash_bucket as _to_hash_bucket
to_hash_bucket = _to_hash_bucket
from everflow.ops.strings.hashing import string_to_hash_bucket_fast as _to_hash_bucket_fast
to_hash_bucket_fast = _to_hash_bucket_fast
from everflow.ops.strings.hashing import string_to_hash_bucket_strong as _to_hash_bucket_strong
to_hash_bucket_strong = _to_hash_bucket_strong
from everflow.ops.strings.numbers import string_to_number as _to_number
to_number = _to_number
from everflow.ops.strings.ragged import unicode_decode as unicode_decode
from everflow.ops.strings.ragged import unicode_decode_with_offsets as unicode_decode_with_offsets
from everflow.ops.strings.ragged import unicode_encode as unicode_encode
from everflow.ops.strings.unicode import unicode_script as unicode_script
from everflow.ops.strings.ragged import unicode_split as unicode_split
from everflow.ops.strings.ragged import unicode_split_with_offsets as unicode_split_with_offsets
from everflow.ops.strings.unicode import unicode_transcode as unicode_transcode
from everflow.ops.strings.elements import unsorted_segment_join as unsorted_segment_join
from everflow.ops.strings.elements import string_upper as _upper
upper = _upper
