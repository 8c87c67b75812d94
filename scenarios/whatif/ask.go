package whatif

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// Schema is the schema of an Answer.
const Schema = "capcli/whatif/v1"

// Change gives a field another value.
type Change struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Request asks what becomes of a run with changes.
type Request struct {
	Changes []Change `json:"changes"`
}

// maxChanges is the most changes of a request.
const maxChanges = 256

// Check fails with *capcli.RequestError if a change has no path, or there are too many.
func (r *Request) Check() error {
	if len(r.Changes) > maxChanges {
		return &capcli.RequestError{Field: "changes", Text: fmt.Sprintf("has %d entries, at most %d are allowed", len(r.Changes), maxChanges)}
	}
	for _, c := range r.Changes {
		if c.Path == "" || strings.Contains(c.Path, "=") {
			return &capcli.RequestError{Field: "changes", Text: fmt.Sprintf("has the path %.60q, want one such as capacity.base.gpus", c.Path)}
		}
	}
	return nil
}

// Apply makes the changes to a question.
func (r *Request) Apply(q *play.Question) {
	q.Sets = slices.Clone(q.Sets)
	for _, c := range r.Changes {
		switch c.Path {
		case PolicyPath:
			q.Policy = c.Value
		case PlacementPath:
			q.Place = c.Value
		case SeedPath:
			v, err := strconv.ParseUint(c.Value, 10, 64)
			if err != nil { // the scenario says what is wrong
				q.Sets = append(q.Sets, c.Path+"="+c.Value)
				continue
			}
			seed := capcli.Seed(v)
			q.Seed = &seed
		default:
			q.Sets = append(q.Sets, c.Path+"="+c.Value)
		}
	}
}

// Args returns the arguments of capcli simulate that make the changes.
func (r *Request) Args() []string {
	var sets, flags []string
	for _, c := range r.Changes {
		switch c.Path {
		case PolicyPath, PlacementPath, SeedPath:
			flags = append(flags, "--"+c.Path, c.Value)
		default:
			sets = append(sets, "--set", c.Path+"="+c.Value)
		}
	}
	return append(append([]string{}, sets...), flags...)
}

// Answer is the document of an answer.
type Answer struct {
	Schema   string            `json:"schema"`
	Args     []string          `json:"args"`      // of capcli simulate, which make the changes
	Heads    []Headline        `json:"headlines"` // the figures to look at first
	Document *outcome.Document `json:"result"`    // as capcli simulate -o json writes it
	Figures  []figure.Figure   `json:"figures"`
}

// Headline is a figure to look at first.
type Headline struct {
	Name    string   `json:"name"` // of its metric
	Label   string   `json:"label"`
	Unit    string   `json:"unit"`
	Value   *float64 `json:"value"`              // null if unknown
	AtLeast bool     `json:"at_least,omitempty"` // Value is a lower bound
	Text    string   `json:"text"`
	More    bool     `json:"more_is_better,omitempty"`
}

// headlines are the metrics of an Answer, and what they are called.
var headlines = []struct{ metric, label string }{
	{"cost_per_year", "cost a year"},
	{"cost", "cost of the run"},
	{"per_used_gpu_hour", "cost of a used GPU-hour"},
	{"wait_p50", "wait p50"},
	{"wait_p95", "wait p95"},
	{"unserved_share", "work not done"},
	{"unserved_jobs", "jobs not done"},
	{"stranded_usd", "stranded"},
	{"allocation_rate", "used of what was offered"},
	{"on_demand", "paid on demand"},
	{"spot", "paid for spot"},
	{"preemptions", "preemptions"},
}

// Answer plays c, a case with the changes of r, once.
func (r *Request) Answer(ctx context.Context, c *play.Case) (*Answer, error) {
	c.Quiet = true
	all, err := play.Play(ctx, []*play.Case{c}, play.Request{Timeline: true})
	if err != nil {
		return nil, err
	}
	runs := all[0]
	out := &Answer{Schema: Schema, Args: r.Args(), Document: play.Document(all), Figures: figures(runs[0].Timeline)}
	out.Document.Notes = append(slices.Clone(c.Notes), play.Notes(runs)...)
	for _, h := range headlines {
		out.Heads = append(out.Heads, headline(h.metric, h.label, &runs[0].Outcome))
	}
	return out, nil
}

func headline(metric, label string, o *outcome.Outcome) Headline {
	m := outcome.MetricNamed(metric)
	h := Headline{Name: metric, Label: label, Unit: m.Unit.String(), Text: o.MetricText(m), More: m.AtMin}
	if f, known := m.Read(o); known {
		h.Value, h.AtLeast = &f.Value, f.AtLeast
	}
	return h
}
