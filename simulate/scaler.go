package simulate

import "capcli"

// Scaler decides how many units there should be: replicas of a service, or bought nodes of a pool. A run
// makes one for each service and pool; it may remember what it saw. simulate/serving/scale has the scalers.
type Scaler interface {
	// Desired returns the wanted number of units, ready and loading together. It is called at the end
	// of each step, in order of time, and must not keep s.
	Desired(s *ScaleState) int
}

// NewScaler returns a Scaler that has seen nothing.
type NewScaler func() Scaler

// ScaleState is what a Scaler sees at the end of a step. Demand is in requests for a service, and in
// thousandths of GPUs for a pool of nodes: what is held and what waits for the pool.
type ScaleState struct {
	Step    int
	Length  capcli.Seconds // of a step
	Now     capcli.Seconds // end of the step, since the run's start
	Start   capcli.Time    // time 0 of the run, for schedules
	Ready   int            // units that served in the step
	Loading int            // units ordered and not ready in the step
	PerUnit int64          // demand that a ready unit serves in a step
	Load    int64          // demand that came in the step
	Demand  int64          // Load and the backlog of the step before
	Served  int64
	Backlog int64 // Demand - Served

	// Elsewhere is the demand that other bought pools bear beside this one, in the unit of Demand: what
	// their jobs hold. Pools that share a target add it; 0 for a service.
	Elsewhere int64

	// Pending is the work of the jobs that wait for a pool of nodes, as far as is believed; 0 for a service.
	Pending capcli.GPUTime
	// Spent is what the units have cost so far in thousandths of unit-hours, for budgets.
	Spent int64
}
