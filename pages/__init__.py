"""The pages of the dashboard, one file each: a page chooses, calls one cached function of the core, and draws."""
