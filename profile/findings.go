package profile

import (
	"cmp"
	"math"
	"slices"

	"capcli"
	"capcli/profile/judge"
)

// FindingResult is the time in which held GPUs did, or waited for, one thing.
type FindingResult struct {
	Kind       judge.Kind               `json:"kind"`
	Words      string                   `json:"words"` // shares in it are of the finding's own time
	Share      capcli.Figure            `json:"share"` // of the time held, 0 to 1
	Held       capcli.Figure            `json:"held_gpu_hours"`
	Lost       capcli.Figure            `json:"lost_gpu_hours"`     // of the hours held, that brought nothing by the evidence
	Cost       *capcli.USD              `json:"cost_usd,omitempty"` // of the hours held; nil without a price
	LostCost   *capcli.USD              `json:"lost_cost_usd,omitempty"`
	Confidence string                   `json:"confidence"` // "high", "medium" or "low"
	Evidence   map[string]capcli.Figure `json:"evidence"`   // means over the time of the finding, by metric and unit
	Do         string                   `json:"do"`         // what to do about it
}

// WorkResult is the kind of work that a job does.
type WorkResult struct {
	Kind       string   `json:"kind"`       // "training", "fine_tuning", "inference", "interactive" or "unknown"
	Confidence string   `json:"confidence"` // "high", "medium" or "low"
	Evidence   []string `json:"evidence"`
}

func workResult(w *judge.WorkFinding) *WorkResult {
	if w == nil {
		return nil
	}
	return &WorkResult{string(w.Kind), w.Confidence.String(), append([]string{}, w.Evidence...)}
}

// findings returns what was found while u was held.
func (r *Result) findings(u *Use, v *Verdict) []FindingResult {
	out := []FindingResult{}
	held := int64(0)
	for i := range v.Found {
		held += v.Found[i].Time
	}
	burst := u.Burst()
	for i := range v.Found {
		f := &v.Found[i]
		if 2*f.Time < held {
			burst = math.NaN() // it is that of other findings
		}
		one := FindingResult{
			Kind: f.Kind, Words: f.Words(f.Time, burst), Share: capcli.Figure(float64(f.Time) / float64(held)),
			Held: capcli.Figure(hours(float64(f.Time))), Lost: capcli.Figure(hours(float64(f.Lost))),
			Confidence: f.Confidence().String(), Evidence: map[string]capcli.Figure{}, Do: f.Kind.Describe().Do,
		}
		for d := range judge.NumData {
			if x := f.Value(d); !math.IsNaN(x) {
				one.Evidence[judge.DatumNames[d]] = capcli.Figure(math.Round(x*100) / 100)
			}
		}
		if r.Price != nil {
			cost, lost := r.costOf(f.Time), r.costOf(f.Lost)
			one.Cost, one.LostCost = &cost, &lost
		}
		out = append(out, one)
	}
	return out
}

// costOf returns the cost of some microseconds of a GPU.
func (r *Result) costOf(micros int64) capcli.USD {
	return capcli.USD(math.Round(float64(*r.Price) * float64(micros) / 3.6e9))
}

// JobFinding is a finding on a job.
type JobFinding struct {
	Job    string
	Tenant string
	FindingResult
}

// JobFindings returns the findings on all jobs, those to which the most hours were lost first.
func (r *Result) JobFindings() []JobFinding {
	var out []JobFinding
	for i := range r.Jobs {
		for _, f := range r.Jobs[i].Findings {
			out = append(out, JobFinding{r.Jobs[i].ID, r.Jobs[i].Tenant, f})
		}
	}
	slices.SortStableFunc(out, func(a, b JobFinding) int { return cmp.Compare(b.Lost, a.Lost) })
	return out
}
