// Package outlook forecasts how many GPUs will be wanted. It takes histories of package demand
// and a Request, and returns a Result, whose JSON is the document of capcli forecast -o json.
//
// Each history is forecast by a model as it is shipped (forecast.Shipped): within the floor and
// the cap of the series, and on the demand behind usage where a queue or a capacity is known
// that limited usage. A series to which auto cannot be fitted is forecast by repeating its last
// value. The stages are: every series by itself (its forecast, its changes, the effects of
// planned events, a trial on its past); the reconciliation of parts and sums; joint futures of
// all series; the figures of periods, with ranges calibrated by the errors of past periods.
//
// Backtest runs the same models on the past and measures their errors.
package outlook
