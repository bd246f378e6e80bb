"""Say what a result means in sentences and tables that stay true on every cohort."""
