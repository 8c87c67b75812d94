package simulate

import (
	"fmt"
	"slices"
	"time"

	"capcli"
)

// Budget is the GPU time that a tenant, with the tenants below it, may use in each period. GPU time
// on spot pools does not count. When it is spent, Then says what happens:
//
//   - WaitForPeriod: no job starts until the next period; running jobs go on. The budget is passed
//     by at most what these need.
//   - StopJobs: as WaitForPeriod, and running jobs are preempted. The budget is passed by less than
//     a second of what they hold.
//   - UseSpot: jobs start on spot pools alone, whatever their patience; running jobs go on.
//
// With Reserve a job starts only if what was spent, what the running jobs still need in the period
// and what the job needs in it are within the budget, by their estimates (as Slurm's "safe" and the
// liens of Gold). If no job outruns its estimate, the budget is not passed.
type Budget struct {
	GPUTime capcli.GPUTime
	Every   Every
	Then    WhenSpent
	Reserve bool
}

// WhenSpent says what happens when a budget is spent.
type WhenSpent uint8

// The rules of a spent budget.
const (
	WaitForPeriod WhenSpent = iota
	StopJobs
	UseSpot
)

// Every is a period of the calendar, in UTC.
type Every uint8

// The periods. A week begins on Monday.
const (
	Daily Every = iota
	Weekly
	Monthly
	Quarterly
	Yearly
)

// end returns the end of the period that contains at.
func (v Every) end(at capcli.Time) capcli.Time {
	t := at.Std().UTC()
	y, m, d := t.Date()
	switch v {
	case Daily:
		d++
	case Weekly:
		d += 7 - (int(t.Weekday())+6)%7
	case Monthly:
		m, d = m+1, 1
	case Quarterly:
		m, d = m-(m-1)%3+3, 1
	case Yearly:
		y, m, d = y+1, 1, 1
	}
	return capcli.TimeOf(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
}

// purse is the state of a budget.
type purse struct {
	start   capcli.Time    // time 0 of the run
	since   capcli.Seconds // time up to which spent is known
	ends    capcli.Seconds // end of the period
	spent   capcli.GPUTime // in this period
	rate    int64          // thousandths of GPUs held outside of spot pools
	refused bool           // whether a job was refused in this period
	periods []BudgetPeriod
}

// BudgetPeriod is what a tenant spent of its budget in one period.
type BudgetPeriod struct {
	Tenant string         `json:"tenant"`
	Start  capcli.Time    `json:"start"` // the later of the period's start and the run's
	Budget capcli.GPUTime `json:"budget_gpu_hours"`
	Spent  capcli.GPUTime `json:"spent_gpu_hours"`
	Stops  int64          `json:"stops"` // jobs preempted because it was spent
}

// open begins the accounts of a budget at the start of the run.
func (a *allowance) open(start capcli.Time) {
	a.start = start
	a.begin(0)
}

// begin begins a period at a time.
func (a *allowance) begin(at capcli.Seconds) {
	now := a.start + capcli.Time(at)
	a.spent, a.refused = 0, false
	a.ends = capcli.Seconds(a.budget.Every.end(now) - a.start)
	a.periods = append(a.periods, BudgetPeriod{Tenant: a.name, Start: now, Budget: a.budget.GPUTime})
}

// accrue brings the spent time up to now.
func (a *allowance) accrue(now capcli.Seconds) {
	for {
		until := min(now, a.ends)
		a.spent += capcli.GPUTime(a.rate * int64(until-a.since))
		a.since = until
		a.periods[len(a.periods)-1].Spent = a.spent
		if now < a.ends {
			return
		}
		a.begin(a.ends)
	}
}

// isSpent reports whether nothing of the budget is left.
func (a *allowance) isSpent(now capcli.Seconds) bool {
	a.accrue(now)
	return a.spent >= a.budget.GPUTime
}

// affords reports whether the budget lets the waiting job l start on pools that count.
func (a *allowance) affords(l *Live, now capcli.Seconds) bool {
	ok := !a.isSpent(now)
	if ok && a.budget.Reserve {
		need := a.spent + a.needInPeriod(l, now)
		for _, r := range a.running {
			if !r.onSpot {
				need += a.needInPeriod(r, now)
			}
		}
		ok = need <= a.budget.GPUTime
	}
	if !ok {
		a.refused = true
	}
	return ok
}

// needInPeriod returns the GPU time that l needs in the period from now on, by its estimate.
func (a *allowance) needInPeriod(l *Live, now capcli.Seconds) capcli.GPUTime {
	return capcli.GPUTime(int64(min(l.LeftBelieved(now), a.ends-now)) * l.Milli())
}

// neverAffords returns why no period's budget is enough for l; "" if one may be. A period is taken
// as the longest of its kind. spot reports whether l may use a spot pool.
func (a *allowance) neverAffords(l *Live, spot bool) string {
	if !a.budget.Reserve || a.budget.Then == UseSpot && spot {
		return ""
	}
	longest := [...]capcli.Seconds{1, 7, 31, 92, 366}[a.budget.Every] * capcli.Day
	need := capcli.GPUTime(int64(min(l.LeftBelieved(0), longest)) * l.Milli())
	if need <= a.budget.GPUTime {
		return ""
	}
	return fmt.Sprintf("needs %.1f GPU-hours by its limit, the budget of %s is %.1f", need.Hours(), a.name, a.budget.GPUTime.Hours())
}

// nextChange returns the next time at which the budget runs out while it stops jobs, or at which a
// new period lets jobs start.
func (a *allowance) nextChange(now capcli.Seconds) capcli.Seconds {
	a.accrue(now)
	at := noDue
	if a.budget.Then == StopJobs && a.rate > 0 {
		if rest := a.budget.GPUTime - a.spent; rest > 0 {
			at = now + capcli.Seconds((int64(rest)+a.rate-1)/a.rate)
		} else {
			at = now + 1
		}
	}
	if a.refused {
		at = min(at, a.ends)
	}
	return at
}

// enforce preempts the running jobs of a tenant whose budget is spent, if its rule says so.
func (e *engine) enforce(a *allowance) {
	if a.budget.Then != StopJobs || !a.isSpent(e.c.now) {
		return
	}
	for _, l := range slices.Clone(a.running) {
		if l.onSpot {
			continue
		}
		a.periods[len(a.periods)-1].Stops++
		e.meter.stops++
		e.evict(l, false)
		e.enqueue(l)
		e.planPatience(l)
	}
}

// degrade starts jobs of tenants whose budgets are spent on spot pools, in the queue's order, if
// their rule says so.
func (e *engine) degrade(q *queue) {
	if !slices.ContainsFunc(e.gate.all, func(a *allowance) bool {
		return a.budget != nil && a.budget.Then == UseSpot && a.refused
	}) {
		return
	}
	for en := range q.list.All() {
		l := en.Value.job
		if l.state != waiting || l.heldBack || l.resting || !l.mayDegrade(e.c.now) {
			continue
		}
		if s := e.findSpot(l); len(s) > 0 {
			e.start(l, s)
		}
	}
	e.turn.sweep()
}

// mayDegrade reports whether a spent budget sends l to spot pools, and its caps let it start.
func (l *Live) mayDegrade(now capcli.Seconds) (spent bool) {
	if q := l.tenant.Quota; q > 0 && l.tenant.used+l.GPUs > q {
		return false
	}
	for _, a := range l.allowances {
		if !a.capsAllow(l, now) {
			return false
		}
		if a.budget != nil && !a.affords(l, now) {
			if a.budget.Then != UseSpot {
				return false
			}
			spent = true
		}
	}
	return spent
}

// findSpot returns room for l in the spot pools that it may use.
func (e *engine) findSpot(l *Live) []Slice {
	for _, pools := range l.class.ranks {
		e.others = e.others[:0]
		for _, p := range pools {
			if e.c.pools[p].Terms == Spot && (e.guard == nil || e.admits(l, p)) {
				e.others = append(e.others, p)
			}
		}
		if len(e.others) == 0 {
			continue
		}
		if s := e.findIn(e.c, l, e.others); len(s) > 0 {
			return s
		}
	}
	return nil
}

// budgets returns what was spent of each budget, by tenant and period.
func (e *engine) budgets() (out []BudgetPeriod) {
	if e.gate == nil {
		return nil
	}
	for _, a := range e.gate.all {
		if a.budget != nil {
			a.accrue(e.c.now)
			out = append(out, a.periods...)
		}
	}
	return out
}
