package scale

import (
	"math"
	"slices"

	"capcli"
	"capcli/simulate"
)

func init() {
	add("hpa", "the HorizontalPodAutoscaler of Kubernetes, for an average value per unit", newHPA,
		Setting{Name: "target", Doc: "demand per unit that it aims at: requests of a step, or GPUs", Lo: 1e-9, Hi: 1e12, Required: true},
		Setting{Name: "tolerance", Doc: "relative distance from target within which nothing changes; default: 0.1", Default: 0.1, Hi: 1e6},
		Setting{Name: "every", Doc: "decides at each so many steps; default: 1", Unit: Whole, Default: 1, Lo: 1, Hi: maxSteps},
	)
}

// Behavior says how fast hpa goes up and down. The zero value is Kubernetes' own.
type Behavior struct{ Up, Down Rates }

// IsZero reports whether nothing is set.
func (b Behavior) IsZero() bool { return b.Up.isZero() && b.Down.isZero() }

// Rates limit the changes of hpa in one direction. Zero values are the defaults of Kubernetes.
type Rates struct {
	Window    capcli.Seconds // stabilisation; default: 0 up, 300 down
	HasWindow bool           // Window is set
	Select    string         // Max (default), Min or Disabled
	Rates     []Rate         // default: up [Percent 100, 15 s] and [Pods 4, 15 s], down [Percent 100, 15 s]
}

// Rate is the most that may change within a period.
type Rate struct {
	Kind   string // Percent or Pods
	Value  int
	Period capcli.Seconds
}

func (r *Rates) isZero() bool { return !r.HasWindow && r.Select == "" && r.Rates == nil }

// complete returns the rates with defaults, or what is wrong with them.
func (r Rates) complete(name string, window capcli.Seconds, rates []Rate) (Rates, error) {
	if !r.HasWindow {
		r.Window = window
	}
	if r.Select == "" {
		r.Select = "Max"
	}
	if len(r.Rates) == 0 {
		r.Rates = rates
	}
	if !slices.Contains([]string{"Max", "Min", "Disabled"}, r.Select) {
		return r, fault("behavior", "%s: select wants Max, Min or Disabled, found %q", name, r.Select)
	}
	if r.Window < 0 || r.Window > maxSeconds {
		return r, fault("behavior", "%s: window is %d s", name, r.Window)
	}
	for _, p := range r.Rates {
		if p.Kind != Percent && p.Kind != Pods {
			return r, fault("behavior", "%s: a policy wants Percent or Pods, found %q", name, p.Kind)
		}
		if p.Value < 0 || p.Value > maxUnits || p.Period < 1 || p.Period > maxSeconds {
			return r, fault("behavior", "%s: a policy wants a value of 0 to %d and a period of at least a second, found %d and %d s", name, maxUnits, p.Value, p.Period)
		}
	}
	return r, nil
}

// hpa is the algorithm of the HorizontalPodAutoscaler for a metric of type External with an average value
// ("Horizontal Pod Autoscaling", Kubernetes documentation, Algorithm details and Configurable scaling
// behavior). The usage is the demand of the step:
//
//	want = ceil(usage / target), unless |1 - usage/(target current)| <= tolerance
//
// Recommendations of the last window hold a change back (stabilisation); then rates limit the change within
// periods. Times are compared as the controller does: strictly within a window or period.
type hpa struct {
	min, max          int
	target, tolerance float64
	every             int
	up, down          Rates

	recommended []event // in order of time; of the longer window
	ups, downs  []event // changes
}

// event is a recommendation or the size of a change.
type event struct {
	at capcli.Seconds
	n  int
}

func newHPA(v *values) (simulate.NewScaler, error) {
	up, err := v.Behavior.Up.complete("up", 0, []Rate{{Percent, 100, 15}, {Pods, 4, 15}})
	if err != nil {
		return nil, err
	}
	down, err := v.Behavior.Down.complete("down", 300, []Rate{{Percent, 100, 15}})
	if err != nil {
		return nil, err
	}
	h := hpa{
		min: v.Min, max: v.Max, up: up, down: down, every: v.count("every"),
		target: v.number("target") * v.demandUnit(), tolerance: v.number("tolerance"),
	}
	return func() simulate.Scaler { own := h; return &own }, nil
}

// Desired implements simulate.Scaler.
func (h *hpa) Desired(s *simulate.ScaleState) int {
	current := s.Ready + s.Loading
	if (s.Step+1)%h.every != 0 {
		return current
	}
	if h.recommended == nil {
		h.recommended = append(h.recommended, event{s.Now, current})
	}
	if current == 0 && h.min > 0 {
		return 0
	}
	var desired int
	switch {
	case current > h.max:
		desired = h.max
	case current < h.min:
		desired = h.min
	default:
		want := h.recommend(current, float64(s.Demand))
		desired = h.limitRate(s.Now, current, h.stabilise(s.Now, current, want))
	}
	switch {
	case desired > current:
		h.ups = record(h.ups, s.Now, desired-current, h.up.Rates)
	case desired < current:
		h.downs = record(h.downs, s.Now, current-desired, h.down.Rates)
	}
	return desired
}

// recommend returns the number of units for a usage.
func (h *hpa) recommend(current int, usage float64) int {
	if current > 0 && math.Abs(1-usage/(h.target*float64(current))) <= h.tolerance {
		return current
	}
	return units(usage / h.target)
}

// stabilise returns current, moved as far as all recommendations of the window ask for.
func (h *hpa) stabilise(now capcli.Seconds, current, want int) int {
	lo, hi := want, want
	for _, r := range h.recommended {
		if r.at > now-h.up.Window {
			lo = min(lo, r.n)
		}
		if r.at > now-h.down.Window {
			hi = max(hi, r.n)
		}
	}
	longest := max(h.up.Window, h.down.Window)
	h.recommended = slices.DeleteFunc(h.recommended, func(r event) bool { return r.at <= now-longest })
	h.recommended = append(h.recommended, event{now, want})
	return min(max(current, lo), hi)
}

func (h *hpa) limitRate(now capcli.Seconds, current, r int) int {
	switch {
	case r > current:
		return min(r, h.max, max(h.limit(now, current, &h.up, true), current))
	case r < current:
		return max(r, h.min, min(h.limit(now, current, &h.down, false), current))
	}
	return r
}

// limit returns the number of units that the rates of a direction allow.
func (h *hpa) limit(now capcli.Seconds, current int, r *Rates, up bool) int {
	if r.Select == "Disabled" {
		return current
	}
	var most int
	for i, p := range r.Rates {
		start := current - sum(h.ups, now-p.Period) + sum(h.downs, now-p.Period)
		allowed := p.allowed(start, up)
		furthest := up == (r.Select == "Max") // the policy that allows the most change is the highest up, the lowest down
		switch {
		case i == 0:
			most = allowed
		case furthest:
			most = max(most, allowed)
		default:
			most = min(most, allowed)
		}
	}
	return most
}

// allowed returns how far a rate lets start units go.
func (p Rate) allowed(start int, up bool) int {
	switch part := float64(p.Value) / 100; {
	case p.Kind == Pods && up:
		return start + p.Value
	case p.Kind == Pods:
		return start - p.Value
	case up:
		return int(math.Ceil(float64(start) * (1 + part)))
	default:
		return int(float64(start) * (1 - part))
	}
}

// sum returns the changes later than from.
func sum(events []event, from capcli.Seconds) int {
	n := 0
	for _, e := range events {
		if e.at > from {
			n += e.n
		}
	}
	return n
}

// record stores a change. As in the controller, it takes the place of the last event that is older than
// the longest period of the direction's rates, if there is one.
func record(events []event, now capcli.Seconds, n int, rates []Rate) []event {
	var longest capcli.Seconds
	for _, p := range rates {
		longest = max(longest, p.Period)
	}
	for i, e := range slices.Backward(events) {
		if e.at < now-longest {
			events[i] = event{now, n}
			return events
		}
	}
	return append(events, event{now, n})
}
