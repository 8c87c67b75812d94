package scenarios

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/choose"
	"capcli/simulate/width"
)

// shapeBook gives jobs their shapes. Jobs of one rule that ask for the same have one capcli.Shape. It may be
// used by several runs at once.
type shapeBook struct {
	of     *Scenario
	rules  []ShapeRule
	tables []*rateTable   // by rule; nil where it has none
	named  map[string]int // rule that a class of the generator names
	lock   sync.Mutex
	made   map[asked]*capcli.Shape      // nil is that the rule has no way as asked
	uses   map[capcli.Uses]*capcli.Uses // one of each, as jobs share them
}

// asked is what a job asks for, and the rule that fits it.
type asked struct {
	rule, gpus int
	model      string
	profile    string // MIG profile, where the rule gives each job the smallest
}

// readShapes reads the tables of the shapes and checks the models against them.
func (s *Scenario) readShapes(open func(string) ([]byte, error)) (*shapeBook, error) {
	if len(s.Shapes) == 0 {
		return nil, nil
	}
	b := &shapeBook{of: s, rules: s.Shapes, tables: make([]*rateTable, len(s.Shapes)), named: map[string]int{}, made: map[asked]*capcli.Shape{}, uses: map[capcli.Uses]*capcli.Uses{}}
	for i := range s.Shapes {
		r := &s.Shapes[i]
		if r.Scaling == nil || r.Scaling.Table == "" {
			continue
		}
		text, err := open(r.Scaling.Table)
		if err != nil {
			return nil, err
		}
		if b.tables[i], err = readMeasured(text, r.Scaling); err != nil {
			return nil, err
		}
		for _, m := range r.Models {
			if !slices.ContainsFunc(b.tables[i].models, func(x string) bool { return strings.EqualFold(x, m.Name) }) {
				return nil, &capcli.InputError{
					File: s.File, Line: m.line, Field: "shapes." + r.Name + ".models",
					Text: fmt.Sprintf("%s is not in %s, which has %s", capcli.Quoted(m.Name), r.Scaling.Table, strings.Join(b.tables[i].models, ", ")),
				}
			}
		}
	}
	if w := s.Jobs.Generate; w != nil {
		for i := range w.Classes {
			c := &w.Classes[i]
			if at := slices.IndexFunc(s.Shapes, func(r ShapeRule) bool { return r.Name == c.Shape }); c.Shape != "" && at >= 0 {
				b.named[c.Name] = at
			}
		}
	}
	return b, nil
}

// ruleOf returns the rule for j: the one that its class names, or the first that fits it; -1 if there is
// none. A rule without conditions that a class names is for that class alone.
func (b *shapeBook) ruleOf(j *capcli.Job) int {
	if at, ok := b.named[j.Class]; ok {
		return at
	}
	return slices.IndexFunc(b.rules, func(r ShapeRule) bool { return r.fits(j) && (r.isBound() || !b.isNamed(&r)) })
}

func (b *shapeBook) isNamed(r *ShapeRule) bool {
	for _, at := range b.named {
		if b.rules[at].Name == r.Name {
			return true
		}
	}
	return false
}

// isBound reports whether the rule is for some jobs alone.
func (r *ShapeRule) isBound() bool {
	return len(r.Classes)+len(r.Tenants)+len(r.Partitions)+len(r.Asked) > 0
}

func (r *ShapeRule) fits(j *capcli.Job) bool {
	has := func(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }
	return has(r.Classes, j.Class) && has(r.Tenants, j.Tenant) && has(r.Partitions, j.Partition) &&
		(len(r.Asked) == 0 || slices.ContainsFunc(r.Asked, func(m string) bool { return strings.EqualFold(m, j.GPUModel) }))
}

// give gives j its shape. It returns the rule that fits j, whether there is one, and whether that rule has a
// way as j asks.
func (b *shapeBook) give(j *capcli.Job) (at int, found, given bool) {
	if j.GPUs == 0 {
		return 0, false, false
	}
	if j.Shape != nil { // it has been given before
		at = slices.IndexFunc(b.rules, func(r ShapeRule) bool { return r.Name == j.Shape.Name })
		return at, at >= 0, at >= 0
	}
	if at = b.ruleOf(j); at < 0 {
		return 0, false, false
	}
	r := &b.rules[at]
	if r.Data != nil {
		j.Data = r.Data
	}
	key := asked{rule: at, gpus: j.GPUs, model: j.GPUModel}
	if r.Profile == smallest {
		key.profile = b.of.smallestProfile(j)
	}
	b.lock.Lock()
	shape, known := b.made[key]
	if !known {
		shape = b.shapeOf(key)
		b.made[key] = shape
	}
	b.lock.Unlock()
	if shape == nil {
		return at, true, false
	}
	j.Shape = shape
	if r.Steps > 0 {
		j.Run = b.runOfSteps(key, j.Run)
	}
	return at, true, true
}

// runOfSteps returns the run time of the rule's steps as asked; run if it is none.
func (b *shapeBook) runOfSteps(key asked, run capcli.Seconds) capcli.Seconds {
	t := b.tables[key.rule]
	if t == nil || !t.rates {
		return run
	}
	rate := new(big.Rat).Inv(t.timeOf(b.reference(key), key.gpus))
	if s, ok, err := width.RunOfSteps(b.rules[key.rule].Steps, rate); ok && err == nil {
		return s
	}
	return capcli.MaxSeconds
}

// shapeOf makes the shape of the jobs that ask for the same; nil if the rule says nothing of what they ask
// for.
func (b *shapeBook) shapeOf(key asked) *capcli.Shape {
	r := &b.rules[key.rule]
	shape := &capcli.Shape{Name: r.Name, Needs: r.Needs, Near: r.Near}
	if r.reduce != nil {
		shape.Near.Slowdown = r.reduce.slowdowns(key.gpus)
	}
	if key.profile != "" {
		shape.Needs.Profile = key.profile
	}
	if r.Scaling == nil && len(r.Models) == 0 && len(r.Widths.List) == 0 && r.Widths.Up == 0 {
		return shape
	}
	widths := b.widthsOf(key)
	if !slices.Contains(widths, key.gpus) {
		return nil
	}
	own := b.timeOf(key, b.reference(key), key.gpus)
	if own == nil {
		return nil
	}
	for _, m := range b.modelsOf(key) {
		for _, g := range widths {
			t := b.timeOf(key, m, g)
			if t == nil {
				continue
			}
			w := capcli.Way{Model: m, GPUs: g}
			w.Num, w.Den = ratio(new(big.Rat).Quo(t, own))
			shape.Ways = append(shape.Ways, w)
		}
	}
	return shape
}

// widthsOf returns the numbers of GPUs that a job may run on, in increasing order. Its own is one of them
// where that is within the range.
func (b *shapeBook) widthsOf(key asked) (out []int) {
	r := &b.rules[key.rule]
	switch w := r.Widths; {
	case w.Up > 0:
		for f := w.Down; f > 1; f /= 2 {
			if key.gpus%f == 0 {
				out = append(out, key.gpus/f)
			}
		}
		for f := 1; f <= w.Up && key.gpus*f <= maxGPUs; f *= 2 {
			out = append(out, key.gpus*f)
		}
	case len(w.List) > 0:
		out = slices.Clone(w.List)
		if key.gpus > out[0] && key.gpus < out[len(out)-1] {
			out = append(out, key.gpus)
		}
	case r.Scaling != nil && len(r.Scaling.Times) > 0:
		for _, p := range r.Scaling.Times {
			out = append(out, p.GPUs)
		}
	case b.tables[key.rule] != nil:
		out = slices.Clone(b.tables[key.rule].widths)
	default:
		out = []int{key.gpus}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// modelsOf returns the models that a job may run on; "" is the one that it asks for.
func (b *shapeBook) modelsOf(key asked) (out []string) {
	r := &b.rules[key.rule]
	for _, m := range r.Models {
		out = append(out, m.Name)
	}
	if t := b.tables[key.rule]; t != nil && len(out) == 0 {
		out = slices.Clone(t.models)
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

// reference returns the model of the run time that a job states: the one that it asks for, or that of the
// rule. It is "" where the rule knows no such model.
func (b *shapeBook) reference(key asked) string {
	r, models := &b.rules[key.rule], b.modelsOf(key)
	if models[0] == "" {
		return ""
	}
	if key.model == "" {
		if r.Reference != "" {
			return r.Reference
		}
		return models[0]
	}
	for alt := range strings.SplitSeq(key.model, "|") {
		for _, m := range models {
			if strings.EqualFold(m, alt) {
				return m
			}
		}
	}
	return ""
}

// timeOf returns the run time on so many GPUs of a model, up to a common factor; nil where the job does not
// run or nothing is known.
func (b *shapeBook) timeOf(key asked, model string, gpus int) *big.Rat {
	r := &b.rules[key.rule]
	if t := b.tables[key.rule]; t != nil {
		return t.timeOf(model, gpus)
	}
	t := r.Scaling.timeOn(gpus)
	if t == nil || len(r.Models) == 0 {
		return t
	}
	for _, m := range r.Models {
		if m.Name != model {
			continue
		}
		if m.Speed == "" {
			return t
		}
		speed, err := width.ParseDecimal(m.Speed)
		if err != nil {
			return nil
		}
		return t.Quo(t, speed)
	}
	return nil
}

// timeOn returns the run time on a number of GPUs, up to a common factor; nil where it is not known.
//
// With a serial share s it is s + (1 - s)/n (Amdahl, AFIPS 1967). With a communication share c at m GPUs it
// is (1 - c) m/n + c ((n - 1)/n) / ((m - 1)/m): the computation of a fixed batch is divided over the GPUs,
// and a ring that sums the gradients moves 2 (n - 1)/n of their size through each GPU whatever their number
// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69:2,
// 2009). It knows no latency and no topology.
func (s *Scaling) timeOn(n int) *big.Rat {
	one := big.NewRat(1, 1)
	switch {
	case s == nil:
		return one
	case s.Serial != "":
		serial, err := width.ParseDecimal(s.Serial)
		if err != nil {
			return nil
		}
		rest := new(big.Rat).Sub(one, serial)
		return rest.Add(rest.Mul(rest, big.NewRat(1, int64(n))), serial)
	case s.Comm != "":
		share, err := width.ParseDecimal(s.Comm)
		if err != nil {
			return nil
		}
		work := new(big.Rat).Sub(one, share)
		work.Mul(work, big.NewRat(int64(s.At), int64(n)))
		ring := new(big.Rat).Quo(big.NewRat(int64(n-1), int64(n)), big.NewRat(int64(s.At-1), int64(s.At)))
		return work.Add(work, ring.Mul(ring, share))
	}
	for _, p := range s.Times {
		if p.GPUs == n {
			return big.NewRat(int64(p.Run), 1)
		}
	}
	return nil
}

// ratio returns r as a fraction of numbers below 2^62. Where it has larger ones it is rounded up, by less
// than one part in 2^60.
func ratio(r *big.Rat) (num, den int64) {
	n, d := new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	if over := max(n.BitLen(), d.BitLen()) - 62; over > 0 {
		n.Add(n.Rsh(n, uint(over)), big.NewInt(1))
		d.Rsh(d, uint(over))
	}
	return n.Int64(), max(1, d.Int64())
}

// shapedJobs counts the jobs of a rule: those with a shape, and those that ask for what it does not know.
type shapedJobs struct{ given, kept int64 }

// shapeBook returns what gives jobs their shapes. Tables are read with the other files of the scenario.
func (s *Scenario) shapeBook() (*shapeBook, error) {
	s.opened.lock.Lock()
	defer s.opened.lock.Unlock()
	switch {
	case s.opened.files != nil:
		return s.opened.files.shapes, nil
	case s.opened.shapes != nil:
		return s.opened.shapes, nil
	}
	var err error
	s.opened.shapes, err = s.readShapes(func(name string) ([]byte, error) {
		return nil, fmt.Errorf("%s is not read yet: call Rates or Config first", name)
	})
	return s.opened.shapes, err
}

// withShapes gives jobs of the generator their shapes.
func (s *Scenario) withShapes(jobs capcli.Jobs) capcli.Jobs {
	if len(s.Shapes) == 0 {
		return jobs
	}
	return func(yield func(capcli.Job, error) bool) {
		for j, err := range jobs {
			if err == nil {
				err = s.giveShape(&j, nil)
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

func (s *Scenario) giveShape(j *capcli.Job, in *Intake) error {
	book, err := s.shapeBook()
	if err != nil {
		return err
	}
	at, found, given := book.give(j)
	if found && book.rules[at].Uses != nil {
		if err := book.giveUses(j, &book.rules[at]); err != nil {
			return err
		}
	}
	if !found || in == nil {
		return nil
	}
	if in.shaped == nil {
		in.shaped = make([]shapedJobs, len(s.Shapes))
	}
	if given {
		in.shaped[at].given++
	} else {
		in.shaped[at].kept++
	}
	return nil
}

// ShapeNotes returns sentences about jobs that a shape is for but that run as they are, because they ask for
// a width or a model of which it says nothing, and about shapes that are for no job.
func (in *Intake) ShapeNotes(s *Scenario) (out []string) {
	for i := range s.Shapes {
		var c shapedJobs
		if i < len(in.shaped) {
			c = in.shaped[i]
		}
		switch {
		case c.kept > 0:
			out = append(out, fmt.Sprintf("%s of the %s jobs of shape %s run as they are: the shape says nothing of the GPUs or the model that they ask for",
				capcli.Grouped(c.kept), capcli.Grouped(c.kept+c.given), s.Shapes[i].Name))
		case c.given == 0:
			out = append(out, fmt.Sprintf("no job has the shape %s", s.Shapes[i].Name))
		}
	}
	return out
}

// chooser returns what picks the ways of jobs; nil is as they ask.
func (s *Scenario) chooser(files *files) (simulate.Chooser, error) {
	if s.Widths.Rule == "" || len(s.Shapes) == 0 {
		return nil, nil
	}
	rule, err := choose.Catalog.Get(s.Widths.Rule)
	if err != nil {
		return nil, err
	}
	settings := choose.Settings{Wait: s.Widths.Wait}
	if len(s.Unpriced()) == 0 { // else every GPU-hour counts the same
		for _, r := range s.rates(files) {
			settings.Prices = append(settings.Prices, r.At(s.Period.Start).Price)
		}
	}
	return rule(settings), nil
}

// checkShapes checks what shapes and other parts of the scenario say of each other.
func (s *Scenario) checkShapes(o *strict.Object) {
	s.checkNear(o)
	if len(s.Shapes) == 0 && o.Has("widths") && s.Widths.Rule != "" && s.Widths.Rule != "asked" {
		o.Fault("widths", "widths are of jobs with a shape; give shapes too")
	}
	s.checkNeeds(o)
	if s.Jobs.Generate == nil {
		return
	}
	classes := strict.Child(strict.Child(strict.Child(o.Node, "jobs"), "generate"), "classes")
	for i := range s.Jobs.Generate.Classes {
		name := s.Jobs.Generate.Classes[i].Shape
		if name == "" || slices.ContainsFunc(s.Shapes, func(r ShapeRule) bool { return r.Name == name }) {
			continue
		}
		var names []string
		for k := range s.Shapes {
			names = append(names, s.Shapes[k].Name)
		}
		at := o.Node
		if classes != nil && i < len(classes.Content) {
			if n := strict.Child(classes.Content[i], "shape"); n != nil {
				at = n
			}
		}
		o.Decoder.Fault(at, "unknown shape %s: have %s%s", capcli.Quoted(name), cmp.Or(strings.Join(names, ", "), "none"), capcli.DidYouMean(name, names))
	}
}
