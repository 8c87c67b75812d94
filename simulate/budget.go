package simulate

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"capcli"
)

// Budget is the GPU time, or the money, that a tenant, with the tenants below it, may use in each
// period. What runs on spot pools does not count. When it is spent, Then says what happens:
//
//   - WaitForPeriod: no job starts until the next period; running jobs go on. The budget is passed
//     by at most what these need.
//   - StopJobs: as WaitForPeriod, and running jobs are preempted. The budget is passed by less than
//     a second of what they hold.
//   - UseSpot: jobs start on spot pools alone, whatever their patience; running jobs go on.
//   - AskApproval: as WaitForPeriod, until the budget of this period is approved to be passed: Approval
//     after the first job that it held back. From then on it holds nothing back in this period.
//
// With Reserve a job starts only if what was spent, what the running jobs still need in the period
// and what the job needs in it are within the budget, by their estimates (as Slurm's "safe" and the
// liens of Gold). If no job outruns its estimate, the budget is not passed.
//
// A job uses money at the price of its pool when it starts, Config.Charges, for all of its stay. With
// Reserve a waiting job counts at the highest price of the pools that it may start in, apart from spot.
type Budget struct {
	GPUTime  capcli.GPUTime
	Money    capcli.USD // in place of GPUTime, which is 0 then
	Every    Every
	Then     WhenSpent
	Approval capcli.Seconds // of AskApproval
	Reserve  bool
}

// perDollarUnit is the GPU time, in thousandths of GPU-seconds, for which a Rate is.
const perDollarUnit = 1000 * int64(capcli.Hour)

// limit returns the amount of a period: thousandths of GPU-seconds, or millionths of a dollar.
func (b *Budget) limit() int64 {
	if b.Money > 0 {
		return int64(b.Money)
	}
	return int64(b.GPUTime)
}

// WhenSpent says what happens when a budget is spent.
type WhenSpent uint8

// The rules of a spent budget.
const (
	WaitForPeriod WhenSpent = iota
	StopJobs
	UseSpot
	AskApproval
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

// purse is the state of a budget. Amounts are thousandths of GPU-seconds, or millionths of a dollar.
type purse struct {
	start    capcli.Time    // time 0 of the run
	since    capcli.Seconds // time up to which spent is known
	ends     capcli.Seconds // end of the period
	spent    int64          // in this period
	part     uint64         // of money: the fraction of spent, in perDollarUnit-ths
	rate     int64          // thousandths of GPUs held outside of spot pools; of money, times their prices
	refused  bool           // whether a job was refused in this period
	approved capcli.Seconds // when the period's budget may be passed; noDue where nobody was asked
	charges  func(pool int, at capcli.Time) capcli.Rate
	spotPool func(pool int) bool
	periods  []BudgetPeriod
}

// BudgetPeriod is what a tenant spent of its budget in one period.
type BudgetPeriod struct {
	Tenant string         `json:"tenant"`
	Start  capcli.Time    `json:"start"` // the later of the period's start and the run's
	Budget capcli.GPUTime `json:"budget_gpu_hours"`
	Spent  capcli.GPUTime `json:"spent_gpu_hours"`
	Money  *MoneySpent    `json:"money,omitempty"` // of a budget of money, whose GPU time is 0
	Stops  int64          `json:"stops"`           // jobs preempted because it was spent
	// Approved is when the budget was approved to be passed; nil where it was not.
	Approved *capcli.Time `json:"approved,omitempty"`
}

// MoneySpent is what was spent of a budget of money in one period.
type MoneySpent struct {
	Budget capcli.USD `json:"budget_usd"`
	Spent  capcli.USD `json:"spent_usd"`
}

// open begins the accounts of a budget at the start of the run.
func (a *allowance) open(start capcli.Time) {
	a.start = start
	a.begin(0)
}

func (a *allowance) begin(at capcli.Seconds) {
	now := a.start + capcli.Time(at)
	a.spent, a.part, a.refused, a.approved = 0, 0, false, noDue
	a.ends = capcli.Seconds(a.budget.Every.end(now) - a.start)
	p := BudgetPeriod{Tenant: a.name, Start: now, Budget: a.budget.GPUTime}
	if a.budget.Money > 0 {
		p.Money = &MoneySpent{Budget: a.budget.Money}
	}
	a.periods = append(a.periods, p)
}

// accrue brings the spent amount up to now.
func (a *allowance) accrue(now capcli.Seconds) {
	for {
		until := min(now, a.ends)
		more, part := a.amount(a.rate, until-a.since, a.part)
		a.spent, a.part, a.since = a.spent+more, part, until
		if p := &a.periods[len(a.periods)-1]; p.Money != nil {
			p.Money.Spent = capcli.USD(a.spent)
		} else {
			p.Spent = capcli.GPUTime(a.spent)
		}
		if now < a.ends {
			return
		}
		a.begin(a.ends)
	}
}

// amount returns what is spent at a rate in a length of time, and its fraction. part is a fraction that
// is added.
func (a *allowance) amount(rate int64, length capcli.Seconds, part uint64) (whole int64, rest uint64) {
	if a.budget.Money == 0 {
		return rate * int64(length), 0
	}
	hi, lo := bits.Mul64(uint64(rate), uint64(length))
	lo, carry := bits.Add64(lo, part, 0)
	q, rest := bits.Div64(hi+carry, lo, uint64(perDollarUnit))
	return int64(q), rest
}

// rateIn returns the rate at which l spends if it starts in pool p at a time.
func (a *allowance) rateIn(l *Live, p int, at capcli.Seconds) int64 {
	if a.budget.Money == 0 {
		return l.Milli()
	}
	return l.Milli() * int64(a.charges(p, a.start+capcli.Time(at)))
}

// rateIfStarted returns the highest rate at which the waiting job l could spend if it started now.
func (a *allowance) rateIfStarted(l *Live, now capcli.Seconds) int64 {
	if a.budget.Money == 0 {
		return l.Milli()
	}
	var price capcli.Rate
	for _, pools := range l.class.ranks {
		for _, p := range pools {
			if !a.spotPool(p) {
				price = max(price, a.charges(p, a.start+capcli.Time(now)))
			}
		}
	}
	return l.Milli() * int64(price)
}

// isSpent reports whether nothing of the budget is left.
func (a *allowance) isSpent(now capcli.Seconds) bool {
	a.accrue(now)
	return a.spent >= a.budget.limit()
}

// affords reports whether the budget lets the waiting job l start on pools that count.
func (a *allowance) affords(l *Live, now capcli.Seconds) bool {
	ok := !a.isSpent(now)
	if now >= a.approved {
		return true
	}
	if ok && a.budget.Reserve {
		need := a.spent + a.needInPeriod(l, a.rateIfStarted(l, now), now)
		for _, r := range a.running {
			if !r.spot {
				need += a.needInPeriod(r.Live, r.rate, now)
			}
		}
		ok = need <= a.budget.limit()
	}
	if !ok {
		a.refuse(now)
	}
	return ok
}

// refuse notes that a job is held back, and asks for approval where that is the rule.
func (a *allowance) refuse(now capcli.Seconds) {
	a.refused = true
	if a.budget.Then == AskApproval && a.approved == noDue {
		a.approved = now + a.budget.Approval
		if a.approved < a.ends {
			at := a.start + capcli.Time(a.approved)
			a.periods[len(a.periods)-1].Approved = &at
		}
	}
}

// needInPeriod returns what l spends at a rate in the period from now on, by its estimate, rounded up.
func (a *allowance) needInPeriod(l *Live, rate int64, now capcli.Seconds) int64 {
	need, rest := a.amount(rate, min(l.LeftBelieved(now), a.ends-now), 0)
	if rest > 0 {
		need++
	}
	return need
}

// neverAffords returns why no period's budget is enough for d; "" if one may be. A period is taken
// as the longest of its kind. spot reports whether l may use a spot pool. Prices may change, so that
// it says nothing of money.
func (a *allowance) neverAffords(d demand, spot bool) string {
	if !a.budget.Reserve || a.budget.Then == UseSpot && spot || a.budget.Then == AskApproval || a.budget.Money > 0 {
		return ""
	}
	longest := [...]capcli.Seconds{1, 7, 31, 92, 366}[a.budget.Every] * capcli.Day
	need := capcli.GPUTime(int64(min(d.left, longest)) * d.milli)
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
		at = a.runsOut(now)
	}
	if a.refused {
		at = min(at, a.ends)
		if a.approved > now {
			at = min(at, a.approved)
		}
	}
	return at
}

// runsOut returns the first second at which the budget is spent at the present rate.
func (a *allowance) runsOut(now capcli.Seconds) capcli.Seconds {
	left := a.budget.limit() - a.spent
	if left <= 0 {
		return now + 1
	}
	per := uint64(1)
	if a.budget.Money > 0 {
		per = uint64(perDollarUnit)
	}
	hi, lo := bits.Mul64(uint64(left), per)
	lo, borrow := bits.Sub64(lo, a.part, 0)
	hi -= borrow
	if hi >= uint64(a.rate) {
		return noDue
	}
	length, rest := bits.Div64(hi, lo, uint64(a.rate))
	if rest > 0 {
		length++
	}
	if length > uint64(noDue-now) {
		return noDue
	}
	return now + capcli.Seconds(length)
}

// enforce preempts the running jobs of a tenant whose budget is spent, if its rule says so.
func (g *gate) enforce(a *allowance) {
	if a.budget.Then != StopJobs || !a.isSpent(g.e.c.now) {
		return
	}
	for _, r := range slices.Clone(a.running) {
		if r.spot {
			continue
		}
		l := r.Live
		a.periods[len(a.periods)-1].Stops++
		g.e.meter.stops++
		g.e.evict(l, false)
		g.e.enqueue(l)
		g.e.planPatience(l)
	}
}

// degrade starts jobs of tenants whose budgets are spent on spot pools, in the queue's order, if
// their rule says so.
func (g *gate) degrade(q *queue) {
	if !slices.ContainsFunc(g.all, func(a *allowance) bool {
		return a.budget != nil && a.budget.Then == UseSpot && a.refused
	}) {
		return
	}
	for en := range q.list.All() {
		l := en.Value.job
		if l.state != waiting || l.heldBack || l.resting || !l.mayDegrade(g.e.c.now) {
			continue
		}
		if s := g.findSpot(l); len(s) > 0 {
			g.e.start(l, s)
		}
	}
	g.e.turn.sweep()
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
func (g *gate) findSpot(l *Live) []Slice {
	for _, pools := range l.class.ranks {
		g.e.others = g.e.others[:0]
		for _, p := range pools {
			if g.e.c.pools[p].Terms == Spot && g.e.guard.admits(l, p) {
				g.e.others = append(g.e.others, p)
			}
		}
		if len(g.e.others) == 0 {
			continue
		}
		if s := g.e.findIn(g.e.c, l, g.e.others); len(s) > 0 {
			return s
		}
	}
	return nil
}

// budgets returns what was spent of each budget, by tenant and period.
func (g *gate) budgets() (out []BudgetPeriod) {
	for _, a := range g.all {
		if a.budget != nil {
			a.accrue(g.e.c.now)
			for _, p := range a.periods {
				if p.Approved != nil && *p.Approved > a.start+capcli.Time(g.e.c.now) {
					p.Approved = nil // the run ended before
				}
				out = append(out, p)
			}
		}
	}
	return out
}
