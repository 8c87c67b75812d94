package mix

// Limit bounds a figure of an outcome: "wait_p95 <= 1800".
type Limit struct {
	Metric string  `json:"metric"`
	Op     string  `json:"op"` // <=, <, >= or >
	Value  float64 `json:"value"`
	Text   string  `json:"limit"` // for people
	// Each tells that the limit must hold in each run, whatever share of the runs
	// the search asks for. A bound on work that is left undone is one: a run in which
	// less is done costs less, and takes the mean with it.
	Each bool `json:"each_run,omitempty"`
}

// Share is the share of the runs in which the limit must hold, where that of all
// limits together is hold.
func (l *Limit) Share(hold float64) float64 {
	if l.Each {
		return 1
	}
	return hold
}

// Holds tells whether the limit is held; known is false where the outcome has
// no such figure.
func (l *Limit) Holds(o *Outcome) (holds, known bool) {
	v, ok := o.Figure(l.Metric)
	if !ok { // a figure that is at least so much may be past the limit for all that
		v, ok = o.AtLeast(l.Metric)
		return false, ok && l.Upper() && l.Miss(v) > 0
	}
	switch l.Op {
	case "<=":
		return v <= l.Value, true
	case "<":
		return v < l.Value, true
	case ">=":
		return v >= l.Value, true
	case ">":
		return v > l.Value, true
	}
	return false, false
}

// Upper tells whether the limit is one from above.
func (l *Limit) Upper() bool { return l.Op == "<=" || l.Op == "<" }

// onCost tells whether the limit is one that a bound on cost can break.
func (l *Limit) onCost() bool {
	return l.Upper() && (l.Metric == "cost" || l.Metric == "total")
}

// Miss is by how much a figure is beyond the limit, in the figure's unit; below
// 0 it is within.
func (l *Limit) Miss(v float64) float64 {
	if l.Upper() {
		return v - l.Value
	}
	return l.Value - v
}

// breaksEach tells whether an outcome breaks a limit that must hold in each run.
func breaksEach(limits []Limit, o *Outcome) bool {
	for i := range limits {
		if !limits[i].Each {
			continue
		}
		if holds, known := limits[i].Holds(o); !holds || !known {
			return true
		}
	}
	return false
}

// holdAll tells whether an outcome holds all limits. A figure that is not known
// does not.
func holdAll(limits []Limit, o *Outcome) bool {
	for i := range limits {
		if holds, known := limits[i].Holds(o); !holds || !known {
			return false
		}
	}
	return true
}
