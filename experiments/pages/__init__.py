"""What is written about each experiment: text, tables and figures from the data that it returned."""
