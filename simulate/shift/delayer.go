package shift

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"capcli"
	"capcli/simulate"
)

// Rule says which jobs may wait by choice, and how.
type Rule struct {
	Classes, Tenants, Partitions []string       // names of the jobs it is for; empty is any
	MaxRun                       capcli.Seconds // longest believed run of the jobs it is for; 0 is any
	Most                         capcli.Seconds // longest time that a start is put off; Job.Data.Shiftable goes before it
	Policy                       Policy
	Step                         capcli.Seconds // see Ask
	Length                       capcli.Seconds // run time that the choice is made for; 0 is that of the job
	Exact                        bool           // without Length: the true run time, not the one that is believed
	CommittedFirst               bool           // see simulate.Delay; plans with pauses do without
	Signals                      []*Signal      // by pool; nil where nothing changes over time: see signalOf
}

func (r *Rule) matches(j *capcli.Job, believed capcli.Seconds) bool {
	names := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	return names(r.Classes, j.Class) && names(r.Tenants, j.Tenant) && names(r.Partitions, j.Partition) &&
		(r.MaxRun == 0 || believed <= r.MaxRun)
}

// Delayer chooses the starts of a run's jobs. It belongs to one run, and observes it: see Savings.
type Delayer struct {
	rules []Rule // the first that matches a job applies; if none does, the job starts at once
	open  map[int]*account
	sums  []Savings // by rule
	view  *simulate.View
}

// account is a job that matched a rule and has not ended.
type account struct {
	rule    int
	arrived capcli.Time
	most    capcli.Seconds
	plan    []simulate.Part
	done    int64          // values x seconds of its stays
	since   capcli.Seconds // start of the current stay
}

// NewDelayer returns a Delayer with rules.
func NewDelayer(rules []Rule) *Delayer {
	return &Delayer{rules: rules, open: map[int]*account{}, sums: make([]Savings, len(rules))}
}

// signalOf returns the signal that decides for a job: that of the first pool that it may use and that has
// one. It is nil if none has.
func (r *Rule) signalOf(ranks [][]int) *Signal {
	for _, pools := range ranks {
		for _, p := range pools {
			if r.Signals[p] != nil {
				return r.Signals[p]
			}
		}
	}
	return nil
}

// Savings compare what the finished jobs that matched a rule would have cost at once with what they
// cost, in values of the signal times GPU-hours, rounded for each job. AtOnce, Chosen and Least are for
// the true run times, in the pool in which the job ended, and leave waits for capacity aside. Done is
// what the stays of the jobs cost where they ran, with all that they had to do again.
type Savings struct {
	Jobs   int64 // that finished
	AtOnce int64 // had each begun when it arrived
	Chosen int64 // had each run when the policy chose
	Least  int64 // in the cheapest seconds of its slack: no schedule within it costs less
	Done   int64
}

// Delay implements simulate.Delayer.
func (d *Delayer) Delay(l *simulate.Live, now capcli.Time) simulate.Delay {
	for i := range d.rules {
		r := &d.rules[i]
		if !r.matches(&l.Job, l.Believed) {
			continue
		}
		s := r.signalOf(l.Reach().Ranks())
		if s == nil {
			return simulate.Delay{}
		}
		most := r.slack(&l.Job, l.Believed, now)
		plan := r.choose(s, &l.Job, l.Believed, now, most)
		d.open[l.Slot()] = &account{rule: i, arrived: now, most: most, plan: plan}
		return simulate.Delay{Parts: plan, CommittedFirst: r.CommittedFirst && len(plan) == 1}
	}
	return simulate.Delay{}
}

// slack returns how long the start of a job may be put off: what the job or the rule states, and no
// longer than its deadline leaves.
func (r *Rule) slack(j *capcli.Job, believed capcli.Seconds, now capcli.Time) capcli.Seconds {
	most := r.Most
	if j.Data != nil && j.Data.Shiftable > 0 {
		most = j.Data.Shiftable
	}
	if j.Deadline.IsKnown() && j.Deadline != 0 {
		most = min(most, capcli.Seconds(j.Deadline-now)-believed)
	}
	return max(0, most)
}

func (r *Rule) choose(s *Signal, j *capcli.Job, believed capcli.Seconds, now capcli.Time, most capcli.Seconds) []simulate.Part {
	run := cmp.Or(r.Length, believed)
	if r.Exact && r.Length == 0 {
		run = j.Run
	}
	return r.Policy(s, Ask{At: now, Run: max(1, run), Most: most, Step: r.Step})
}

// stretch returns a plan for a job that runs for a time: it ends with its work, and the last part is as
// long as is needed.
func stretch(plan []simulate.Part, run capcli.Seconds) []simulate.Part {
	out := make([]simulate.Part, 0, len(plan))
	for i, p := range plan {
		length := min(run, p.To-p.From)
		if i == len(plan)-1 {
			length = run
		}
		if run -= length; length > 0 {
			out = append(out, simulate.Part{From: p.From, To: p.From + length})
		}
	}
	return out
}

// Watch implements simulate.Watcher.
func (d *Delayer) Watch(v *simulate.View) { d.view = v }

// Observe implements simulate.Observer: it adds up the stays of the jobs.
func (d *Delayer) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Job == nil || len(d.open) == 0 {
		return
	}
	a := d.open[e.Job.Slot()]
	if a == nil {
		return
	}
	switch e.Kind {
	case simulate.Preempt, simulate.Finish:
		start := d.view.Start()
		if s := d.rules[a.rule].Signals[e.Pool]; s != nil {
			a.done += s.Sum(start+capcli.Time(a.since), start+capcli.Time(e.At))
		}
	case simulate.Start:
		a.since = e.Job.Since
	default:
	}
	switch e.Kind {
	case simulate.Finish:
		d.sums[a.rule].add(a, e.Job, d.rules[a.rule].Signals[e.Pool])
		delete(d.open, e.Job.Slot())
	case simulate.Drop:
		delete(d.open, e.Job.Slot())
	default:
	}
}

// add adds a job that has ended in a pool with a signal; nil is a pool in which nothing changes over time.
func (s *Savings) add(a *account, l *simulate.Live, in *Signal) {
	s.Jobs++
	if in == nil {
		return
	}
	own := Ask{At: a.arrived, Run: l.Run, Most: a.most}
	s.AtOnce += hours(own.cost(in, 0), l.Milli())
	s.Chosen += hours(CostOf(in, a.arrived, stretch(a.plan, l.Run)), l.Milli())
	s.Least += hours(CostOf(in, a.arrived, cheapestSeconds(in, own)), l.Milli())
	s.Done += hours(a.done, l.Milli())
}

// hours returns values x seconds of thousandths of GPUs as values x GPU-hours, rounded half up.
func hours(sum, milli int64) int64 {
	hi, lo := bits.Mul64(uint64(sum), uint64(milli))
	lo, carry := bits.Add64(lo, 1_800_000, 0)
	if hi += carry; hi >= 3_600_000 {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, 3_600_000)
	return int64(min(q, math.MaxInt64))
}

// Savings returns the figures of the jobs that have finished, by rule.
func (d *Delayer) Savings() []Savings { return d.sums }

var (
	_ simulate.Delayer  = (*Delayer)(nil)
	_ simulate.Observer = (*Delayer)(nil)
	_ simulate.Watcher  = (*Delayer)(nil)
)
