package scale

import "capcli/simulate"

func init() {
	add("forecast", "by a given forecast of the load", newForecast,
		Setting{Name: "percent", Doc: "use that it plans for, in percent; default: 80", Default: 80, Lo: 1e-6, Hi: 1e6},
		Setting{Name: "hold", Doc: "a fall waits until it was wanted for so many steps, or such a length of time; default: 10", Unit: Steps, Default: 10, Hi: maxSteps},
	)
}

// foreseen plans for a forecast that is given: value t, known at the end of step t, is the load that the
// units must bear, at a use of percent:
//
//	want = ceil(100 forecast / (per unit percent))
//
// It rises at once and falls to the greatest want of the last hold steps. Past the end of the forecast the
// last value stays.
type foreseen struct {
	min, max int
	values   []float64
	percent  float64
	hold     func(*simulate.ScaleState) int
	recent   peaks
}

func newForecast(v *values) (simulate.NewScaler, error) {
	if len(v.Foreseen) == 0 {
		return nil, fault("forecast", "is missing: the load that is foreseen at the end of each step, a list of numbers")
	}
	for i, x := range v.Foreseen {
		if !(x >= 0 && x <= 1e15) {
			return nil, fault("forecast", "has %v at step %d; a load is not negative", x, i)
		}
	}
	f := foreseen{min: v.Min, max: v.Max, values: v.Foreseen, percent: v.number("percent"), hold: v.holdSteps}
	return func() simulate.Scaler { own := f; return &own }, nil
}

func (v *values) holdSteps(s *simulate.ScaleState) int { return v.steps("hold", s.Length) }

// Desired implements simulate.Scaler.
func (f *foreseen) Desired(s *simulate.ScaleState) int {
	x := f.values[min(s.Step, len(f.values)-1)]
	want := clamp(units(x*100/(float64(s.PerUnit)*f.percent)), f.min, f.max)
	return f.recent.fall(s, want, f.hold(s))
}

// peaks keeps the greatest of the last wants.
type peaks struct{ wants []event } // falling: the first is the greatest

// fall returns want, or, where that is below the present number, the greatest want of the last hold steps,
// this one included.
func (p *peaks) fall(s *simulate.ScaleState, want, hold int) int {
	for len(p.wants) > 0 && p.wants[len(p.wants)-1].n <= want {
		p.wants = p.wants[:len(p.wants)-1]
	}
	p.wants = append(p.wants, event{s.Now, want})
	first := 0
	for first < len(p.wants)-1 && int((s.Now-p.wants[first].at)/s.Length) >= hold {
		first++
	}
	p.wants = p.wants[:copy(p.wants, p.wants[first:])]
	if current := s.Ready + s.Loading; want < current {
		return min(current, p.wants[0].n)
	}
	return want
}
