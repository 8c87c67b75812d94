// Package explain explains a figure of runs. It attributes each second that jobs waited, and each
// dollar, to its cause, and plays single changes under the same seeds.
package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/cause"
)

// Request asks why a metric of some runs is what it is.
type Request struct {
	Subject string // name of what is explained, for the answer
	Metric  *outcome.Metric
	Runs    []*play.Run       // of one case, at least one
	Saved   []outcome.Outcome // the same runs as saved earlier; nil if there are none
	// Make makes the case of the runs again, with a change.
	Make func(Variation) (*play.Case, error)
	// Play plays each case as often as there are Runs.
	Play func([]*play.Case) ([][]*play.Run, error)
	// CausesOnly leaves out the effect of single changes.
	CausesOnly bool
}

// Result is the explanation of a figure: the document capcli/explain/v1.
type Result struct {
	Schema    string      `json:"schema"`
	Subject   string      `json:"subject"`
	Plan      Plan        `json:"plan"`
	Metric    string      `json:"metric"`
	Unit      string      `json:"unit"`
	Value     *float64    `json:"value"`
	ValueOver bool        `json:"value_is_at_least,omitempty"` // value is a lower bound: it falls among jobs that never started
	ValueWhy  string      `json:"value_why,omitempty"`
	Runs      int         `json:"runs"`
	PerRun    []*float64  `json:"value_by_run"`
	LookedAt  *Waiting    `json:"jobs_looked_at,omitempty"`
	Causes    []Cause     `json:"causes"`
	Again     []Cause     `json:"waits_after_losing_gpus"`
	Parts     []Part      `json:"parts"`
	Changes   []Change    `json:"changes"`
	Assumed   []string    `json:"assumptions"`
	Unknown   []string    `json:"not_known"`
	Notes     []string    `json:"notes"`
	CostValue *capcli.USD `json:"cost_usd"`
}

// Plan names the case that was explained.
type Plan struct {
	Scenario  string `json:"scenario"`
	Policy    string `json:"policy"`
	Placement string `json:"placement"`
	Seed      uint64 `json:"seed"`
	Trace     string `json:"trace"`
}

// Waiting is the set of jobs whose waits are explained.
type Waiting struct {
	Which   string           `json:"which"`
	Jobs    int64            `json:"jobs"`
	Of      int64            `json:"of_jobs_started"`
	AtLeast []capcli.Seconds `json:"waited_at_least_s"` // by run
	Time    capcli.Seconds   `json:"job_seconds"`
}

// Cause is a set of causes and how long jobs waited for it.
type Cause struct {
	Causes   []string       `json:"causes"` // with several, it is unknown which; only quota holds in addition to the others
	Text     string         `json:"text"`
	Share    float64        `json:"share"`
	Time     capcli.Seconds `json:"job_seconds"`
	Jobs     int64          `json:"jobs,omitempty"`
	Mostly   string         `json:"mostly,omitempty"`
	Tenants  []NamedTime    `json:"by_tenant,omitempty"`
	Models   []NamedTime    `json:"by_partition_and_model,omitempty"`
	Sizes    []SizedTime    `json:"by_gpus,omitempty"`
	Weekdays []NamedTime    `json:"by_weekday,omitempty"`
}

// NamedTime is a part of a wait by a name.
type NamedTime struct {
	Name string         `json:"name"`
	Time capcli.Seconds `json:"job_seconds"`
}

// SizedTime is a part of a wait by the GPUs of the jobs.
type SizedTime struct {
	GPUs int            `json:"gpus"`
	Time capcli.Seconds `json:"job_seconds"`
}

// explanation is the state of answering a request.
type explanation struct {
	Request
	base   *play.Case
	waits  []*cause.Waits // by run; nil if the metric is not about waits
	trials []*trial
	notes  []string
}

// Explain answers a request. It plays the case once more to record why jobs waited, then plays each
// applicable change.
func Explain(q Request) (*Result, error) {
	x := &explanation{Request: q, base: q.Runs[0].Case}
	x.notes = append(x.notes, x.base.Notes...)
	x.checkSaved()
	if err := x.watch(); err != nil {
		return nil, err
	}
	if !x.CausesOnly && x.mean(x.Runs) != nil {
		if err := x.tryChanges(); err != nil {
			return nil, err
		}
	}
	return x.result(), nil
}

func (x *explanation) result() *Result {
	s := x.base.Scenario
	out := &Result{
		Schema: "capcli/explain/v1", Subject: x.Subject, Metric: x.Metric.Name, Unit: x.Metric.Unit.String(), Runs: len(x.Runs),
		Plan:   Plan{s.Name, s.PolicyName(), s.PlacementName(), uint64(x.base.Seed), x.base.Source.Name},
		PerRun: []*float64{}, Causes: []Cause{}, Again: []Cause{}, Parts: x.parts(), Changes: []Change{},
		Assumed: x.assumed(), Unknown: x.openQuestions(), Notes: x.remarks(),
	}
	out.Value = x.mean(x.Runs)
	if out.Value == nil {
		out.ValueWhy = x.whyNoValue()
	}
	out.ValueOver = x.isOver(x.Runs)
	for _, r := range x.Runs {
		out.PerRun = append(out.PerRun, x.mean([]*play.Run{r}))
	}
	if x.Runs[0].Priced() {
		cost := capcli.USD(outcome.Mean(x.Runs, "cost")*1e6 + 0.5)
		out.CostValue = &cost
	}
	out.waits(x)
	for _, t := range x.trials {
		out.Changes = append(out.Changes, x.compare(t))
	}
	return out
}

// mean returns the mean of the figure over runs; nil if it is known in no run. It is a lower bound
// if a run has only a lower bound.
func (x *explanation) mean(runs []*play.Run) *float64 {
	if s, ok := outcome.SpreadOf(runs, x.Metric.Name); ok {
		return &s.Mean.Value
	}
	return nil
}

// isOver reports whether mean is a lower bound.
func (x *explanation) isOver(runs []*play.Run) bool {
	s, ok := outcome.SpreadOf(runs, x.Metric.Name)
	return ok && s.Mean.AtLeast
}

// checkSaved adds a note if the runs differ from the saved ones.
func (x *explanation) checkSaved() {
	for i, r := range x.Runs[:min(len(x.Runs), len(x.Saved))] {
		was, is := x.Saved[i], &r.Outcome
		before, after := waitText(was.WaitP95, was.WaitP95From), waitText(is.WaitP95, is.WaitP95From)
		if was.Seed == is.Seed && (before != after || was.Jobs != is.Jobs || was.Ended != is.Ended) {
			x.notes = append(x.notes, fmt.Sprintf(
				"repeated, run %d differs from the saved one (wait p95 %s then, %s now; %s jobs then, %s now): the folder was written by another version or from other jobs; the figures below are of the repeated runs",
				i, before, after, capcli.Grouped(was.Jobs.Read), capcli.Grouped(is.Jobs.Read)))
			return
		}
	}
}

// waitText formats a wait or its lower bound.
func waitText(exact, from *capcli.Seconds) string {
	switch {
	case exact != nil:
		return exact.String()
	case from != nil:
		return "over " + from.String()
	}
	return "n/a"
}

// whyNoValue returns the reason why the figure is unknown.
func (x *explanation) whyNoValue() string {
	if un := x.base.Scenario.Unpriced(); len(un) > 0 && (x.Metric.Unit == outcome.InUSD || x.Metric.Name == "effective_savings_rate") {
		return "no price is stated for " + strings.Join(un, ", ")
	}
	return "the runs have no such figure"
}

// openQuestions lists what the explanation cannot tell.
func (x *explanation) openQuestions() []string {
	out := []string{}
	several := false
	for _, s := range x.totals() {
		several = several || (s.cause &^ cause.Quota).Several()
	}
	if several {
		out = append(out, "'either of' means that removing any one of these causes would have let the jobs start")
	}
	if x.Metric.Waiting() == outcome.NoWaits && !IsSum(x.Metric) {
		out = append(out, fmt.Sprintf("%s is not a sum over causes; only the effects of single changes are known", x.Metric.Name))
	}
	switch {
	case x.Metric.Waiting() != outcome.PartlyWaits:
	case !IsSum(x.Metric):
		out = append(out, fmt.Sprintf("the causes are those of all waits for a first start; their parts of %s are not separated", x.Metric.Name))
	case len(x.totals()) > 0:
		out = append(out, "the causes explain the waits over the same time; they are not assigned to single blocked GPU-hours")
	}
	return out
}

func (x *explanation) remarks() []string {
	out := append([]string{}, x.notes...)
	if n := len(x.Runs); n > 1 && len(x.parts()) > 0 {
		out = append(out, fmt.Sprintf("the parts are of the first of %d runs, where %s is %s", n, x.Metric.Name, Text(x.Metric, x.mean(x.Runs[:1]))))
	}
	if len(x.waits) > 0 && len(x.totals()) > 0 {
		out = append(out, "each second of a wait is assigned to the causes that held then, for each job by itself. Many jobs may have waited for the same few GPUs: see the table of changes for effects. Days and quarters (UTC) are those of submission")
		if x.Metric.Name != stillWaiting {
			if n := x.stillWaiting(); n > 0 {
				out = append(out, fmt.Sprintf("not in these waits, but counted in wait_p95 and other wait metrics: %s that had not started when the runs ended (capcli explain %s waiting)", outcome.JobsText(float64(n)), x.Subject))
			}
		}
	}
	if text := x.lengthNote(); text != "" {
		out = append(out, text)
	}
	for _, w := range play.Warnings(x.Runs) {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// lengthNote notes that changes are compared over runs of different lengths; "" if they are not.
func (x *explanation) lengthNote() string {
	if x.base.Scenario.Period.IsKnown() {
		return ""
	}
	lo, hi := x.Runs[0].Result.Ended, x.Runs[0].Result.Ended
	for _, c := range x.trials {
		lo, hi = min(lo, c.after[0].Result.Ended), max(hi, c.after[0].Result.Ended)
	}
	if lo == hi {
		return ""
	}
	return fmt.Sprintf("there is no period, so capacity is paid until the last job has ended, which the changes move from %s to %s: give the scenario a period to compare costs over one length of time", lo, hi)
}

func (x *explanation) stillWaiting() int64 {
	var n int64
	for _, w := range x.waits {
		still, _ := w.Unfinished()
		n += still
	}
	return n
}

// Text formats a value of a metric; "n/a" for nil.
func Text(m *outcome.Metric, v *float64) string {
	if v == nil {
		return "n/a"
	}
	switch m.Unit {
	case outcome.InSeconds:
		if *v > 0 && *v < 10 && *v != math.Trunc(*v) {
			return fmt.Sprintf("%.2f s", *v)
		}
		return capcli.Seconds(*v + 0.5).String()
	case outcome.InUSD:
		return capcli.USD(*v*1e6 + 0.5).String()
	case outcome.InGPUHours:
		return fmt.Sprintf("%.1f GPU-hours", *v)
	case outcome.InShare:
		return fmt.Sprintf("%.1f%%", 100**v)
	case outcome.InCount:
	}
	return strings.TrimSuffix(fmt.Sprintf("%.2f", *v), ".00")
}
