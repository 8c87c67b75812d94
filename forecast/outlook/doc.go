// Package outlook answers how many GPUs will be wanted: it takes histories of package
// demand and a Request, and returns a Result, whose JSON is the document of capcli
// forecast -o json.
//
// Each history is forecast by a model as it is shipped (forecast.Shipped): within the
// floor and the cap of the series, and on the demand behind usage where it is known
// what held that down. A series that auto cannot take is forecast by repeating its last
// value. The stages are these: every series by itself (its forecast, its changes, the
// effects of planned events, a trial on its past); the agreement of parts and sums;
// futures of all series together; the figures of periods, with ranges set by how far
// those of the past were off.
//
// Backtest runs the same models on the past, and measures them.
package outlook
