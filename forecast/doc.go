// Package forecast expects: statistical models of a regular series, what they say
// of its future and how sure they are.
//
// A model is a value; Fit looks at a series and gives a fit, and changes neither. So
// one model fits many series at once, and a backtest can refit it at every origin. A
// fit gives means with intervals (Forecast) and single possible futures (Path), which
// the simulator plays. Package model has these types.
//
// Each family of models is a package with its equations and their source. Models names
// them all, and TestConform holds every one to the same promises. This package chooses
// and combines: Auto, Backtest and Bounded, which wraps a model and is one itself,
// as holidays.Model and change.SinceChange are.
//
// A model of Models says what its equations say, which may be less than zero GPUs.
// Shipped is the model that a user gets, within bounds: package outlook forecasts with
// it, and the accuracy tests score it.
package forecast
