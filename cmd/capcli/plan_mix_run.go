package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"capcli/simulate/plan/mix"

	"capcli"
)

// plan sets up the search.
func (m *mixPlan) plan(context.Context) error {
	if err := m.limitsOf(); err != nil {
		return err
	}
	within, err := m.withinOf()
	if err != nil {
		return err
	}
	m.problem.Within = within
	o := &m.o.mix
	hold, err := shareFlag("--hold", o.hold)
	if err != nil {
		return err
	}
	confidence, err := shareFlag("--confidence", o.confidence)
	if err != nil {
		return err
	}
	goals := map[string]mix.Goal{"frontier": mix.Frontier, "cheapest": mix.Cheapest}
	goal, ok := goals[o.goal]
	switch {
	case !ok:
		return &usageError{text: fmt.Sprintf("unknown --goal %q: have cheapest, frontier", o.goal)}
	case hold == 0:
		return &usageError{text: "--hold wants a share over 0", hint: "--hold 95%"}
	case confidence == 1:
		return &usageError{text: "--confidence 100% would drop nothing; 0 says so", hint: "--confidence 99%"}
	}
	m.search = &mix.Search{
		Problem: m.problem, Limits: plannable(m.limits), Hold: hold, Confidence: confidence, Goal: goal, Stride: m.stride(),
	}
	if m.ahead != nil {
		m.search.Risk = m.ahead.risk
	}
	if own := m.own(); own >= 0 {
		m.search.Include = []int{own}
	}
	return nil
}

// stride is how coarse the first grid is: about eight values of the longest axis.
func (m *mixPlan) stride() int {
	if m.o.mix.exhaustive || len(m.o.mix.vary) > 0 {
		return 1
	}
	longest := 1
	for _, a := range m.problem.Space.Axes {
		if a.Ordered {
			longest = max(longest, len(a.Values))
		}
	}
	if longest < 8 {
		return 1
	}
	return 1 << (bits.Len(uint(longest/8)) - 1)
}

// planMix plans a scenario.
func planMix(ctx context.Context, e *env, o *planOptions, args []string) error {
	if err := o.shard.settle(e, o.output.out); err != nil {
		return err
	}
	m, err := newMixPlan(ctx, e, o, args)
	if err != nil {
		return err
	}
	if err := m.checkValues(); err != nil {
		return err
	}
	if !o.shard.cut {
		return m.whole(ctx)
	}
	return m.shards(ctx)
}

// whole searches in this process.
func (m *mixPlan) whole(ctx context.Context) error {
	plain, err := m.onePlainRun(ctx)
	if err != nil {
		return m.failed(err)
	}
	p := newProgress(m.e, "mixes")
	m.search.Progress = func(done, of int) {
		if m.search.Stride > 1 {
			p.showAtMost(int64(done), int64(of))
			return
		}
		p.at(int64(done), int64(of))
	}
	began := m.e.now()
	m.found, err = m.search.Run(ctx)
	took := m.e.now().Sub(began)
	switch {
	case err != nil && m.found == nil:
		return m.failed(err)
	case err != nil:
		p.end(int64(len(m.found.Entries)))
		over := ""
		if m.found.Runs < m.problem.Runs {
			over = fmt.Sprintf(", each run %d of %d times", m.found.Runs, m.problem.Runs)
		}
		m.problem.Runs = m.found.Runs
		m.stopped = fmt.Sprintf("the search was stopped after %s of %s%s mixes%s", grouped(int64(len(m.found.Entries))), m.atMost(), grouped(int64(m.found.Size)), over)
		return errors.Join(m.finish(ctx), m.failed(err))
	}
	p.end(int64(len(m.found.Entries)))
	m.tellSpeed(took, plain)
	return m.finish(ctx)
}

// atMost says that the size of the space is more than a search tries that goes
// through a coarse grid first.
func (m *mixPlan) atMost() string {
	if m.search.Stride > 1 {
		return "at most "
	}
	return ""
}

// shards does one shard of the search, or merges all: the same search, that looks up
// what it would simulate.
func (m *mixPlan) shards(ctx context.Context) error {
	work, err := m.search.Pieces(ctx)
	if err == nil {
		// The log of the jobs is read, so that it is known as an input before a shard
		// runs. The files that a mix names are read when its candidate is made.
		_, err = m.problem.Jobs(0)
	}
	if err != nil {
		return m.failed(err)
	}
	o := &m.o.shard
	if o.merge == nil {
		return m.failed(o.compute(ctx, m.e, m.o.output.out, work))
	}
	outcomes, err := o.outcomes(m.e, work)
	if err != nil {
		return err
	}
	if m.search.Evaluate, err = work.Evaluate(outcomes); err != nil {
		return err
	}
	if m.found, err = m.search.Run(ctx); err != nil {
		return m.failed(err)
	}
	return m.finish(ctx)
}

// onePlainRun times one simulation of one mix: the scenario's own, or the first.
func (m *mixPlan) onePlainRun(ctx context.Context) (time.Duration, error) {
	i := 0
	if len(m.search.Include) > 0 {
		i = m.search.Include[0]
	}
	if _, err := m.problem.Jobs(0); err != nil {
		return 0, err
	}
	began := m.e.now()
	_, err := m.problem.Outcome(ctx, i, 0)
	var bad *mix.InvalidError
	if errors.As(err, &bad) {
		return 0, nil
	}
	return m.e.now().Sub(began), err
}

// tellSpeed says on stderr how much was tried and how fast.
func (m *mixPlan) tellSpeed(took, plain time.Duration) {
	c := m.found.Counts()
	times := "once"
	if n := m.problem.Runs; n > 1 {
		times = fmt.Sprintf("%d times", n)
	}
	dropped := fmt.Sprintf("%s dropped early (%s by proof, %s by test)", grouped(int64(c.ByBound+c.ByRace)), grouped(int64(c.ByBound)), grouped(int64(c.ByRace)))
	rate := float64(c.Tried) / max(took.Seconds(), 1e-9)
	text := fmt.Sprintf("%s of %s mixes tried, %s, %s run %s, %s simulations, %.1f s: %.0f mixes/s",
		grouped(int64(c.Tried)), grouped(int64(m.found.Size)), dropped, grouped(int64(c.Full)), times, grouped(int64(m.found.Simulations)), took.Seconds(), rate)
	if plain > 0 && m.found.Simulations > 0 {
		each := took.Seconds() / float64(m.found.Simulations)
		text += fmt.Sprintf("; one plain run takes %.1f ms, one of these %.1f ms (%.2f of it)", 1e3*plain.Seconds(), 1e3*each, each/plain.Seconds())
	}
	m.e.say(text)
}

// failed types the errors of a search for the exit code.
func (m *mixPlan) failed(err error) error {
	var bad *mix.InvalidError
	if errors.As(err, &bad) {
		return bad.Err
	}
	if errors.Is(err, mix.ErrNoMix) {
		return &capcli.InputError{File: m.file, Text: "expected a mix to try, found none"}
	}
	return m.base.Fault(err)
}

// finish works out what is asked about the best mix, and writes the plan.
func (m *mixPlan) finish(ctx context.Context) error {
	r := &mixResult{mixPlan: m, best: m.found.Best()}
	var cut error
	if r.best != nil && m.stopped == "" {
		if err := r.study(ctx); err != nil {
			if cut = m.failed(err); ctx.Err() == nil {
				return cut
			}
			r.stopped = "the search is whole; what was to be asked about the mix that it found was stopped"
		}
	}
	if r.bound == nil {
		r.bound = &mix.Bound{}
	}
	doc := r.doc(m.o.output.shape(m.e))
	if err := emit(m.e, m.o.output, doc); err != nil {
		return err
	}
	if name := m.o.mix.save; name != "" {
		if err := writeJSON(m.e, name, doc.Data); err != nil {
			return err
		}
		m.e.say("wrote " + name)
	}
	switch {
	case m.stopped != "":
		return cut
	case r.best == nil:
		return r.none()
	}
	if next := r.next(); next != "" {
		m.e.say("next: " + next)
	}
	return nil
}

// next is the command that runs the best mix in full detail.
func (r *mixResult) next() string {
	words := []string{"capcli", "simulate"}
	if r.name != "" {
		words = append(words, capcli.ShellWord(r.name))
	}
	if t := r.o.mix.sim.trace; t != "" {
		words = append(words, "--trace", capcli.ShellWord(t))
	}
	for _, s := range append(slices.Clone(r.o.mix.sim.sets), sets(r.problem.Space.Axes, r.best.Values)...) {
		words = append(words, "--set", capcli.ShellWord(s))
	}
	if r.o.mix.sim.perfect {
		words = append(words, "--perfect-estimates")
	}
	if r.o.mix.sim.seeded {
		words = append(words, fmt.Sprintf("--seed %d", r.o.mix.sim.seed))
	}
	if r.problem.Runs > 1 {
		words = append(words, fmt.Sprintf("--runs %d", r.problem.Runs))
	}
	return strings.Join(words, " ")
}

// none says that no mix holds the limits, which limit binds, and by how much the
// nearest mix misses it.
func (r *mixResult) none() error {
	near := r.found.Nearest()
	if bad := r.unpriced(); near == nil && len(bad) > 0 {
		return &capcli.InputError{File: r.file, Text: fmt.Sprintf("none of the mixes that were run can be priced: %s: %s", r.named(bad[0]), bad[0].Fault())}
	}
	if near == nil {
		least := r.found.LeastFloor()
		text := fmt.Sprintf("none of %s mixes can hold the limits: every one costs at least %s", grouped(int64(len(r.found.Entries))), least)
		if i := r.found.Binding(); i >= 0 {
			c := r.limits[i]
			text += fmt.Sprintf(", %s beyond %s, which binds", c.Metric.Text(least.Float()-c.Value), c)
		}
		return &noPlanError{text: text, hint: "raise the limit on cost, or give other sizes (--vary)"}
	}
	var parts []string
	binding := r.found.Binding()
	for i, d := range r.found.Distances(near) {
		switch text := r.distance(d); {
		case text == "":
		case i == binding:
			parts = append([]string{text}, parts...)
		default:
			parts = append(parts, text)
		}
	}
	return &noPlanError{
		text: fmt.Sprintf("none of %s mixes holds the limits in %s of runs; %s binds. Nearest: %s: %s", grouped(int64(len(r.found.Entries))),
			shareText(r.search.Hold), r.limits[binding], r.named(near), strings.Join(parts, "; ")),
		hint: "loosen the limit that binds, or give other sizes (--vary)",
	}
}

// distance says how far a mix is from a limit; "" where it holds it well enough.
func (r *mixResult) distance(d mix.Distance) string {
	c := r.limits[r.limitIndex(d)]
	switch {
	case !d.Known:
		return fmt.Sprintf("%s is not known", c.Metric.Name)
	case d.Limit.Each && d.Miss > 0 && c.Metric.Name == "unserved_share":
		return fmt.Sprintf("it leaves %s of the work undone, and %s is for each run", undoneText(r.found.Nearest()), c)
	case d.Miss > 0:
		return fmt.Sprintf("%s is %s, %s beyond %s", c.Metric.Name, c.Metric.Text(d.Mean), c.Metric.Text(d.Miss), c)
	case d.Held < d.Limit.Share(r.search.Hold):
		return fmt.Sprintf("%s is held in %s of runs", c, shareText(d.Held))
	}
	return ""
}

func (r *mixResult) limitIndex(d mix.Distance) int {
	return slices.IndexFunc(r.search.Limits, func(l mix.Limit) bool { return l.Text == d.Limit.Text })
}
