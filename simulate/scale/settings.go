package scale

import "capcli"

// Settings are the settings of a scaler, as scenarios write them. Each scaler reads its own; one that it
// does not know is a fault.
type Settings struct {
	Kind     string // a name of the Catalog
	Min, Max int

	// Seen settings of hpa and kpa.
	Target    float64 // demand for each replica
	Tolerance float64

	// Forecaster is for the scalers that foresee; the caller sets it.
	Forecaster Forecaster
	// Start is the time of the first step, for schedules; capcli.NoTime is not known.
	Start capcli.Time
}
