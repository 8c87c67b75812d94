// Package duckdb holds what capcli profile writes against DuckDB, which reads a
// whole directory as one data set. It is a module of its own, so that nothing of
// DuckDB comes near the program; it needs a C++ compiler's libraries to link.
package duckdb
