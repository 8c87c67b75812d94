// Package demand reads histories of the demand for GPUs from any source and gives
// them as regular series, with what held them down: job logs, long tables, plain
// values, Parquet tables, folders of GPU samples and answers of Prometheus.
//
// The result is Histories. Usage shows demand only where there was room, so that
// each History may carry a Censoring: the capacity there was and the work that
// waited, on the finest steps that are known. Series that add up to others stand in
// a Hierarchy.
package demand
