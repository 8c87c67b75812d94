package simulate_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/choose"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// drawShapes gives jobs of a world shapes, and draws who chooses.
func drawShapes(t *rapid.T, w *world) (rule string) {
	var shapes []*capcli.Shape
	for k := range rapid.IntRange(1, 3).Draw(t, "shapes") {
		s := &capcli.Shape{Name: fmt.Sprint("s", k)}
		for range rapid.IntRange(0, 6).Draw(t, "ways") {
			s.Ways = append(s.Ways, capcli.Way{
				Model: rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "way's model"), GPUs: rapid.IntRange(1, 20).Draw(t, "way's gpus"),
				Num: int64(rapid.IntRange(1, 40).Draw(t, "num")), Den: int64(rapid.SampledFrom([]int{1, 3, 7, 10, 40}).Draw(t, "den")),
			})
		}
		shapes = append(shapes, s)
	}
	w.jobs = slices.Clone(w.jobs)
	for i := range w.jobs {
		if j := &w.jobs[i]; rapid.IntRange(0, 3).Draw(t, "shaped") > 0 {
			j.Shape = rapid.SampledFrom(shapes).Draw(t, "shape")
			if n := len(j.Shape.Ways); n > 0 && rapid.Bool().Draw(t, "one of its ways") && j.GPUMilli == 0 {
				j.GPUs = j.Shape.Ways[rapid.IntRange(0, n-1).Draw(t, "way")].GPUs
			}
		}
	}
	rule = rapid.SampledFrom(choose.Catalog.Names()).Draw(t, "widths")
	wait := capcli.Seconds(rapid.SampledFrom([]int{0, 0, 15}).Draw(t, "wait"))
	was := w.change
	w.change = func(c *simulate.Config) {
		if was != nil {
			was(c)
		}
		pick, err := choose.Catalog.Get(rule)
		if err != nil {
			panic(err)
		}
		c.Chooser = pick(choose.Settings{Wait: wait, Prices: []capcli.USD{3, 1, 2, 1}})
		c.Observers = append(c.Observers, &workAuditor{t: t, kill: c.KillAtLimit, jobs: map[string]*fractions{}})
	}
	return rule
}

// workAuditor adds up the fractions of each job that its stays do: at its end they are all of the job and
// at most a second of its last stay more. At each start the time left is that of the fraction left.
type workAuditor struct {
	t    *rapid.T
	kill bool
	jobs map[string]*fractions
}

// fractions are the parts of a job that are done.
type fractions struct {
	done   *big.Rat
	atOnce capcli.Seconds // seconds of the stay that were done at its start
	run    capcli.Seconds // as submitted
}

func (a *workAuditor) Observe(e simulate.Event, _ *simulate.Cluster) {
	l := e.Job
	if l == nil || l.Shape == nil || l.GPUs == 0 || a.kill && l.Limit > 0 {
		return
	}
	f := a.jobs[l.ID]
	switch e.Kind {
	case simulate.Arrive:
		a.jobs[l.ID] = &fractions{done: new(big.Rat), run: l.Run}
	case simulate.Start:
		if saved := l.Run - l.TimeLeft(e.At); saved < 0 || l.TimeLeft(e.At) < 0 {
			a.t.Fatalf("%s starts with %d s of %d s done", l.ID, saved, l.Run)
		}
		f.atOnce = l.Run - l.TimeLeft(e.At)
		a.check(l, f, l.TimeLeft(e.At))
	case simulate.Preempt:
		saved := l.Run - l.TimeLeft(e.At)
		if saved == 0 && l.Run > 0 || saved < f.atOnce {
			f.done.SetInt64(0)
			return
		}
		f.done.Add(f.done, a.fraction(l, f, saved-f.atOnce))
	case simulate.Finish:
		f.done.Add(f.done, a.fraction(l, f, l.Run-f.atOnce))
		over := new(big.Rat).Sub(f.done, big.NewRat(1, 1))
		if least := big.NewRat(-1, 1<<50); f.run > 0 && (over.Cmp(least) < 0 || over.Cmp(a.fraction(l, f, 1)) > 0) {
			a.t.Fatalf("%s ended when %s of it was done", l.ID, f.done.FloatString(6))
		}
	default:
	}
}

// fraction returns the part of l that some seconds of its current way do.
func (a *workAuditor) fraction(l *simulate.Live, f *fractions, s capcli.Seconds) *big.Rat {
	if f.run == 0 {
		return new(big.Rat)
	}
	num, den := int64(1), int64(1)
	if w := l.Way(); w >= 0 {
		num, den = l.Shape.Ways[w].Num, l.Shape.Ways[w].Den
	} else if !l.Running() { // it has just stopped
		num, den = a.lastOf(l)
	}
	return new(big.Rat).Mul(big.NewRat(int64(s), int64(f.run)), big.NewRat(den, num))
}

// lastOf returns the ratio of the way that l held, by its GPUs and pool.
func (a *workAuditor) lastOf(l *simulate.Live) (num, den int64) {
	if i := l.LastWay(); i >= 0 {
		return l.Shape.Ways[i].Num, l.Shape.Ways[i].Den
	}
	return 1, 1
}

// check compares the seconds left at a start with the fraction left.
func (a *workAuditor) check(l *simulate.Live, f *fractions, left capcli.Seconds) {
	if f.run == 0 {
		return
	}
	of := new(big.Rat).Add(f.done, a.fraction(l, f, left))
	if over := of.Sub(of, big.NewRat(1, 1)); over.Cmp(big.NewRat(-1, 1<<50)) < 0 || over.Cmp(a.fraction(l, f, 1)) > 0 {
		a.t.Fatalf("%s starts with %d s left of %d s when %s of it is done", l.ID, left, l.Run, f.done.FloatString(6))
	}
}

// TestConformShapes holds every policy with every placement to the laws where jobs have shapes, every rule of
// widths chooses, and interruptions of all kinds come.
func TestConformShapes(t *testing.T) {
	limitDraws(t, 8)
	pols := append(policy.Catalog.All(), capcli.Entry[simulate.NewPolicy]{Name: "resizing", Value: func(simulate.Settings) simulate.Policy { return &resizing{} }})
	for _, pol := range pols {
		for _, pl := range placement.Catalog.All() {
			t.Run(pol.Name+"/"+pl.Name, rapid.MakeCheck(func(rt *rapid.T) {
				w := drawWorld(rt)
				if rapid.Bool().Draw(rt, "interrupted") {
					interrupted(rt, &w)
				}
				rt.Logf("rule of widths: %v", drawShapes(rt, &w))
				r, a := w.play(t, pol.Value, pl.Value(), w.jobs)
				w.checkEnd(rt, r, a)
				w.checkAgain(rt, t, pol.Value, pl.Value(), r, a)
			}))
		}
	}
}

// resizing starts jobs in their first way that fits, and gives running jobs other ways: each job a few
// times, in turn.
type resizing struct {
	ways    []simulate.Choice
	running []*simulate.Live
}

// Resizes implements simulate.Resizer.
func (*resizing) Resizes() {}

func (p *resizing) Schedule(t *simulate.Turn) {
	for l := range t.Queue() {
		p.ways = t.Ways().All(l, p.ways[:0])
		if !slices.ContainsFunc(p.ways, func(c simulate.Choice) bool { return t.Ways().StartAs(l, c) }) {
			break
		}
	}
	p.running = slices.AppendSeq(p.running[:0], t.Running())
	for i, l := range p.running {
		if l.Mark > 3 || l.Since == t.Now() {
			continue
		}
		p.ways = t.Ways().All(l, p.ways[:0])
		for k := range p.ways {
			c := p.ways[(k+i+int(t.Now()))%len(p.ways)]
			if (c.Way != l.Way() || c.Pool != l.Pool()) && t.Ways().Reassign([]simulate.Reassignment{{Job: l, To: []simulate.Choice{c, {Way: l.Way(), Pool: l.Pool()}}}}) > 0 {
				l.Mark++
				break
			}
		}
	}
}
