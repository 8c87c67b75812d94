package history

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// Choice is a way to count a log, for a user to choose.
type Choice struct{ Name, Text string }

// The names of the choices.
const (
	levelNow    = "level-now"
	levelBefore = "level-before"
	endNow      = "end-now"
	whole       = "whole"
)

// Ways are the ways in which logs can count, the usual one first.
var Ways = []Choice{
	{levelNow, "the tenants that are there, since the level last moved, without an end that fell away"},
	{levelBefore, "up to the first change, as if what was then came back"},
	{endNow, "the end that fell away goes on"},
	{whole, "all of the log, whatever left, moved or fell away"},
}

// CheckChoice returns a *capcli.RequestError for a name that is not one of Ways.
func CheckChoice(name string) error {
	var names []string
	for _, w := range Ways {
		if w.Name == name {
			return nil
		}
		names = append(names, w.Name)
	}
	return &capcli.RequestError{Field: "as-if", Text: fmt.Sprintf("wants one of %s, found %q", strings.Join(names, ", "), name), Hint: "--as-if " + levelNow + " counts " + Ways[0].Text}
}

// Choices returns the ways in which this log can count, one for each part of it that differs and has at least
// two weeks, or is its end. The first is the one that the review follows. There are none where nothing is gone.
func (r *Review) Choices() []Choice {
	if r.IsWhole() {
		return nil
	}
	var out []Choice
	var seen []*Review
	for _, w := range Ways {
		c, err := r.Choose(w.Name)
		if err != nil || slices.ContainsFunc(seen, c.countsAs) || w.Name != endNow && c.Until-c.From < leastPart*capcli.Time(capcli.Day) {
			continue
		}
		seen = append(seen, c)
		out = append(out, Choice{w.Name, c.Part()})
	}
	return out
}

// countsAs reports whether two reviews of one log count the same jobs.
func (r *Review) countsAs(b *Review) bool {
	return r.From == b.From && r.Until == b.Until && slices.Equal(r.GoneTenants(), b.GoneTenants())
}

// Choose returns the review by another choice. It fails with *capcli.RequestError for a name that is not one.
func (r *Review) Choose(name string) (*Review, error) {
	if err := CheckChoice(name); err != nil {
		return nil, err
	}
	out := *r
	switch out.choice = name; name {
	case levelBefore:
		out.From, out.Until = r.first, r.last+1
		for _, d := range r.Left {
			out.Until = min(out.Until, d.Last)
		}
		if r.Shift != nil {
			out.Until = min(out.Until, r.Shift.At)
		}
		if r.End != nil {
			out.Until = min(out.Until, r.End.At)
		}
	case endNow:
		out.Until = r.last + 1
		if r.End != nil && !r.End.Cut && !r.End.Held {
			out.From = r.End.At
		}
	case whole:
		out.From, out.Until = r.first, r.last+1
	}
	return &out, nil
}

// GoneTenants returns the tenants whose jobs do not count.
func (r *Review) GoneTenants() []string {
	var out []string
	for _, d := range r.Left {
		if r.choice == levelNow || r.choice == endNow {
			out = append(out, d.Tenant)
		}
	}
	return out
}

// Bounds returns the times of the first and last second that count; "" is the log's own.
func (r *Review) Bounds() (from, to string) {
	if r.From > r.first {
		from = r.From.String()
	}
	if r.Until <= r.last {
		to = (r.Until - 1).String()
	}
	return from, to
}

// IsChoice reports whether an answer hangs on a choice that the log cannot settle: its end fell away, and
// nothing says whether what is left goes on or what was before comes back.
func (r *Review) IsChoice() bool { return r.End != nil && !r.End.Cut && !r.End.Held }

// Name returns the name of the choice that r follows.
func (r *Review) Name() string { return r.choice }

// Part says in words which part of the log counts.
func (r *Review) Part() string {
	text := "all tenants"
	if gone := r.GoneTenants(); len(gone) > 0 {
		text += " but " + strings.Join(capcli.Abridge(gone, 5), ", ")
	}
	return fmt.Sprintf("%s, from %s to %s", text, r.From.Date(), (r.Until - 1).Date())
}

// Sentences says in words what is gone, one finding each.
func (r *Review) Sentences() []string {
	var out []string
	for _, d := range r.Left {
		out = append(out, fmt.Sprintf("tenant %q left on %s; until then it held %.0f GPUs on average", d.Tenant, d.Last.Date(), d.Level))
	}
	if s := r.Shift; s != nil {
		out = append(out, fmt.Sprintf("since %s the level is %.0f GPUs; before it was %.0f", s.At.Date(), s.Now, s.Before))
	}
	if e := r.End; e != nil {
		why := "the level fell away, as where a cluster is taken down"
		switch {
		case e.Cut:
			why = "hardly a job runs on after the end, as in a log that has only jobs that have ended"
		case e.Held:
			why = "jobs waited for days, and those still in the queue are missing"
		}
		if r.choice == levelNow && r.Until > e.At {
			why += "; too little is left without that end, so it counts"
		}
		out = append(out, fmt.Sprintf("from %s on the log holds %.0f GPUs, after %.0f: %s", e.At.Date(), e.Now, e.Before, why))
	}
	return out
}
