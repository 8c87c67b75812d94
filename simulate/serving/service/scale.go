package service

import (
	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/scale"
)

// StepLength returns the length of a step: a minute where none is given.
func (s *Spec) StepLength() capcli.Seconds {
	if s.Step == 0 {
		return capcli.Minute
	}
	return s.Step
}

// ColdStepCount returns the steps from the order of a replica to its first one, rounded up.
func (s *Spec) ColdStepCount() int {
	cold := s.ColdStart
	switch {
	case s.ColdSteps >= 0:
		return s.ColdSteps
	case cold < 0:
		cold = capcli.Seconds((s.Config.Cold + 999_999) / 1_000_000)
	}
	return int((cold + s.StepLength() - 1) / s.StepLength())
}

// InitialReplicas returns the replicas at the start: initial, or replicas, or the least of the scaler, and
// at least one, where neither is given.
func (s *Spec) InitialReplicas() int {
	switch {
	case s.Initial >= 0:
		return s.Initial
	case len(s.Config.Replicas) > 0:
		return len(s.Config.Replicas)
	case s.Scaler != nil:
		return max(1, s.Scaler.Min)
	}
	return 1
}

// ScaleCase returns the service as a case for scale.Play, for the load of a file. A nil load is that of the
// service itself. The error is a *capcli.InputError at a field of the service.
func (s *Spec) ScaleCase(load []int64) (*scale.Case, error) {
	if load == nil {
		load = s.Arrivals
	}
	if len(load) == 0 {
		return nil, s.fault("load", "no load: give the requests of each step, in a file with a column load or as a list")
	}
	if s.PerStep == 0 {
		return nil, s.fault("mu", "mu is missing: the requests that a ready replica serves in a step")
	}
	c := &scale.Case{
		Length: s.StepLength(), PerUnit: s.PerStep, ColdSteps: s.ColdStepCount(), LateSteps: s.LateSteps,
		Initial: s.InitialReplicas(), Scaler: s.Scaler, Load: load, Losses: s.Losses,
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return c, nil
}

// fault returns an error at a field of the service, without the name of the file.
func (s *Spec) fault(field, text string) error {
	e := &capcli.InputError{Field: field, Text: text}
	if s.node != nil {
		e.Line = s.node.Line
		if n := strict.Child(s.node, field); n != nil {
			e.Line = n.Line
		}
	}
	return e
}
