"""Inside, tab HM-SVM."""
