"""The two databases: connections, transactions, errors and notifications of each."""
