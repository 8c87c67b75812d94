// Package scale has the scalers, which decide how many replicas a service has, or how many nodes a pool,
// and Play, which plays one of them against a load in steps.
//
// To add a scaler, write a file whose init adds it to the Catalog with its own settings. A scaler sees only
// the simulate.ScaleState. What all scalers share — scale to zero, cooldown, schedules, budgets — are
// limits around what the scaler says; see NewScaler.
package scale

import (
	"capcli"
	"capcli/simulate"
)

// Maker makes the scaler that checked settings describe, or says what is wrong with them: the error is a
// *capcli.RequestError that names the setting.
type Maker func(*values) (simulate.NewScaler, error)

// Catalog holds the scalers by name.
var Catalog = capcli.Catalog[Maker]{Kind: "scaler"}

// Forecaster foresees a series: simulate knows no models, so a caller brings one.
type Forecaster interface {
	// Foresee returns the h values that follow y, whose steps are equal. It may fail where y is too
	// short; the scaler then does as if it had no forecast.
	Foresee(y []float64, h int) ([]float64, error)
}

// NewScaler returns the scaler that the settings describe; nil settings are scaler none. The error is a
// *capcli.RequestError whose Field is the name of the setting that is wrong. The settings must not change
// afterwards.
//
// What the scaler says passes these limits, in this order: the schedule, zero_after, the cooldowns,
// checkpoint, at least one unit where requests wait, and the budget.
func NewScaler(s *Settings) (simulate.NewScaler, error) {
	if s == nil {
		s = &Settings{}
	}
	if s.Kind == "" {
		named := *s
		named.Kind = "none"
		s = &named
	}
	v, err := s.read()
	if err != nil {
		return nil, err
	}
	m, err := Catalog.Get(s.Kind)
	if err != nil {
		return nil, err
	}
	inner, err := m(v)
	if err != nil {
		return nil, err
	}
	return func() simulate.Scaler { return &limited{inner(), v.limits()} }, nil
}

// limit changes what a scaler says. It is asked at the end of each step, like the scaler.
type limit interface {
	bound(s *simulate.ScaleState, want int) int
}

// limited is a scaler within limits.
type limited struct {
	scaler simulate.Scaler
	limits []limit
}

// Desired implements simulate.Scaler.
func (l *limited) Desired(s *simulate.ScaleState) int {
	want := l.scaler.Desired(s)
	for _, x := range l.limits {
		want = x.bound(s, want)
	}
	return want
}

// limits returns the limits of the settings, in order.
func (v *values) limits() []limit {
	var out []limit
	if len(v.Schedule) > 0 && v.Kind != "scheduled" {
		out = append(out, &scheduleLimit{v.Settings})
	}
	if v.number("zero_after") > 0 || v.Lengths["zero_after"] > 0 {
		out = append(out, &zero{v: v})
	}
	if up, down := v.seconds("cooldown_up"), v.seconds("cooldown"); up > 0 || down > 0 {
		out = append(out, &cooldown{up: up, down: down})
	}
	if every := v.seconds("checkpoint"); every > 0 {
		out = append(out, checkpoint(every))
	}
	out = append(out, wake{})
	if v.Budget != nil {
		out = append(out, &budgetLimit{Budget: v.Budget})
	}
	return out
}

// wake keeps one unit where requests wait: a service without replicas would never serve them.
type wake struct{}

func (wake) bound(s *simulate.ScaleState, want int) int {
	if want == 0 && s.Backlog > 0 {
		return 1
	}
	return want
}

func clamp(want, lo, hi int) int { return min(max(want, lo), hi) }

// units returns the smallest whole number of units that is at least x, as far as an int of ours holds it.
func units(x float64) int {
	switch {
	case !(x > 0): // also where x is no number
		return 0
	case x >= 1<<31:
		return 1 << 31
	}
	n := int(x)
	if float64(n) < x {
		n++
	}
	return n
}
