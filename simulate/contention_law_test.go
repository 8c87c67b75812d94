package simulate_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
)

// sharedStay is a stay of a job as the reference follows it: in rational numbers, by itself.
type sharedStay struct {
	l      *simulate.Live
	id     string
	milli  int64
	uses   *capcli.Uses
	nodes  map[int]int64 // GPUs by node
	run    capcli.Seconds
	saved  capcli.Seconds
	left   *big.Rat
	factor *big.Rat
}

// sharedAuditor follows a run and works out again when each job ends, from where it runs and who runs beside
// it. It knows of one pool alone.
type sharedAuditor struct {
	t       *rapid.T
	pool    simulate.Pool
	now     capcli.Seconds
	running map[string]*sharedStay
	saved   map[string]capcli.Seconds
	lost    *big.Rat // GPU-seconds in thousandths
	stays   int64    // GPUs in thousandths of all stays
}

// almostRat is what does not make a second of its own.
var almostRat = big.NewRat(1, 1024)

// ceilOf returns r less a thousandth of a second, rounded up.
func ceilOf(r *big.Rat) capcli.Seconds {
	x := new(big.Rat).Sub(r, almostRat)
	if x.Sign() <= 0 {
		return 0
	}
	q, m := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	return capcli.Seconds(q.Int64() + int64(m.Sign()))
}

// advance lets the jobs work up to now at the pace that they have.
func (a *sharedAuditor) advance(now capcli.Seconds) {
	dt := big.NewRat(int64(now-a.now), 1)
	a.now = now
	for _, s := range a.running {
		done := new(big.Rat).Quo(dt, s.factor)
		if done.Cmp(s.left) > 0 {
			done = s.left
		}
		s.left = new(big.Rat).Sub(s.left, done)
		gone := new(big.Rat).Sub(s.factor, big.NewRat(1, 1))
		a.lost.Add(a.lost, gone.Mul(gone.Mul(gone, done), big.NewRat(s.milli, 1)))
	}
}

func (a *sharedAuditor) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil || e.Kind == simulate.Arrive {
		return
	}
	if e.At > a.now {
		a.repace()
		a.advance(e.At)
	}
	l := e.Job
	switch e.Kind {
	case simulate.Start:
		s := &sharedStay{l: l, id: l.ID, milli: l.Milli(), uses: l.Uses, nodes: map[int]int64{}, run: l.Run, saved: a.saved[l.ID], factor: big.NewRat(1, 1)}
		for _, x := range l.Slices() {
			s.nodes[int(x.Node)] += max(1, int64(x.GPUs))
		}
		s.left = big.NewRat(int64(s.run-s.saved), 1)
		a.running[l.ID] = s
		a.stays += s.milli
	case simulate.Preempt:
		s := a.running[l.ID]
		a.saved[l.ID] = s.run - ceilOf(s.left)
		delete(a.running, l.ID)
	case simulate.Finish:
		s := a.running[l.ID]
		if s.left.Cmp(new(big.Rat).Add(almostRat, big.NewRat(1, 1<<20))) > 0 {
			left, _ := s.left.Float64()
			a.t.Errorf("%s ends at %d with %g s of work left", l.ID, e.At, left)
		}
		delete(a.running, l.ID)
	default:
	}
}

// repace works out the pace of all jobs from a.now on, and checks that none should have ended before.
func (a *sharedAuditor) repace() {
	var order []*sharedStay
	for _, s := range a.running {
		order = append(order, s)
		wall := new(big.Rat).Mul(s.left, s.factor)
		s.factor = big.NewRat(1, 1)
		if wall.Cmp(new(big.Rat).Sub(almostRat, big.NewRat(1, 1<<20))) < 0 {
			a.t.Errorf("%s should have ended by %d", s.id, a.now)
		}
	}
	slices.SortFunc(order, func(x, y *sharedStay) int { return int(x.l.Index() - y.l.Index()) })
	for kind := range capcli.SharedKind(capcli.SharedKinds) {
		a.grant(kind, order)
	}
}

// grant shares one kind: the level of all flows rises from one flow or link that is done to the next.
func (a *sharedAuditor) grant(kind capcli.SharedKind, order []*sharedStay) {
	type flow struct {
		s     *sharedStay
		want  *big.Rat
		links map[string]int64
		grant *big.Rat
	}
	var flows []*flow
	most := map[string]*big.Rat{}
	for _, s := range order {
		if s.uses == nil || s.uses[kind].Each == 0 || s.uses[kind].Share == 0 {
			continue
		}
		want := s.uses[kind].Each
		if s.l.GPUMilli > 0 {
			want = max(1, want*int64(s.l.GPUMilli)/1000)
		}
		f := &flow{s: s, want: big.NewRat(want, 1), links: map[string]int64{}}
		for _, x := range a.pool.Shared {
			if x.Kind != kind {
				continue
			}
			by := map[string]int64{}
			for n, gpus := range s.nodes {
				by[a.domain(x.Level, n)] += gpus
			}
			if kind == capcli.SharedNet && len(by) == 1 {
				continue
			}
			for d, gpus := range by {
				f.links[d] += gpus
				most[d] = big.NewRat(x.Micro, 1)
			}
		}
		flows = append(flows, f)
	}
	used := func(level *big.Rat, link string) *big.Rat {
		sum := new(big.Rat)
		for _, f := range flows {
			g := f.grant
			if g == nil {
				if g = level; f.want.Cmp(level) < 0 {
					g = f.want
				}
			}
			sum.Add(sum, new(big.Rat).Mul(g, big.NewRat(f.links[link], 1)))
		}
		return sum
	}
	for {
		// The next level at which a flow has all that it wants; links that are over at it are full below it.
		var level *big.Rat
		for _, f := range flows {
			if f.grant == nil && (level == nil || f.want.Cmp(level) < 0) {
				level = f.want
			}
		}
		if level == nil {
			break
		}
		full := ""
		for link := range most {
			if used(level, link).Cmp(most[link]) <= 0 {
				continue
			}
			held, n := new(big.Rat), int64(0)
			for _, f := range flows {
				if f.grant != nil {
					held.Add(held, new(big.Rat).Mul(f.grant, big.NewRat(f.links[link], 1)))
				} else {
					n += f.links[link]
				}
			}
			level = new(big.Rat).Quo(new(big.Rat).Sub(most[link], held), big.NewRat(n, 1))
			full = link
		}
		for _, f := range flows {
			if f.grant == nil && (full == "" && f.want.Cmp(level) == 0 || full != "" && f.links[full] > 0) {
				f.grant = level
			}
		}
	}
	for _, f := range flows {
		extra := new(big.Rat).Sub(new(big.Rat).Quo(f.want, f.grant), big.NewRat(1, 1))
		f.s.factor.Add(f.s.factor, extra.Mul(extra, big.NewRat(f.s.uses[kind].Share, 1e6)))
		bottleneck := f.grant.Cmp(f.want) == 0
		for link := range f.links { // each flow has what it wants, or the most of a link that is full
			if used(nil, link).Cmp(most[link]) == 0 && !slices.ContainsFunc(flows, func(o *flow) bool { return o.links[link] > 0 && o.grant.Cmp(f.grant) > 0 }) {
				bottleneck = true
			}
			if used(nil, link).Cmp(most[link]) > 0 {
				a.t.Errorf("the reference grants more of %s than there is", link)
			}
		}
		if !bottleneck {
			a.t.Errorf("the reference is not max-min fair to %s", f.s.id)
		}
	}
}

// domain names what a node is in at a level.
func (a *sharedAuditor) domain(level string, node int) string {
	for _, d := range a.pool.Domains {
		if d.Level == level {
			node /= d.Nodes
		}
	}
	if level == "" {
		node = 0
	}
	return fmt.Sprint(level, node)
}

// TestContentionLaw holds runs against the reference: over drawn pools and jobs, each job ends in the very second that the
// reference says, and the GPU time that was held is work, contention, and what is lost by preemption and rounding.
func TestContentionLaw(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		p := simulate.Pool{Name: "own", Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"), GPUsPerNode: rapid.IntRange(1, 4).Draw(t, "size")}
		draw := func(kind capcli.SharedKind, level string) {
			if rapid.IntRange(0, 2).Draw(t, "limited") > 0 {
				p.Shared = append(p.Shared, simulate.Shared{Kind: kind, Level: level, Micro: rapid.Int64Range(1, 20).Draw(t, "capacity") * 500_000})
			}
		}
		if rapid.Bool().Draw(t, "racks") {
			p.Domains = []simulate.Domain{{Level: "rack", Nodes: rapid.IntRange(1, 3).Draw(t, "rack")}}
			draw(capcli.SharedNet, "rack")
		}
		draw(capcli.SharedStore, "")
		draw(capcli.SharedCPU, simulate.NodeLevel)
		draw(capcli.SharedNet, simulate.NodeLevel)
		var jobs []capcli.Job
		at := int64(0)
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			at += rapid.SampledFrom([]int64{0, 0, 1, 7, 40}).Draw(t, "gap")
			j := capcli.Job{ID: fmt.Sprint("j", i), Tenant: "t", Submit: capcli.Time(at), Deadline: capcli.NoTime, GPUs: rapid.IntRange(1, p.Capacity()).Draw(t, "gpus"), Run: capcli.Seconds(rapid.IntRange(1, 300).Draw(t, "run"))}
			if j.GPUs == 1 && rapid.IntRange(0, 3).Draw(t, "shares") == 0 {
				j.GPUMilli = rapid.SampledFrom([]int{250, 500}).Draw(t, "milli")
			}
			if rapid.IntRange(0, 4).Draw(t, "takes") > 0 {
				j.Uses = &capcli.Uses{}
				for k := range j.Uses {
					if rapid.Bool().Draw(t, "uses") {
						j.Uses[k] = capcli.Use{Each: rapid.Int64Range(1, 40).Draw(t, "each") * 100_000, Share: rapid.SampledFrom([]int64{1_000_000, 1_000_000, 333_333, 250_000}).Draw(t, "share")}
					}
				}
			}
			jobs = append(jobs, j)
		}
		name := rapid.SampledFrom([]string{"fifo", "easy", "conservative", "srtf", "las", "sla-fair", "gang", "critical"}).Draw(t, "policy")
		a := &sharedAuditor{t: t, pool: p, running: map[string]*sharedStay{}, saved: map[string]capcli.Seconds{}, lost: new(big.Rat)}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Pools: []simulate.Pool{p}, List: jobs, Policy: mustPolicy(outer, name), Settings: simulate.Settings{Skip: true, Perfect: true},
			Placement: mustPlacement(outer, "consolidate"), Observers: []simulate.Observer{a},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Jobs.Finished != int64(len(jobs)) {
			t.Fatalf("%d of %d jobs finished", r.Jobs.Finished, len(jobs))
		}
		checkShared(t, r, a)
	})
}

// checkShared checks the figures of a run that has ended.
func checkShared(t *rapid.T, r *simulate.Result, a *sharedAuditor) {
	var used, lost, byJob capcli.GPUTime
	for i := range r.Record.Months {
		for _, h := range r.Record.Months[i].Pools {
			used += h.Used
		}
	}
	if r.Contention == nil {
		if len(a.pool.Shared) > 0 {
			t.Fatal("no figures of contention")
		}
		return
	}
	for _, row := range r.Contention.Rows {
		if lost += row.Lost; row.Lost > 0 && (row.Slowed == 0 || row.Short == 0) || row.Slowed > row.Stays {
			t.Fatalf("%+v", row)
		}
	}
	for _, j := range r.Contention.Jobs {
		byJob += j.Lost
	}
	want, _ := a.lost.Float64()
	rounding := float64(a.stays)/1024 + float64(4*len(a.saved)+64)
	if d := want - float64(lost); d < -rounding || d > rounding || byJob != lost {
		t.Errorf("lost %d, of the jobs %d; the reference says %.1f", lost, byJob, want)
	}
	if rest := r.Redone - lost; used != r.Goodput+r.Redone || rest < -capcli.GPUTime(rounding) || int64(rest) > a.stays+int64(rounding) {
		t.Errorf("held %d, work %d, no progress %d, contention %d: %d stays", used, r.Goodput, r.Redone, lost, a.stays)
	}
}
