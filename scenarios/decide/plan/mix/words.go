package mix

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
)

// NoPlan explains why there is no best mix: no mix holds the limits. It names the limit that binds
// and how far the nearest mix misses each limit. It returns a *capcli.ResultError, or a
// *capcli.InputError where no mix can be priced.
func (r *Result) NoPlan() error {
	near, tried := r.Closest, grouped(len(r.Found.Entries))
	binding := r.Found.Binding()
	if near == nil && len(r.Unpriced) > 0 {
		return &capcli.InputError{File: r.Base.File, Text: fmt.Sprintf("none of the mixes that were run can be priced: %s: %s", r.name(r.Unpriced[0]), r.Unpriced[0].Fault)}
	}
	if near == nil {
		least := r.Found.LeastFloor()
		text := fmt.Sprintf("none of %s mixes can hold the limits: every one costs at least %s", tried, least)
		if binding >= 0 {
			l := &r.Limits[binding]
			text += fmt.Sprintf(", %s beyond %s, which binds", outcome.MetricNamed(l.Metric).Text(least.Float()-l.Value), l.Text)
		}
		return &capcli.ResultError{Kind: capcli.NoPlan, Text: text, Hint: "raise the limit on cost, or give other sizes (--vary)"}
	}
	var parts []string
	for i, d := range r.Found.Distances(near.Entry) {
		switch text := r.missText(i, &d); {
		case text == "":
		case i == binding:
			parts = append([]string{text}, parts...)
		default:
			parts = append(parts, text)
		}
	}
	return &capcli.ResultError{
		Kind: capcli.NoPlan, Text: fmt.Sprintf("none of %s mixes holds the limits in %s of runs; %s binds. Nearest: %s: %s", tried,
			PercentText(r.Hold), r.Limits[binding].Text, r.name(near), strings.Join(parts, "; ")),
		Hint: "loosen the limit that binds, or give other sizes (--vary)",
	}
}

// missText returns how far the nearest mix is from limit i; "" where it holds the limit in enough
// runs.
func (r *Result) missText(i int, d *Distance) string {
	l := &r.Limits[i]
	m := outcome.MetricNamed(l.Metric)
	switch {
	case d.Mean == nil:
		return fmt.Sprintf("%s is not known", l.Metric)
	case *d.Miss > 0 && l.Metric == "unserved_share":
		return fmt.Sprintf("it leaves %s of the work undone, beyond %s", r.Closest.Entry.UndoneText(), l.Text)
	case *d.Miss > 0:
		return fmt.Sprintf("%s is %s, %s beyond %s", l.Metric, m.Text(*d.Mean), m.Text(*d.Miss), l.Text)
	case d.Held < r.Hold-1e-9:
		return fmt.Sprintf("%s is held in %s of runs", l.Text, PercentText(d.Held))
	}
	return ""
}

// Text returns the choice in words: "base gpus 64".
func (c *Choice) Text() string { return AxisName(c.Path) + " " + c.Value }

// name returns a mix in words: its choice on each axis.
func (r *Result) name(m *Mix) string {
	parts := capcli.Map(m.Choices, func(c Choice) string { return c.Text() })
	if len(parts) == 0 {
		return r.Scenario
	}
	return strings.Join(parts, ", ")
}

// AxisName returns a readable name of an axis: "base gpus", "patience", "policy".
func AxisName(path string) string {
	switch path {
	case "policy.name":
		return "policy"
	case "overflow.patience":
		return "patience"
	}
	for _, prefix := range []string{"capacity.", "capacity", "overflow.", "policy."} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			path = rest
			break
		}
	}
	return strings.ReplaceAll(path, ".", " ")
}

// Rules returns the choices of the best mix other than the sizes of its committed pools.
func (r *Result) Rules() []Choice {
	return slices.DeleteFunc(slices.Clone(r.Best.Choices), func(c Choice) bool { return sizesPool(c.Path) && committedAxis(r.Chosen, c.Path) })
}

func sizesPool(path string) bool {
	return strings.HasPrefix(path, "capacity") && (strings.HasSuffix(path, ".gpus") || strings.HasSuffix(path, ".nodes"))
}

// committedAxis reports whether a path belongs to a committed pool: a pool of s, or one that s no
// longer has because 0 GPUs of it are bought.
func committedAxis(s *scenarios.Scenario, path string) bool {
	name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(path, ".gpus"), ".nodes"), "capacity.")
	i := slices.IndexFunc(s.Capacity, func(c scenarios.Capacity) bool { return c.Name == name })
	return i < 0 && !strings.Contains(name, "[") || i >= 0 && s.Capacity[i].Kind.Committed()
}

// Listed returns the mixes that a reader compares: those of the plans, the scenario's own, the
// closest to the limits and, where the request asked for all, every mix run in full. They are in
// order of cost, mixes that leave too much work undone last. The mixes without a price follow.
func (r *Result) Listed() []*Mix {
	out := slices.Clone(r.Plans)
	for _, m := range append([]*Mix{r.Own, r.Closest}, r.All...) {
		if m != nil && m.Entry.Fate == Full && !slices.ContainsFunc(out, func(o *Mix) bool { return o.Mix == m.Mix }) {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b *Mix) int {
		if a.Entry.Serves() != b.Entry.Serves() { // a mix that leaves too much undone is not cheaper
			return map[bool]int{true: -1, false: 1}[a.Entry.Serves()]
		}
		return int(max(-1, min(1, a.Entry.Cost()-b.Entry.Cost())))
	})
	return append(out, r.Unpriced...)
}

// WaitByCost returns the least p95 wait, in seconds, at each of n costs. The costs run in equal
// steps from the cheapest mix of the frontier to the mix that waits least.
func (r *Result) WaitByCost(n int) []float64 {
	f := r.Frontier
	lo, hi := f[0].Entry.Cost(), f[len(f)-1].Entry.Cost()
	values := make([]float64, n)
	at := 0
	for i := range values {
		cost := lo + capcli.USD(float64(hi-lo)*float64(i)/float64(n-1))
		for at+1 < len(f) && f[at+1].Entry.Cost() <= cost {
			at++
		}
		values[i] = f[at].Entry.Wait()
	}
	return values
}
