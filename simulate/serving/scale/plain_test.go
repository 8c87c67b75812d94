package scale_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/serving/scale"
)

// plainHPA is hpa once more, written plainly from the rules: it keeps every recommendation and every
// event, and looks through all of them each time.
type plainHPA struct {
	min, max          int
	target, tolerance float64
	up, down          scale.Rates
	recommended       []plainEvent
	ups, downs        []plainEvent
}

type plainEvent struct {
	at capcli.Seconds
	n  int
}

// Desired implements simulate.Scaler.
func (h *plainHPA) Desired(s *simulate.ScaleState) int {
	current, r := s.Ready+s.Loading, 0
	if len(h.recommended) == 0 {
		h.recommended = append(h.recommended, plainEvent{s.Now, current})
	}
	switch {
	case current == 0 && h.min > 0:
		return 0
	case current > h.max:
		r = h.max
	case current < h.min:
		r = h.min
	default:
		r = h.follow(s, current)
	}
	if r > current {
		h.ups = plainRecord(h.ups, s.Now, r-current, h.up.Rates)
	} else if r < current {
		h.downs = plainRecord(h.downs, s.Now, current-r, h.down.Rates)
	}
	return r
}

func (h *plainHPA) follow(s *simulate.ScaleState, current int) int {
	usage := float64(s.Demand)
	want := int(math.Ceil(usage / h.target))
	if current > 0 && math.Abs(1-usage/(h.target*float64(current))) <= h.tolerance {
		want = current
	}
	lo, hi := want, want
	for _, e := range h.recommended {
		if e.at > s.Now-h.up.Window {
			lo = min(lo, e.n)
		}
		if e.at > s.Now-h.down.Window {
			hi = max(hi, e.n)
		}
	}
	h.recommended = append(h.recommended, plainEvent{s.Now, want})
	r := current
	if r < lo {
		r = lo
	}
	if r > hi {
		r = hi
	}
	if r > current {
		return min(r, h.max, max(h.furthest(s.Now, current, h.up, true), current))
	}
	if r < current {
		return max(r, h.min, min(h.furthest(s.Now, current, h.down, false), current))
	}
	return r
}

func (h *plainHPA) furthest(now capcli.Seconds, current int, rates scale.Rates, up bool) int {
	if rates.Select == "Disabled" {
		return current
	}
	lowest, highest := math.MaxInt, math.MinInt
	for _, p := range rates.Rates {
		start := current
		for _, e := range h.ups {
			if e.at > now-p.Period {
				start -= e.n
			}
		}
		for _, e := range h.downs {
			if e.at > now-p.Period {
				start += e.n
			}
		}
		n := start + p.Value
		switch {
		case up && p.Kind == scale.Percent:
			n = int(math.Ceil(float64(start) * (1 + float64(p.Value)/100)))
		case p.Kind == scale.Percent:
			n = int(math.Trunc(float64(start) * (1 - float64(p.Value)/100)))
		case !up:
			n = start - p.Value
		}
		lowest, highest = min(lowest, n), max(highest, n)
	}
	if up == (rates.Select == "Min") {
		return lowest
	}
	return highest
}

func plainRecord(events []plainEvent, now capcli.Seconds, n int, rates []scale.Rate) []plainEvent {
	longest, old := capcli.Seconds(0), -1
	for _, p := range rates {
		longest = max(longest, p.Period)
	}
	for i, e := range events {
		if e.at < now-longest {
			old = i
		}
	}
	if old >= 0 {
		events[old] = plainEvent{now, n}
		return events
	}
	return append(events, plainEvent{now, n})
}

// withDefaults returns rates with the defaults of Kubernetes.
func withDefaults(r scale.Rates, window capcli.Seconds, rates ...scale.Rate) scale.Rates {
	if !r.HasWindow {
		r.Window = window
	}
	if r.Select == "" {
		r.Select = "Max"
	}
	if len(r.Rates) == 0 {
		r.Rates = rates
	}
	return r
}

// The states of drawn runs get the same answers from hpa as from the plain form.
func TestHPAEqualsItsPlainForm(t *testing.T) {
	rises, falls := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(0, 3).Draw(t, "min")
		s := &scale.Settings{Kind: "hpa", Min: lo, Max: rapid.IntRange(max(1, lo), 25).Draw(t, "max"), Values: map[string]float64{
			"target": rapid.SampledFrom([]float64{1, 4, 7.5, 8}).Draw(t, "target"), "tolerance": rapid.SampledFrom([]float64{0, 0.1, 0.3}).Draw(t, "tolerance"),
		}}
		s.Behavior = scale.Behavior{Up: drawRates(t), Down: drawRates(t)}
		newScaler, err := scale.NewScaler(s)
		if err != nil {
			t.Fatal(err)
		}
		h := newScaler()
		plain := &plainHPA{
			min: s.Min, max: s.Max, target: s.Values["target"], tolerance: s.Values["tolerance"],
			up:   withDefaults(s.Behavior.Up, 0, scale.Rate{Kind: scale.Percent, Value: 100, Period: 15}, scale.Rate{Kind: scale.Pods, Value: 4, Period: 15}),
			down: withDefaults(s.Behavior.Down, 300, scale.Rate{Kind: scale.Percent, Value: 100, Period: 15}),
		}
		current := rapid.IntRange(0, 8).Draw(t, "initial")
		for step := range rapid.IntRange(1, 80).Draw(t, "steps") {
			state := simulate.ScaleState{
				Step: step, Length: 15, Now: capcli.Seconds(step+1) * 15, Ready: current, PerUnit: 10,
				Demand: int64(rapid.IntRange(0, 150).Draw(t, "demand") * rapid.IntRange(0, 1).Draw(t, "any")),
			}
			got, want := h.Desired(&state), plain.Desired(&state)
			if got != want {
				t.Fatalf("step %d from %d: %d, want %d", step, current, got, want)
			}
			if got > current {
				rises++
			} else if got < current {
				falls++
			}
			current = got
		}
	})
	if rises == 0 || falls == 0 {
		t.Errorf("%d rises and %d falls", rises, falls)
	}
}
