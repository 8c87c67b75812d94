package service

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"capcli"
	"capcli/simulate/serving/scale"
)

// ScaleResult is how scalers follow a load.
type ScaleResult struct {
	Schema  string        `json:"schema"`
	Answer  string        `json:"answer"`
	Scaler  string        `json:"scaler"`  // of summary: the first run
	Summary scale.Summary `json:"summary"` // of the first run, in the names of the published step tables
	KPA     []string      `json:"kpa_columns,omitempty"`
	Sights  [][5]float64  `json:"kpa,omitempty"` // of scaler kpa, for each step of the first run
	Bounds  ScaleBounds   `json:"bounds"`
	Runs    []ScaleRun    `json:"runs"`
	Notes   []string      `json:"notes"`

	Rows []scale.Row `json:"-"` // steps of the first run
}

// ScaleBounds are what no plan of the first run can go below, whatever it knows of the future.
type ScaleBounds struct {
	NoneLate  *int64 `json:"none_late_replica_steps"` // nobody waits, down to none where the scaler has zero_after; null where that is impossible
	LateSteps *int64 `json:"late_steps_replica_steps"`
	Why       string `json:"late_steps_not_computed,omitempty"`
}

// ScaleRun is one service with one scaler.
type ScaleRun struct {
	File   string `json:"file"`
	Scaler string `json:"scaler"`

	LateShare    float64     `json:"late_share"`
	ReplicaHours float64     `json:"replica_hours"`
	BoundHours   *float64    `json:"bound_replica_hours"` // of a plan that knows the future and lets nobody wait
	OverBound    *float64    `json:"over_bound"`          // replica-hours over the bound, as a ratio
	Cost         *capcli.USD `json:"cost_usd"`
	BacklogEnd   int64       `json:"backlog_end"`
	MaxBacklog   int64       `json:"max_backlog"`
	MaxReplicas  int         `json:"max_desired"`
	Changes      int         `json:"changes"`
	Steps        int64       `json:"replica_steps"`
}

// newScaleResult returns the answer of runs that were played.
func newScaleResult(tries []scaleTry, runs []*scale.Run) *ScaleResult {
	first := runs[0]
	out := &ScaleResult{Schema: "capcli/service_scale/v1", Scaler: tries[0].name, Summary: first.Summary, Rows: first.Rows}
	if len(first.Sights) > 0 {
		out.KPA = []string{"now_s", "ready", "stable", "panic", "desired_before_limits"}
	}
	for _, s := range first.Sights {
		out.Sights = append(out.Sights, [5]float64{float64(s.Now), float64(s.Ready), rounded(s.Stable), rounded(s.Panic), float64(s.Desired)})
	}
	out.Bounds.NoneLate = tries[0].Bound()
	var err error
	if out.Bounds.LateSteps, err = tries[0].BoundLate(); err != nil {
		out.Bounds.Why = err.Error()
	}
	for i := range runs {
		out.Runs = append(out.Runs, newScaleRun(&tries[i], &runs[i].Summary))
	}
	out.Answer = out.sentence()
	out.Notes = out.notes(tries)
	return out
}

// rounded returns x to nine decimals, as the published tables have it.
func rounded(x float64) float64 {
	text := strconv.FormatFloat(x, 'f', 9, 64)
	if y, err := strconv.ParseFloat(text, 64); err == nil {
		return y
	}
	return x
}

func newScaleRun(t *scaleTry, s *scale.Summary) ScaleRun {
	r := ScaleRun{
		File: t.file, Scaler: t.name, LateShare: s.LateShare, ReplicaHours: s.ReplicaHours, BacklogEnd: s.BacklogEnd,
		MaxBacklog: s.MaxBacklog, MaxReplicas: s.MaxDesired, Changes: s.Changes, Steps: s.ReplicaSteps,
	}
	if bound := t.Bound(); bound != nil {
		hours := float64(*bound) * t.Length.Hours()
		r.BoundHours = &hours
		if hours > 0 {
			over := r.ReplicaHours/hours - 1
			r.OverBound = &over
		}
	}
	if t.price > 0 {
		cost := capcli.USDOf(math.Min(s.ReplicaHours*float64(t.gpus)*t.price, 9e12))
		r.Cost = &cost
	}
	return r
}

// byPromise orders runs by late requests, then by replica-hours.
func byPromise(a, b ScaleRun) int {
	return cmp.Or(cmp.Compare(a.LateShare, b.LateShare), cmp.Compare(a.Steps, b.Steps))
}

// sentence returns the answer: what to expect of the scaler, or which one to take.
func (r *ScaleResult) sentence() string {
	best := slices.MinFunc(r.Runs, byPromise)
	if len(r.Runs) == 1 {
		return fmt.Sprintf("Scaler %s leaves %s of %s requests late and takes %s replica-hours%s%s.",
			best.Scaler, percent(best.LateShare), capcli.Grouped(r.Summary.Requests), hours(best.ReplicaHours), best.money(), best.distance())
	}
	text := fmt.Sprintf("Of %d runs, scaler %s is late least: %s of the requests, for %s replica-hours%s%s.",
		len(r.Runs), best.title(r.Runs), percent(best.LateShare), hours(best.ReplicaHours), best.money(), best.distance())
	cheap := slices.MinFunc(r.Runs, func(a, b ScaleRun) int {
		return cmp.Or(cmp.Compare(a.ReplicaHours, b.ReplicaHours), cmp.Compare(a.LateShare, b.LateShare))
	})
	if cheap.ReplicaHours < best.ReplicaHours {
		text += fmt.Sprintf(" Scaler %s takes %s%s, with %s late.", cheap.title(r.Runs), hours(cheap.ReplicaHours), cheap.money(), percent(cheap.LateShare))
	}
	return text
}

// title returns the name of the scaler, with the file where another run has the same name.
func (r *ScaleRun) title(all []ScaleRun) string {
	for i := range all {
		if all[i].Scaler == r.Scaler && all[i].File != r.File {
			return r.Scaler + " of " + r.File
		}
	}
	return r.Scaler
}

func (r *ScaleRun) money() string {
	if r.Cost == nil {
		return ""
	}
	return " (" + r.Cost.String() + ")"
}

// distance says how far the run is from the bound.
func (r *ScaleRun) distance() string {
	switch {
	case r.BoundHours == nil:
		return "; no plan within its limits could serve every request at once"
	case r.OverBound == nil:
		return ""
	case *r.OverBound >= 0:
		return fmt.Sprintf(", %s over the %s of a plan that knows the future and lets nobody wait", percent(*r.OverBound), hours(*r.BoundHours))
	}
	return fmt.Sprintf(", %s under the %s of a plan that lets nobody wait: it saves by making requests wait", percent(-*r.OverBound), hours(*r.BoundHours))
}

// percent returns a share in percent; a small one is not rounded to none.
func percent(x float64) string {
	if x > 0 && x < 0.0005 {
		return "under 0.1%"
	}
	return strconv.FormatFloat(x*100, 'f', 1, 64) + "%"
}

func hours(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// notes returns what the reader must know beside the figures.
func (r *ScaleResult) notes(tries []scaleTry) []string {
	notes := []string{"A request is late if it is served more than late_steps steps after its own, or not by the end. Metrics come without delay, and replicas go without draining."}
	for i := range tries {
		if i == 0 || tries[i].file != tries[i-1].file {
			notes = append(notes, tries[i].why...)
		}
	}
	for i := range r.Runs {
		if n := r.Runs[i].BacklogEnd; n > 0 {
			notes = append(notes, fmt.Sprintf("Scaler %s left %s requests unserved at the end; its replica-hours do not include their work.", r.Runs[i].title(r.Runs), capcli.Grouped(n)))
		}
	}
	if r.Bounds.Why != "" {
		notes = append(notes, "The bound with lateness allowed was not computed: "+r.Bounds.Why+".")
	} else if n := r.Bounds.LateSteps; n != nil {
		notes = append(notes, fmt.Sprintf("A plan that knows the future and may keep requests waiting for late_steps steps needs at least %s replica-hours.", hours(float64(*n)*tries[0].Length.Hours())))
	}
	if len(tries[0].Losses) > 0 {
		notes = append(notes, "The bounds ignore losses.")
	}
	return notes
}
