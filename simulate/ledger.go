package simulate

import (
	"fmt"
	"slices"

	"capcli"
)

// account is the current state of a pool that is paid whole. Capacity counts as offered from delivery on;
// each GPU is used, idle, blocked or down at any time.
type account struct {
	since   capcli.Seconds // time up to which it is accounted
	offered int64          // thousandths of GPUs delivered now
	used    int64          // held by jobs, of offered
	usable  int64          // free on nodes that take work, of offered; the rest is down
	wanted  int64          // thousandths of GPUs wanted by waiting jobs that the pool could serve
	over    int64          // of offered: bought nodes that are gone and still billed
}

// Span is how a pool's capacity was used in one month.
type Span struct {
	Offered capcli.GPUTime `json:"offered_gpu_hours"`
	Used    capcli.GPUTime `json:"used_gpu_hours"`
	Idle    capcli.GPUTime `json:"idle_gpu_hours"`
	Blocked capcli.GPUTime `json:"blocked_gpu_hours"`
	Down    capcli.GPUTime `json:"down_gpu_hours"`
}

// Add adds the figures of o to s.
func (s *Span) Add(o Span) {
	s.Offered += o.Offered
	s.Used += o.Used
	s.Idle += o.Idle
	s.Blocked += o.Blocked
	s.Down += o.Down
}

// Balance fails unless offered = used + idle + blocked + down, exactly.
func (s *Span) Balance() error {
	if sum := s.Used + s.Idle + s.Blocked + s.Down; sum != s.Offered {
		return fmt.Errorf("offered %d but used %d + idle %d + blocked %d + down %d = %d (thousandths of GPU-seconds)",
			s.Offered, s.Used, s.Idle, s.Blocked, s.Down, sum)
	}
	return nil
}

// Use is the GPU time of one tenant in one pool and month.
type Use struct {
	Used   capcli.GPUTime
	Billed capcli.GPUTime // billed time, with minimum billing times and whole machines; equals Used for committed pools
	Spare  capcli.GPUTime // part of Billed: what rounding up to whole machines adds
	Lost   capcli.GPUTime // part of Used: work to be done again, and restarts
}

// Month is one calendar month (UTC) of a record, or a part of a month between
// Record.Cuts.
type Month struct {
	Start capcli.Time
	Since capcli.Time // the last of Record.Cuts at or before Start; Record.Start if there is none
	Pools []Span      // by pool
	Use   [][]Use     // by pool, then tenant

	Tagged [][]Use // part of Use of jobs with tags, by pool, then index in Record.Payers; nil where none ran
}

// Record says who held what, when and on which terms. It is all that billing needs, so a run can be
// priced at other rates without running it again.
type Record struct {
	Start   capcli.Time // time 0 of the run
	Pools   []Pool
	Tenants []string
	Payers  []Payer // jobs with tags, by tenant and tags; nil where no job has tags
	Months  []Month
	Hourly  *Hourly       // the use by clock hour; nil unless Config.Hourly is set
	Cuts    []capcli.Time // times after Start at which months are divided, in order
	Nodes   []BoughtNode  // in order of their orders; nil without pools of bought nodes
	Moves   []Move        // data moved between regions, in order of the first of each; nil if none was
	Stored  []Stored      // copies of data that stayed in regions; nil if none did
}

// ledger builds the record during the run.
type ledger struct {
	rec  Record
	ends []capcli.Seconds // end of each month, since the start
	last int              // month found by the last monthAt
	held []Hold           // parts of the last stay recorded
	over *overTime        // nil unless asked for
}

// monthAt returns the index of the month that contains a time. It adds months up to then.
func (g *ledger) monthAt(at capcli.Seconds) int {
	for len(g.ends) == 0 || at >= g.ends[len(g.ends)-1] {
		g.addMonth()
	}
	if at >= g.start(g.last) && at < g.ends[g.last] {
		return g.last
	}
	m, ends := slices.BinarySearch(g.ends, at)
	if ends {
		m++
	}
	g.last = m
	return m
}

func (g *ledger) start(m int) capcli.Seconds {
	if m == 0 {
		return 0
	}
	return g.ends[m-1]
}

func (g *ledger) addMonth() {
	at := capcli.Seconds(0)
	if n := len(g.ends); n > 0 {
		at = g.ends[n-1]
	}
	start := (g.rec.Start + capcli.Time(at)).Std()
	next := capcli.TimeOf(start.AddDate(0, 1, 1-start.Day()).Truncate(24 * 60 * 60 * 1e9))
	since := g.rec.Start
	for _, cut := range g.rec.Cuts {
		if cut > g.rec.Start+capcli.Time(at) {
			next = min(next, cut)
			break
		}
		since = cut
	}
	g.ends = append(g.ends, capcli.Seconds(next-g.rec.Start))
	g.rec.Months = append(g.rec.Months, Month{
		Start: g.rec.Start + capcli.Time(at), Since: since,
		Pools: make([]Span, len(g.rec.Pools)), Use: make([][]Use, len(g.rec.Pools)),
	})
}

// cut sets the times at which months are divided. Times at or before the start have no effect.
func (g *ledger) cut(at []capcli.Time) {
	for _, t := range at {
		if t > g.rec.Start {
			g.rec.Cuts = append(g.rec.Cuts, t)
		}
	}
	slices.Sort(g.rec.Cuts)
	g.rec.Cuts = slices.Compact(g.rec.Cuts)
}

// eachMonth calls f for each month that [from, to) touches, with the seconds in it.
func (g *ledger) eachMonth(from, to capcli.Seconds, f func(m int, dt int64)) {
	for from < to {
		m := g.monthAt(from)
		end := min(to, g.ends[m])
		f(m, int64(end-from))
		from = end
	}
}

// touch charges the current state of pool p to the record up to now. Call it before
// anything about the pool changes.
func (g *ledger) touch(p int, a *account, now capcli.Seconds) {
	if now <= a.since {
		return
	}
	if a.offered != 0 {
		if g.over != nil {
			g.over.charge(p, a, a.since, now)
		}
		if m := g.monthAt(a.since); now <= g.ends[m] { // nearly always one month; avoids the closure
			a.charge(&g.rec.Months[m].Pools[p], int64(now-a.since))
		} else {
			g.eachMonth(a.since, now, func(m int, dt int64) { a.charge(&g.rec.Months[m].Pools[p], dt) })
		}
	}
	a.since = now
}

// charge adds dt seconds of the current state to s.
func (a *account) charge(s *Span, dt int64) {
	usable := max(0, a.usable) // below 0 while more is held than Pool.Withheld leaves
	blocked := min(usable, a.wanted)
	s.Offered += capcli.GPUTime(a.offered * dt)
	s.Used += capcli.GPUTime(a.used * dt)
	s.Down += capcli.GPUTime((a.offered - a.used - usable - a.over) * dt)
	s.Blocked += capcli.GPUTime(blocked * dt)
	s.Idle += capcli.GPUTime((usable - blocked + a.over) * dt)
}

// use returns the entry of tenant t for pool p in month m.
func (g *ledger) use(m, p, t int) *Use { return useAt(&g.rec.Months[m].Use[p], t) }

// useAt returns element i of a list, which grows to have it.
func useAt(list *[]Use, i int) *Use {
	for len(*list) <= i {
		*list = append(*list, Use{})
	}
	return &(*list)[i]
}

// stay records that tenant t held milli thousandths of GPUs of pool p over [from, to), of which
// lost seconds made no progress. payer is the number of its job's tags, from 1; 0 is none. In an elastic pool the stay also counts as offered, and the rest
// of the minimum billing time and of the last machine as idle. It returns the stay divided at Record.Cuts, valid until the
// next call.
func (g *ledger) stay(p, t, payer int, milli int64, from, to, lost capcli.Seconds) []Hold {
	pool := &g.rec.Pools[p]
	spare := pool.spare(milli)
	g.held = g.held[:0]
	g.eachMonth(from, to, func(m int, dt int64) {
		u := g.use(m, p, t)
		d, more := capcli.GPUTime(milli*dt), capcli.GPUTime(spare*dt)
		u.Used += d
		u.Billed += d + more
		u.Spare += more
		g.hold(m, p).add(d, d+more)
		if !pool.PaidWhole() {
			s := &g.rec.Months[m].Pools[p]
			s.Offered += d + more
			s.Used += d
			s.Idle += more
		}
	})
	if payer > 0 {
		g.tagged(p, payer-1, milli, from, to, lost)
	}
	if g.rec.Hourly != nil {
		g.rec.Hourly.stay(p, t, milli, spare, from, to)
	}
	if lost > 0 {
		g.use(g.monthAt(max(from, to-1)), p, t).Lost += capcli.GPUTime(milli * int64(lost))
	}
	if rest := pool.unheld(to - from); rest > 0 {
		d, more := capcli.GPUTime((milli+spare)*int64(rest)), capcli.GPUTime(spare*int64(rest))
		m := g.monthAt(to)
		u := g.use(m, p, t)
		u.Billed += d
		u.Spare += more
		g.rec.Months[m].Pools[p].Offered += d
		g.rec.Months[m].Pools[p].Idle += d
		g.hold(m, p).add(0, d)
		if g.rec.Hourly != nil {
			g.rec.Hourly.rest(p, t, to, d-more, more)
		}
		if g.over != nil {
			g.over.addMinimum(p, to, d)
		}
	}
	return g.held
}

// hold returns the part of the current stay to which month m belongs.
func (g *ledger) hold(m, p int) *Hold {
	since := g.rec.Months[m].Since
	if n := len(g.held); n == 0 || g.held[n-1].Since != since {
		g.held = append(g.held, Hold{Pool: p, Since: since})
	}
	return &g.held[len(g.held)-1]
}

// check compares two accounts: held capacity integrated over time, and the sum of all stays. It
// also checks that no job was lost.
func (r *Record) check(c *Counts) error {
	if sum := c.Finished + c.Waiting + c.Starting + c.Running + c.Unplaceable + c.Dropped + c.Cancelled + c.CPUOnly; sum != c.Read {
		return &AccountError{fmt.Sprintf("read %d jobs, but finished %d + waiting %d + starting %d + running %d + unplaceable %d + dropped %d + cancelled %d + without GPU %d = %d",
			c.Read, c.Finished, c.Waiting, c.Starting, c.Running, c.Unplaceable, c.Dropped, c.Cancelled, c.CPUOnly, sum)}
	}
	for m := range r.Months {
		for p := range r.Months[m].Pools {
			s := &r.Months[m].Pools[p]
			if err := s.Balance(); err != nil {
				return &AccountError{fmt.Sprintf("pool %s, month from %s: %v", r.Pools[p].Name, r.Months[m].Start, err)}
			}
			var sum capcli.GPUTime
			for _, u := range r.Months[m].Use[p] {
				sum += u.Used
			}
			if sum != s.Used {
				return &AccountError{fmt.Sprintf("pool %s, month from %s: tenants held %d, the pool says %d (thousandths of GPU-seconds)",
					r.Pools[p].Name, r.Months[m].Start, sum, s.Used)}
			}
			if err := r.checkTagged(m, p); err != nil {
				return err
			}
		}
	}
	if err := r.checkNodes(); err != nil {
		return err
	}
	return r.Hourly.check(r)
}

// AccountError says that the accounts do not balance, which is a bug in capcli.
type AccountError struct{ Text string }

func (e *AccountError) Error() string { return "accounts do not balance: " + e.Text }
