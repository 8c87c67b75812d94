package profile

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// notedJobs is the most jobs that the notes name for one kind of remark.
const notedJobs = 4

// worthNotes are remarks on stragglers, on steps that changed and on figures of nobody.
func (r *Result) worthNotes() (out []string) {
	var late, changed []*JobResult
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.Worth.Straggler != nil {
			late = append(late, j)
		}
		if len(j.Worth.Changes) > 0 {
			changed = append(changed, j)
		}
	}
	slices.SortStableFunc(late, func(a, b *JobResult) int {
		return int(min(max(b.Worth.Straggler.Lost-a.Worth.Straggler.Lost, -1), 1))
	})
	for _, j := range late[:min(len(late), notedJobs)] {
		out = append(out, "job "+j.ID+" "+j.Worth.Straggler.Words())
	}
	if n := len(late) - notedJobs; n > 0 {
		out = append(out, fmt.Sprintf("%d more jobs wait for one of their ranks (--table worth)", n))
	}
	for _, j := range changed[:min(len(changed), notedJobs)] {
		out = append(out, "job "+j.ID+": "+j.Worth.Changes[0].Words())
	}
	if names := r.Summary.untoldNames(); len(names) > 0 {
		out = append(out, "of readings of "+strings.Join(capcli.Abridge(names, notedJobs), ", ")+" nobody knows whose they are: several jobs were on the box; --readings FILE#job=ID says it")
	}
	return out
}

// untoldNames are the names and boxes of figures of nobody.
func (s *Summary) untoldNames() (out []string) {
	for _, t := range s.Untold {
		out = append(out, t.Name+" on "+t.Host)
	}
	return slices.Compact(out)
}

// causeWords are the causes of a straggler in words.
var causeWords = map[string]string{
	"heat":        "heat",
	"power":       "its power limit",
	"clock":       "lower clocks",
	"own_input":   "late kernels: its own input",
	"longer_work": "longer work",
}

// Words says who waits for whom, why, and what it costs.
func (s *StragglerResult) Words() string {
	text := fmt.Sprintf("waits for GPU %d of %s for %.0f%% of its time (%s, %s confidence): %s; %.1f GPU-hours lost", s.GPU, s.Host, 100*float64(s.Share), causeWords[string(s.Cause)], s.Confidence, s.Evidence, float64(s.Lost))
	if s.LostCost != nil {
		text += ", " + s.LostCost.String()
	}
	return text
}

// Words says what changed, when and by how much.
func (c *ChangeResult) Words() string {
	what := "its steps took"
	if c.What == ToldTokens {
		what = "its tokens a second were"
	}
	return fmt.Sprintf("%s %.4g, from %s on %.4g: %+.0f%%", what, float64(c.From), strings.TrimSuffix(c.At, ":00:00.000Z")+":00Z", float64(c.To), 100*(float64(c.Factor)-1))
}

// Label is the straggler in a few words, or "".
func (s *StragglerResult) Label() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s/%d %s", s.Host, s.GPU, s.Cause)
}

// JobsWorth returns the jobs of which more is known than a bound on their MFU.
func (r *Result) JobsWorth() (out []JobResult) {
	for _, j := range r.Jobs {
		if w := &j.Worth; w.Tokens != nil || w.Samples != nil || w.Step.Source != "" || w.Straggler != nil || float64(w.MFU) > 0 || float64(w.InputKeptUp) >= leastFactor || len(w.Others) > 0 {
			out = append(out, j)
		}
	}
	return out
}

// leastFactor is the least speed without waits for input that is worth a row.
const leastFactor = 1.05
