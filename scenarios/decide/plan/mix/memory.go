package mix

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate"
)

// Memory keeps parts of a plan that are costly to compute: simulations, and what the jobs of a run
// say about bounds. A part depends on its key alone, so a plan that asks again under other limits or
// prices computes none of them again. Several goroutines may use a Memory at once.
type Memory interface {
	// Load returns the part with a key; false where there is none.
	Load(key string) ([]byte, bool)
	// Store keeps a part. What cannot be kept is computed again.
	Store(key string, part []byte)
}

// recall returns the part with a key from m, or computes it and keeps it. The key gets the kind of
// the part. A part that cannot be read is computed again. m may be nil.
func recall[T any](m Memory, key string, compute func() (T, error)) (T, error) {
	if m == nil {
		return compute()
	}
	if b, ok := m.Load(key); ok {
		var kept T
		if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&kept); err == nil {
			return kept, nil
		}
	}
	fresh, err := compute()
	if err != nil {
		return fresh, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&fresh); err == nil {
		m.Store(key, b.Bytes())
	}
	return fresh, nil
}

// availableWithin lists waits for which a kept simulation knows the availability, so that another
// limit on waits needs no other simulation.
var availableWithin = []capcli.Seconds{
	0, capcli.Minute, 5 * capcli.Minute, 10 * capcli.Minute, 15 * capcli.Minute, 20 * capcli.Minute, 30 * capcli.Minute, 45 * capcli.Minute,
	capcli.Hour, 2 * capcli.Hour, 3 * capcli.Hour, 4 * capcli.Hour, 6 * capcli.Hour, 8 * capcli.Hour, 12 * capcli.Hour, capcli.Day, 2 * capcli.Day, 7 * capcli.Day,
}

// simulated is a simulation as a Memory keeps it: a result without its single waits, and the
// availability within some times.
type simulated struct {
	Result *simulate.Result
	Shares []available
}

// available is the share of jobs that started within a time; Counts is false where no job counts.
type available struct {
	Within capcli.Seconds
	Share  float64
	Counts bool
}

// availability returns the availability within a time; nil where no job counts.
func (s *simulated) availability(within capcli.Seconds) *float64 {
	for i := range s.Shares {
		if a := &s.Shares[i]; a.Within == within && a.Counts {
			return &a.Share
		}
	}
	return nil
}

// simulatedOf returns a result with its availability within some times.
func simulatedOf(res *simulate.Result, within ...capcli.Seconds) *simulated {
	s := &simulated{Result: res}
	for _, w := range within {
		share, counts := res.Availability(w)
		s.Shares = append(s.Shares, available{w, share, counts})
	}
	return s
}

// simulate returns the simulation of candidate c in a run. It is in the problem's memory unless the
// run may be abandoned, or its record has hours.
func (p *Problem) simulate(ctx context.Context, c *Candidate, run int, lost loss) (*simulated, error) {
	within, key := []capcli.Seconds{p.Within}, fmt.Sprint("run|", p.Jobset, "|", c.Key, "|", run)
	if p.Memory != nil {
		if slices.Contains(availableWithin, p.Within) {
			within = availableWithin
		} else {
			key += fmt.Sprint("|", p.Within)
		}
	}
	fresh := func() (*simulated, error) {
		res, err := p.run(ctx, c, run, lost)
		if err != nil {
			return nil, err
		}
		return simulatedOf(res, within...), nil
	}
	if p.Memory == nil || lost.known || c.Invoice != nil || p.tariff != nil {
		return fresh()
	}
	return recall(p.Memory, key, fresh)
}

// rulesKept is what bounds need of the windows of a run, without the windows.
type rulesKept struct {
	Until, Arrived, Ended, Longest capcli.Seconds
	Peak, All                      int64
	Models                         []string
	Why                            string
	Over                           []capcli.GPUTime // see smooth.table; nil where Why is not ""
}

// toKeep returns r as a Memory keeps it. It fails with errTooHigh.
func (r *ruled) toKeep() (*rulesKept, error) {
	p := r.promised
	k := &rulesKept{Until: p.until, Arrived: p.arrived, Ended: p.ended, Longest: p.longest, Peak: p.peak, All: p.all, Models: p.models, Why: p.why}
	if r.smooth == nil {
		return k, nil
	}
	var err error
	k.Over, err = r.smooth.table()
	return k, err
}

// ruled returns k as it was computed, without its windows.
func (k *rulesKept) ruled() *ruled {
	r := &ruled{promised: &promised{until: k.Until, arrived: k.Arrived, ended: k.Ended, longest: k.Longest, peak: k.Peak, all: k.All, models: k.Models, why: k.Why}}
	if k.Why == "" {
		r.smooth = &smooth{over: k.Over}
	}
	return r
}

// tableMost is the most GPUs of a curve that is kept as a table.
const tableMost = 1 << 18

// errTooHigh means that a curve has too many GPUs to be kept.
var errTooHigh = errors.New("the curve is too high to be kept")

// table returns workOver of each whole number of GPUs up to the first that leaves nothing over. It
// fails with errTooHigh.
func (s *smooth) table() ([]capcli.GPUTime, error) {
	n := s.peak()
	if n > tableMost {
		return nil, errTooHigh
	}
	out := make([]capcli.GPUTime, n+1)
	for k := range out {
		out[k] = s.workOver(int64(k))
	}
	return out, nil
}

// curveKept is the smooth curve of some windows as a Memory keeps it.
type curveKept struct {
	Over    []capcli.GPUTime
	Time    capcli.Seconds // for which committed GPUs are paid
	Longest capcli.Seconds // longest wait of any job
}

// loosest returns the smooth curve of the jobs of a run in the loosest of the windows that some
// configurations give them. keys are the ruleKeys of the configurations, v weighs the models of GPUs, and of is the jobs that
// count.
func (b *bounds) loosest(run int, keys []string, list []*simulate.Config, v worths, of part) (*smooth, *curveKept, error) {
	var fresh *smooth
	var time, longest capcli.Seconds
	kept, err := recall(b.p.Memory, "loose|"+b.p.Jobset+"|"+strings.Join(keys, "|")+v.key()+of.key, func() (*curveKept, error) {
		jobs, err := b.p.Jobs(run)
		if err != nil {
			return nil, err
		}
		var all *promised
		for _, cfg := range list {
			all = all.loosened(promises(cfg, of.filter(jobs), v))
		}
		fresh, time, longest = newSmooth(all.windows, all.end()), cmp.Or(all.until, all.ended), all.longest
		k := &curveKept{Time: time, Longest: longest}
		if b.p.Memory != nil {
			k.Over, err = fresh.table()
		}
		return k, err
	})
	switch {
	case errors.Is(err, errTooHigh):
		return fresh, &curveKept{Time: time, Longest: longest}, nil
	case err != nil:
		return nil, nil, err
	case fresh != nil:
		return fresh, kept, nil
	}
	return &smooth{over: kept.Over}, kept, nil
}

// neededKept is the time for which jobs would hold each number of GPUs or more if none waited, from
// 0 GPUs on, and the length of the run.
type neededKept struct {
	Times  []capcli.Seconds
	Length capcli.Seconds
}

// needed returns the times at which s is at each number of GPUs. It fails with errTooHigh.
func (s *smooth) needed(length capcli.Seconds) (*neededKept, error) {
	n := s.peak()
	if n > tableMost {
		return nil, errTooHigh
	}
	k := &neededKept{Length: length}
	for g := range n + 1 {
		k.Times = append(k.Times, s.timeAt(g))
	}
	return k, nil
}

// timeAt returns the time for which the jobs would hold at least so many GPUs.
func (k *neededKept) timeAt(gpus int64) capcli.Seconds {
	if gpus < int64(len(k.Times)) {
		return k.Times[gpus]
	}
	return 0
}

// undoneKept is an undone as a Memory keeps it.
type undoneKept struct {
	Work, Possible capcli.GPUTime
	All            beyondKept
	Kinds          []beyondKept
}

type beyondKept struct {
	Work  capcli.GPUTime
	Pools []int
}

func (u *undone) toKeep() *undoneKept {
	k := &undoneKept{Work: u.work, Possible: u.possible, All: beyondKept{u.all.work, u.all.pools}}
	for _, b := range u.kinds {
		k.Kinds = append(k.Kinds, beyondKept{b.work, b.pools})
	}
	return k
}

func (k *undoneKept) undone() undone {
	u := undone{work: k.Work, possible: k.Possible, all: beyond{k.All.Work, k.All.Pools}}
	for _, b := range k.Kinds {
		u.kinds = append(u.kinds, beyond{b.Work, b.Pools})
	}
	return u
}

// jobset names the jobs of the runs: what they depend on beside the files that the request's Inputs
// names. It is "" where the jobs are made up.
func (p *Planner) jobset() (string, error) {
	c := p.req.Case
	if !c.FromLog() {
		return "", nil
	}
	s := c.Scenario
	own, err := json.Marshal([]any{s.Jobs, s.Shapes, s.Speed, s.Workflows})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s|%d|%t|%s|%s", p.req.Inputs, c.Seed, p.ahead != nil, own, c.Scenario.Period), nil
}
