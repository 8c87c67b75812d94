// Package forecast fits statistical models to regular series and forecasts them with intervals.
//
// A model is a value. Fit reads a series and returns a fit; it changes neither the model nor the
// series. So one model fits many series at once, and a backtest can refit it at every origin. A
// fit returns means with intervals (Forecast) and single possible futures (Path), which the
// simulator plays. Package model has these types.
//
// Each family of models is a package with its equations and their source. Models lists all of
// them, and TestConform holds each to the same promises. This package chooses and combines
// models: Auto, Backtest and Bounded. Bounded wraps a model and is a model itself, as
// holidays.Model and change.SinceChange are.
//
// A model of Models returns what its equations give, which may be less than zero GPUs. Shipped
// returns the model that a user gets, within bounds: package outlook forecasts with it, and the
// accuracy tests score it.
package forecast
