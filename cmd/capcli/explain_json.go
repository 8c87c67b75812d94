package main

import (
	"cmp"
	"maps"
	"slices"

	"capcli/scenarios/play"
	"capcli/simulate/outcome"

	"capcli"
)

// explainJSON is what explain -o json writes: schema capcli/explain/v1.
type explainJSON struct {
	Schema    string        `json:"schema"`
	Subject   string        `json:"subject"`
	Plan      planNameJSON  `json:"plan"`
	Metric    string        `json:"metric"`
	Unit      string        `json:"unit"`
	Value     *float64      `json:"value"`
	ValueOver bool          `json:"value_is_at_least,omitempty"` // value is a lower bound: it falls among jobs that never started
	ValueWhy  string        `json:"value_why,omitempty"`
	Runs      int           `json:"runs"`
	PerRun    []*float64    `json:"value_by_run"`
	Told      *toldJSON     `json:"jobs_looked_at,omitempty"`
	Causes    []causeJSON   `json:"causes"`
	Again     []causeJSON   `json:"waits_after_losing_gpus"`
	Parts     []partJSON    `json:"parts"`
	Changes   []changedJSON `json:"changes"`
	Assumed   []string      `json:"assumptions"`
	Unknown   []string      `json:"not_known"`
	Notes     []string      `json:"notes"`
	CostValue *capcli.USD   `json:"cost_usd"`
}

type planNameJSON struct {
	Scenario  string `json:"scenario"`
	Policy    string `json:"policy"`
	Placement string `json:"placement"`
	Seed      uint64 `json:"seed"`
	Trace     string `json:"trace"`
}

// toldJSON are the jobs whose waits the causes are of.
type toldJSON struct {
	Which   string           `json:"which"`
	Jobs    int64            `json:"jobs"`
	Of      int64            `json:"of_jobs_started"`
	AtLeast []capcli.Seconds `json:"waited_at_least_s"` // by run
	Time    capcli.Seconds   `json:"job_seconds"`
}

type causeJSON struct {
	Causes   []string       `json:"causes"` // more than one: it cannot be told which, but for quota, which holds beside the others
	Text     string         `json:"text"`
	Share    float64        `json:"share"`
	Time     capcli.Seconds `json:"job_seconds"`
	Jobs     int64          `json:"jobs,omitempty"`
	Mostly   string         `json:"mostly,omitempty"`
	Tenants  []namedSeconds `json:"by_tenant,omitempty"`
	Models   []namedSeconds `json:"by_partition_and_model,omitempty"`
	Sizes    []sizedSeconds `json:"by_gpus,omitempty"`
	Weekdays []namedSeconds `json:"by_weekday,omitempty"`
}

type namedSeconds struct {
	Name string         `json:"name"`
	Time capcli.Seconds `json:"job_seconds"`
}

type sizedSeconds struct {
	GPUs int            `json:"gpus"`
	Time capcli.Seconds `json:"job_seconds"`
}

// changedJSON is a change and what it made of the figure.
type changedJSON struct {
	Change     string      `json:"change"`
	Set        []string    `json:"set,omitempty"`
	Policy     string      `json:"policy,omitempty"`
	Placement  string      `json:"placement,omitempty"`
	Before     *float64    `json:"before"`
	After      *float64    `json:"after"`
	Difference *float64    `json:"difference"`
	Cost       *capcli.USD `json:"cost_difference_usd"`
	Better     *bool       `json:"better"` // the figure is, and no less of the work is done

	BeforeOver bool    `json:"before_is_at_least,omitempty"` // before is a lower bound: the figure falls among jobs that never started
	AfterOver  bool    `json:"after_is_at_least,omitempty"`
	Undone     float64 `json:"unserved_share"`
	UndoneWas  float64 `json:"unserved_share_before"`
	Unplaced   float64 `json:"unplaceable_jobs"`
	ServesLess bool    `json:"serves_less"` // of the work, so that nothing that it gains is a saving
}

var unitNames = map[outcome.Unit]string{
	outcome.InSeconds: "s", outcome.InUSD: "usd", outcome.InGPUHours: "gpu_hours", outcome.InCount: "count", outcome.InShare: "share",
}

func (x *explanation) json() *explainJSON {
	s := x.plan.Scenario
	out := &explainJSON{
		Schema: "capcli/explain/v1", Subject: x.subject, Metric: x.metric.Name, Unit: unitNames[x.metric.Unit], Runs: len(x.results),
		Plan:   planNameJSON{s.Name, s.PolicyName(), s.PlacementName(), uint64(x.plan.Seed), x.plan.Source.Name},
		PerRun: []*float64{}, Causes: []causeJSON{}, Again: []causeJSON{}, Parts: x.parts(), Changes: []changedJSON{},
		Assumed: list(x.assumed()), Unknown: list(x.unknown()), Notes: list(x.notes()),
	}
	out.Value = x.mean(x.results)
	if out.Value == nil {
		out.ValueWhy = x.whyNoValue()
	}
	out.ValueOver = x.isOver(x.results)
	for _, r := range x.results {
		out.PerRun = append(out.PerRun, x.mean([]*play.Run{r}))
	}
	if x.results[0].Priced() {
		cost := capcli.USD(outcome.Mean(x.results, "cost")*1e6 + 0.5)
		out.CostValue = &cost
	}
	out.waits(x)
	for _, c := range x.changes {
		out.Changes = append(out.Changes, x.changeJSON(c))
	}
	return out
}

// mean is the figure over runs, or where of one of them only a lower bound is
// known that of the mean; nil where it is not known of any.
func (x *explanation) mean(runs []*play.Run) *float64 {
	if s, ok := outcome.SpreadOf(runs, x.metric.Name); ok {
		return &s.Mean.Value
	}
	return nil
}

// isOver tells whether mean is a lower bound.
func (x *explanation) isOver(runs []*play.Run) bool {
	s, ok := outcome.SpreadOf(runs, x.metric.Name)
	return ok && s.Mean.AtLeast
}

// waits writes the causes.
func (out *explainJSON) waits(x *explanation) {
	if len(x.waits) == 0 {
		return
	}
	out.Told = x.told()
	sums := x.causeSums()
	var all capcli.Seconds
	for _, s := range sums {
		all += s.time
	}
	for _, s := range sums {
		out.Causes = append(out.Causes, s.json(x, all))
	}
	again := map[string]*causeSum{}
	all = 0
	for _, w := range x.waits {
		for _, r := range w.Again() {
			key := r.Cause.String()
			if again[key] == nil {
				again[key] = &causeSum{cause: r.Cause}
			}
			again[key].time += r.Time
			all += r.Time
		}
	}
	for _, s := range slices.SortedFunc(maps.Values(again), func(a, b *causeSum) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.cause, b.cause))
	}) {
		out.Again = append(out.Again, s.json(x, all))
	}
}

func (s *causeSum) json(x *explanation, all capcli.Seconds) causeJSON {
	out := causeJSON{Text: x.causeText(s.cause), Share: float64(s.time) / float64(max(all, 1)), Time: s.time, Jobs: s.jobs, Mostly: s.mostly()}
	for _, c := range s.cause.Each() {
		out.Causes = append(out.Causes, c.String())
	}
	out.Tenants, out.Models = byAmount(s.tenants), byAmount(s.models)
	for _, gpus := range slices.Sorted(maps.Keys(s.sizes)) {
		out.Sizes = append(out.Sizes, sizedSeconds{gpus, s.sizes[gpus]})
	}
	for d := range 7 {
		if day := (d + 1) % 7; s.weekdays[day] > 0 {
			out.Weekdays = append(out.Weekdays, namedSeconds{dayNames[day], s.weekdays[day]})
		}
	}
	return out
}

// byAmount are amounts by name, largest first.
func byAmount(of map[string]capcli.Seconds) []namedSeconds {
	var out []namedSeconds
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, namedSeconds{name, of[name]})
	}
	slices.SortStableFunc(out, func(a, b namedSeconds) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

func (x *explanation) changeJSON(c *change) changedJSON {
	out := changedJSON{Change: c.text, Set: c.sets, Policy: c.policy, Placement: c.place, Before: x.mean(x.results), After: x.mean(c.after)}
	out.BeforeOver, out.AfterOver = x.isOver(x.results), x.isOver(c.after)
	was, is := outcome.MeanUnserved(x.results), outcome.MeanUnserved(c.after)
	out.Undone, out.UndoneWas, out.Unplaced, out.ServesLess = is.Share, was.Share, is.Unplaceable, is.ServesLess(&was)
	if out.Before != nil && out.After != nil {
		d, better := *out.After-*out.Before, x.gain(c) > 0 && !out.ServesLess
		out.Difference, out.Better = &d, &better
	}
	if x.results[0].Priced() {
		var cost capcli.USD
		for i, r := range c.after {
			cost += r.Invoice.Total.Cost - x.results[i].Invoice.Total.Cost
		}
		cost /= capcli.USD(len(c.after))
		out.Cost = &cost
	}
	return out
}
