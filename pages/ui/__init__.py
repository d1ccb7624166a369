"""What the pages share: choices in the URL, cached calls, forms made from specifications, charts, tables, token views."""
