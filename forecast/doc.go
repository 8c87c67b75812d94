// Package forecast expects: statistical models of a regular series, what they say
// of its future and how sure they are.
//
// A Model is a value; Fit looks at a series and gives a Fitted, and changes
// neither. So one model fits many series at once, and a backtest can refit it
// at every origin. A Fitted gives means with intervals (Forecast) and single
// possible futures (Path), which the simulator plays.
//
// Each model is one file with its equations and their source; it enters itself
// in Models. TestConform holds every model to the same promises. Holidays,
// SinceChange and Bounded wrap a model and are models themselves; a Roadmap adds to a
// forecast what its history cannot tell.
//
// A model of Models says what its equations say, which may be less than zero GPUs.
// Shipped is the model that a user gets, within bounds: package outlook forecasts with
// it, and the accuracy tests score it.
package forecast
