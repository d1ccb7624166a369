"""What a file from a visitor may be at most."""

MAX_UPLOAD_MEGABYTES = 50
