// Package scale has the scalers, which decide how many replicas a service has, or how many nodes a pool,
// and Play, which plays one of them against a load in steps.
//
// To add a scaler, write a file whose init adds it to the Catalog. A scaler sees only the
// simulate.ScaleState.
package scale

import (
	"capcli"
	"capcli/simulate"
)

// Maker makes the scaler that settings describe, or says what is wrong with them: the error is a
// *capcli.RequestError that names the setting.
type Maker func(*Settings) (simulate.NewScaler, error)

// Catalog holds the scalers by name.
var Catalog = capcli.Catalog[Maker]{Kind: "scaler"}

// Forecaster foresees a series: simulate knows no models, so a caller brings one.
type Forecaster interface {
	// Foresee returns the h values that follow y, whose steps are equal. It may fail where y is too
	// short; the scaler then does as if it had no forecast.
	Foresee(y []float64, h int) ([]float64, error)
}
