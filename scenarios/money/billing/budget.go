package billing

import (
	"cmp"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate"
)

// BudgetPeriod is the calendar period (UTC) of a budget.
type BudgetPeriod uint8

// The periods.
const (
	Monthly BudgetPeriod = iota
	Quarterly
	Yearly
)

var budgetPeriodNames = [...]string{"monthly", "quarterly", "yearly"}

// String returns the period as files write it.
func (p BudgetPeriod) String() string { return budgetPeriodNames[p] }

func (p BudgetPeriod) months() int { return [...]int{1, 3, 12}[p] }

// Budget is the most that may be spent in each period.
type Budget struct {
	Every   BudgetPeriod
	Amount  capcli.USD // for all tenants together; 0 means no such budget
	Tenants []TenantBudget
	Cash    bool // true counts invoiced cost; false counts amortised cost
}

// TenantBudget is the most that one tenant may spend in each period.
type TenantBudget struct {
	Name   string
	Amount capcli.USD
}

// Spend is a cost that accrues evenly over [Start, End), or at Start where the two are the
// same. Two costs of one payer have the same times or do not overlap.
type Spend struct {
	Start, End capcli.Time
	Tenant     string
	Cost       capcli.USD
}

// alertPercents are the percentages of a budget at which an alert is raised.
var alertPercents = [3]int{80, 100, 120}

// BudgetLine is one payer in one period of a budget.
type BudgetLine struct {
	Period string      `json:"period"` // monthly, quarterly or yearly
	Tenant *string     `json:"tenant"` // nil means all tenants together
	Start  capcli.Time `json:"start"`
	End    capcli.Time `json:"-"`
	Budget capcli.USD  `json:"budget_usd"`
	Spent  capcli.USD  `json:"spent_usd"`
	Share  float64     `json:"share_of_budget"`
	Alerts
}

// Alerts are the times at which each of alertPercents of a budget was reached; capcli.NoTime
// where it was not.
type Alerts struct {
	At80  capcli.Time `json:"reached_80_pct"`
	At100 capcli.Time `json:"reached_100_pct"`
	At120 capcli.Time `json:"reached_120_pct"`
}

// noAlerts is the value of Alerts where none was raised.
var noAlerts = Alerts{capcli.NoTime, capcli.NoTime, capcli.NoTime}

func (a *Alerts) list() [3]*capcli.Time { return [3]*capcli.Time{&a.At80, &a.At100, &a.At120} }

// Follow compares costs with the budget. It returns a line for the whole and for each tenant
// with a budget, for each period with a cost: by period, the whole first, then the tenants in
// the budget's order. An alert is raised in the first second in which the running sum of the
// period reaches its percentage. It fails with capcli.ErrOverflow.
func (b *Budget) Follow(spend []Spend) ([]BudgetLine, error) {
	var payers []BudgetLine
	if b.Amount > 0 {
		payers = append(payers, BudgetLine{Budget: b.Amount})
	}
	for i := range b.Tenants {
		payers = append(payers, BudgetLine{Tenant: &b.Tenants[i].Name, Budget: b.Tenants[i].Amount})
	}
	var out []BudgetLine
	for _, payer := range payers {
		lines, err := b.follow(merged(spend, payer.Tenant), payer)
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	slices.SortStableFunc(out, func(a, b BudgetLine) int { return cmp.Compare(a.Start, b.Start) })
	return out, nil
}

// merged returns the costs of a tenant in order, with those at the same times summed. A nil
// tenant means all tenants.
func merged(spend []Spend, tenant *string) []Spend {
	out := slices.DeleteFunc(slices.Clone(spend), func(s Spend) bool { return s.Cost == 0 || tenant != nil && s.Tenant != *tenant })
	slices.SortFunc(out, func(a, b Spend) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), strings.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Cost, b.Cost))
	})
	return sumRuns(out, func(a, b *Spend) bool { return a.Start == b.Start && a.End == b.End }, func(sum, s *Spend) { sum.Cost += s.Cost })
}

func (b *Budget) follow(spend []Spend, line BudgetLine) ([]BudgetLine, error) {
	var out []BudgetLine
	if len(spend) == 0 {
		return nil, nil
	}
	var last capcli.Time
	for i := range spend {
		last = max(last, spend[i].End-1, spend[i].Start)
	}
	for at := b.begin(spend[0].Start); at <= last; at = addMonths(at, b.Every.months()) {
		l := line
		l.Period, l.Start, l.End = b.Every.String(), at, addMonths(at, b.Every.months())
		l.Alerts = noAlerts
		any := false
		for i := range spend {
			met, err := l.take(&spend[i])
			if err != nil {
				return nil, err
			}
			any = any || met
		}
		if any {
			l.Share = l.Spent.Float() / l.Budget.Float()
			out = append(out, l)
		}
	}
	return out, nil
}

// begin returns the start of the period that contains t.
func (b *Budget) begin(t capcli.Time) capcli.Time {
	m := monthOf(t)
	return addMonths(m, -((int(m.Std().Month()) - 1) % b.Every.months()))
}

// take adds the part of a cost that falls into the line's period, and sets the alerts that it
// raises. It reports whether any part does.
func (l *BudgetLine) take(s *Spend) (bool, error) {
	from, to := max(s.Start, l.Start), min(s.End, l.End)
	switch {
	case s.Start == s.End && s.Start >= l.Start && s.Start < l.End:
		from, to = s.Start, s.Start
	case from >= to:
		return false, nil
	}
	before, start := l.Spent, s.upTo(from)
	part := s.upTo(to) - start
	if s.Start == s.End {
		part, start = s.Cost, 0
	}
	if part > 0 && before > 1<<62-part {
		return false, capcli.ErrOverflow
	}
	l.Spent += part
	for i, percent := range alertPercents {
		limit, err := mulDiv(int64(l.Budget), int64(percent), 100)
		if err != nil {
			return false, err
		}
		alert := l.list()[i]
		if alert.IsKnown() || l.Spent < capcli.USD(limit) {
			continue
		}
		// Search the first second at which the sum reaches the limit.
		lo, hi := from, to
		for lo < hi {
			if mid := lo + (hi-lo)/2; before+s.upTo(mid)-start >= capcli.USD(limit) {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		*alert = min(lo, l.End-1)
	}
	return true, nil
}

// upTo returns the part of the cost accrued by t.
func (s *Spend) upTo(t capcli.Time) capcli.USD {
	if s.End <= s.Start || t >= s.End {
		return s.Cost
	}
	part := Share(max(s.Cost, -s.Cost), int64(max(t, s.Start)-s.Start), int64(s.End-s.Start))
	if s.Cost < 0 {
		return -part
	}
	return part
}

// Spending returns the charges of the tenants for a bill, and the cost that no tenant can bear,
// as costs for a budget. cash selects the billed cost; otherwise it is the effective cost.
func (b *Bill) Spending(c *Chargeback, cash bool) []Spend {
	var out []Spend
	rest, start := c.Unallocated, b.From
	if cash {
		rest = c.UnpaidCash
	}
	for _, x := range c.Charges {
		cost := x.Effective
		if cash {
			cost = x.Cash
		}
		out = append(out, Spend{x.Start, x.End, x.Tenant, cost})
	}
	if rest != 0 { // nobody used anything in the window, so the cost is spread over all of it
		out = append(out, Spend{Start: start, End: b.To, Cost: rest})
	}
	return out
}

// Spending returns the charges of the tenants for a run as costs for a budget. The cost of a
// month accrues evenly over the month, and that of the last until the end of the run. Cost that
// no tenant can bear has no tenant, so it counts for the whole only.
func (inv *Invoice) Spending(rec *simulate.Record, until capcli.Time) []Spend {
	sums := make([][]capcli.USD, len(rec.Months))
	inv.Parts(rec, func(x Part) {
		if sums[x.Month] == nil {
			sums[x.Month] = make([]capcli.USD, len(rec.Tenants)+1)
		}
		sums[x.Month][x.Tenant+1] += x.Cost
	})
	var out []Spend
	for m := range sums {
		s := Spend{Start: rec.Months[m].Start, End: until}
		if m+1 < len(rec.Months) {
			s.End = rec.Months[m+1].Start
		}
		s.End = max(s.End, s.Start+1)
		for t, cost := range sums[m] {
			if cost == 0 {
				continue
			}
			if s.Tenant, s.Cost = "", cost; t > 0 {
				s.Tenant = rec.Tenants[t-1]
			}
			out = append(out, s)
		}
	}
	return out
}
