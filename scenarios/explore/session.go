// Package explore answers one what-if question after another about a case, and says which command
// makes the same run.
package explore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"capcli"
	"capcli/scenarios/generate"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
)

// Session answers one question after another about a case. It reads a job log once, and keeps its
// jobs. Several questions may be asked at once.
type Session struct {
	Knobs []whatif.Knob // of the case, with the seed, and the scale of generated jobs
	Label string        // of the case: its scenario, policy and placement
	File  string        // of the scenario
	Flags []string      // further flags of the command that makes a run, such as --prices

	maker *play.Maker
	base  play.Question

	lock    sync.Mutex
	log     []capcli.Job // all jobs of the log, in order of submission; nil until read
	few     []capcli.Job // jobs of the case, thinned to fewest
	fewest  int
	thinned *live.Thinned
}

// Open begins a session about a question. It reads the scenario, not yet the jobs.
func Open(ctx context.Context, maker *play.Maker, q play.Question) (*Session, error) {
	c, err := maker.Case(ctx, &q)
	if err != nil {
		return nil, err
	}
	s := &Session{Knobs: whatif.Knobs(c.Scenario), Label: c.Label(), File: c.Scenario.File, maker: maker, base: q}
	if w := c.Scenario.Jobs.Generate; w != nil && !c.FromLog() && hasRandom(w) {
		k := whatif.Knob{Path: whatif.ScalePath, Label: "work: random jobs, times", Kind: whatif.Number, Value: "1", Min: 0.05, Max: 5, Step: 0.05}
		if w.Scale > 0 {
			k.Value = strconv.FormatFloat(w.Scale, 'f', -1, 64)
		}
		s.Knobs = append(s.Knobs, k)
	}
	s.Knobs = append(s.Knobs, whatif.Knob{Path: whatif.SeedPath, Label: "seed of chance", Kind: whatif.Number, Value: strconv.FormatUint(uint64(c.Seed), 10), Max: 1e6, Step: 1})
	return s, nil
}

// hasRandom reports whether some of the generated jobs come at random.
func hasRandom(w *generate.Workload) bool {
	return w.Mix != "" || slices.ContainsFunc(w.Classes, func(c generate.Class) bool { return c.Kind == generate.Random })
}

// Answer is an answer, and how it was made.
type Answer struct {
	*whatif.Answer
	Command string        // makes the same run, with all jobs
	Thinned *live.Thinned // how the jobs were thinned; nil if they were not
}

// Ask plays the case with the changes of r. If it has more jobs than most, they are thinned to about
// as many: see live.Thin. 0 plays all.
func (s *Session) Ask(ctx context.Context, r whatif.Request, most int) (*Answer, error) {
	c, err := s.Case(ctx, r)
	if err != nil {
		return nil, err
	}
	how, err := s.lend(ctx, c, most)
	if err != nil {
		return nil, err
	}
	one, err := r.Answer(ctx, c)
	if err != nil {
		return nil, err
	}
	a := &Answer{Answer: one, Command: s.Command(r), Thinned: how}
	if how != nil {
		a.Document.Notes = append([]string{how.Note()}, a.Document.Notes...)
	}
	return a, nil
}

// Case returns the case with the changes of r.
func (s *Session) Case(ctx context.Context, r whatif.Request) (*play.Case, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	q, maker := s.base, *s.maker
	r.Apply(&q)
	maker.Note = nil
	return maker.Case(ctx, &q)
}

// lend gives c the jobs that the session keeps. It thins them if there are more than most; 0 thins
// none.
func (s *Session) lend(ctx context.Context, c *play.Case, most int) (*live.Thinned, error) {
	if c.Scenario.Kueue != nil { // no jobs of the engine
		return nil, nil //nolint:nilnil // nothing is thinned
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if c.FromLog() && s.log == nil {
		if err := s.read(ctx, c); err != nil {
			return nil, err
		}
	}
	if c.FromLog() {
		lendList(c, s.log)
	}
	if most <= 0 {
		return nil, nil //nolint:nilnil // nothing is thinned
	}
	if c.FromLog() && s.fewest == most { // what a log's jobs are does not depend on the knobs
		if s.thinned != nil {
			lendList(c, s.few)
		}
		return s.thinned, nil
	}
	all, _, err := c.Jobs(ctx, 0, func(string) {})
	if err != nil {
		return nil, err
	}
	few, how := live.Thin(all, most, c.Seed)
	if how != nil {
		lendList(c, few)
	}
	if c.FromLog() {
		s.few, s.thinned, s.fewest = few, how, most
	}
	return how, nil
}

func (s *Session) read(ctx context.Context, c *play.Case) error {
	c.Source.Sorted = true
	reading, err := c.Source.Read(0)
	if err != nil {
		return err
	}
	defer func() { _ = reading.Close() }()
	list := []capcli.Job{}
	for j, err := range capcli.WatchJobs(ctx, reading.Jobs, func(int64) {}) {
		if err != nil {
			return c.Fault(err)
		}
		list = append(list, j)
	}
	s.log = list
	return nil
}

func lendList(c *play.Case, list []capcli.Job) {
	c.Source.Sorted = false
	c.Source.Open = func(int) (*play.Reading, error) {
		return &play.Reading{Jobs: func(yield func(capcli.Job, error) bool) {
			for i := range list {
				if !yield(list[i], nil) {
					return
				}
			}
		}}, nil
	}
}

// Command returns the command line that makes the run of r, with all jobs.
func (s *Session) Command(r whatif.Request) string {
	q := s.base
	words := []string{"capcli", "simulate"}
	name := q.Scenario
	if q.Kept != nil {
		name = q.KeptName()
	}
	if name != "" {
		words = append(words, capcli.ShellWord(name))
	}
	if q.Trace != "" {
		words = append(words, "--trace", capcli.ShellWord(q.Trace))
	}
	words = append(words, readFlags(&q)...)
	for _, w := range s.Flags {
		words = append(words, capcli.ShellWord(w))
	}
	for _, set := range q.Sets {
		words = append(words, "--set", capcli.ShellWord(set))
	}
	if q.Perfect {
		words = append(words, "--set", "policy.perfect_estimates=true")
	}
	changed := func(path string) bool {
		return slices.ContainsFunc(r.Changes, func(c whatif.Change) bool { return c.Path == path })
	}
	if q.Policy != "" && !changed(whatif.PolicyPath) {
		words = append(words, "--policy", q.Policy)
	}
	if q.Place != "" && !changed(whatif.PlacementPath) {
		words = append(words, "--placement", q.Place)
	}
	if q.Seed != nil && !changed(whatif.SeedPath) {
		words = append(words, "--seed", strconv.FormatUint(uint64(*q.Seed), 10))
	}
	for _, w := range r.Args() {
		words = append(words, capcli.ShellWord(w))
	}
	return strings.Join(words, " ")
}

// readFlags returns the flags that say how the log is read.
func readFlags(q *play.Question) (out []string) {
	read := &q.Read
	add := func(key, value string) {
		if value != "" {
			out = append(out, "--read", capcli.ShellWord(key+"="+value))
		}
	}
	add("format", read.Format)
	add("tz", read.TZ)
	add("dst", read.DST)
	add("times", read.Times)
	add("dates", read.Dates)
	add("columns", read.Columns)
	for _, m := range read.Map {
		out = append(out, "--read", capcli.ShellWord(m))
	}
	if read.AllowCut {
		out = append(out, "--read", "allow-cut")
	}
	return out
}

// YAML returns the text of the scenario with the changes of r, and with those that the question
// itself makes.
func (s *Session) YAML(ctx context.Context, r whatif.Request) ([]byte, error) {
	c, err := s.Case(ctx, r)
	if err != nil {
		return nil, err
	}
	var sets []string
	if c.Scenario.Kueue == nil {
		sets = append(sets, "policy.name="+c.Scenario.PolicyName(), "placement="+c.Scenario.PlacementName())
	}
	if c.Scenario.Policy.Perfect {
		sets = append(sets, "policy.perfect_estimates=true")
	}
	sets = append(sets, fmt.Sprintf("seed=%d", uint64(c.Seed)))
	changed, err := c.Scenario.With(sets...)
	if err != nil {
		return nil, err
	}
	return changed.YAML()
}
