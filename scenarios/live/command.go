package live

import (
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
)

// JobsFile is the file in which a page saves thinned jobs, for a command to play.
const JobsFile = "page-jobs.csv"

// words returns the command line of capcli simulate that plays the case of q, without its policy and
// placement.
func (w *World) words(c *play.Case, q *play.Question) []string {
	out := []string{"capcli", "simulate"}
	name := q.Scenario
	if q.Kept != nil {
		name = q.KeptName()
	}
	if name != "" {
		out = append(out, name)
	}
	trace := q.Trace
	if w.Thinned != nil {
		trace = JobsFile
	}
	if trace != "" {
		out = append(out, "--trace", trace)
	}
	if w.Thinned == nil {
		out = append(out, readWords(q)...)
	}
	if name == "" && w.Thinned != nil {
		out = append(out, w.fitted()...)
	}
	for _, s := range q.Sets {
		out = append(out, "--set", s)
	}
	if q.Perfect {
		out = append(out, "--set", "policy.perfect_estimates=true")
	}
	if c.Seed != c.Scenario.Seed {
		out = append(out, "--seed", strconv.FormatUint(uint64(c.Seed), 10))
	}
	return out
}

// fitted returns the flags with the sizes of a scenario that was made for the whole log: for thinned
// jobs another would be made.
func (w *World) fitted() []string {
	s, err := scenarios.Parse(w.File, []byte(w.Scenario))
	if err != nil {
		return nil // the case was made of the same text
	}
	var out []string
	for i := range s.Capacity {
		out = append(out, "--set", fmt.Sprintf("capacity.%s.gpus=%d", s.Capacity[i].Name, s.Capacity[i].GPUs))
	}
	return out
}

// readWords returns the flags that say how the log is read.
func readWords(q *play.Question) []string {
	var out []string
	if q.Read.Format != "" {
		out = append(out, "--format", q.Read.Format)
	}
	for _, x := range []struct{ key, value string }{{"tz", q.Read.TZ}, {"dst", q.Read.DST}, {"times", q.Read.Times}, {"dates", q.Read.Dates}} {
		if x.value != "" {
			out = append(out, "--read", x.key+"="+x.value)
		}
	}
	if q.Read.Columns != "" {
		out = append(out, "--read", "columns="+q.Read.Columns)
	}
	for _, pairs := range q.Read.Map {
		out = append(out, "--read", pairs)
	}
	if q.Read.AllowCut {
		out = append(out, "--read", "allow-cut")
	}
	return out
}

// command returns the command line that makes the changes of r, for a shell.
func (e *Engine) command(r *whatif.Request) string {
	q := play.Question{Policy: e.base.Policy, Place: e.base.Place}
	words := append([]string{}, e.words...)
	r.Apply(&q)
	for _, s := range q.Sets {
		words = append(words, "--set", s)
	}
	if q.Policy != "" {
		words = append(words, "--policy", q.Policy)
	}
	if q.Place != "" {
		words = append(words, "--placement", q.Place)
	}
	return strings.Join(capcli.Map(words, capcli.ShellWord), " ")
}

// Command returns the command line that plays the scenario without changes.
func (e *Engine) Command() string { return e.command(&whatif.Request{}) }
