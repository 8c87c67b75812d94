// Package series reads time series from text: long tables with one row for each series and
// time (Nixtla's convention: unique_id, ds, y) as CSV or JSON lines, plain text with one value
// a line, and the answers of Prometheus to query_range.
//
// Reading has two steps. Read returns the rows as they are in the file. Regular puts them on a
// grid of equal steps, and reports what was not regular: gaps, duplicate stamps, stamps off
// the grid. Values are filled, combined or dropped only where the caller
// asks for it.
package series
