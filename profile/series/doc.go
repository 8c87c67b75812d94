// Package series reads series of figures from text: long tables with one row for
// each series and instant (Nixtla's convention: unique_id, ds, y) as CSV or JSON
// lines, one value a line, and what Prometheus answers to query_range.
//
// A reading goes in two steps. Read gives the rows as they stand; Regular puts
// them on a grid of equal steps, and reports what was not regular: gaps,
// duplicate stamps, stamps off the grid. Nothing is filled, combined or dropped
// unless the caller asks for it.
package series
