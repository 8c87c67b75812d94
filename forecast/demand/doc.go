// Package demand reads histories of GPU demand as regular series. The sources are job logs, long
// tables, plain values, Parquet tables, folders of GPU samples and answers of Prometheus.
//
// The result is Histories. Usage equals demand only where capacity was free, so each History may
// have a Censoring: the capacity and the work that waited, on the finest known steps. A Hierarchy
// says which series are sums of others.
package demand
