package explain

import (
	"cmp"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// Part is a part of the first run's figure; the parts of one dimension (By) sum to the figure.
type Part struct {
	By    string          `json:"by"`
	Name  string          `json:"name"`
	What  string          `json:"what,omitempty"` // held, idle, blocked, down
	Cost  *capcli.USD     `json:"cost_usd,omitempty"`
	Time  *capcli.GPUTime `json:"gpu_hours,omitempty"`
	Share float64         `json:"share"`
}

// IsSum reports whether a metric is a sum of GPU time or of its cost, and so can be split into
// parts.
func IsSum(m *outcome.Metric) bool { return m.Slots() != nil }

func counts(m *outcome.Metric, t simulate.Terms) bool {
	tier, one := m.Tier()
	return !one || billing.TierOf(t) == tier
}

// parts splits the figure of the first run by pool and slot, by month and by tenant; it is empty if
// the figure is no sum. Discounts such as savings plans belong to another tier than the pool they
// apply to. They have rows of their own, so that the parts sum to the figure.
func (x *explanation) parts() []Part {
	r := x.Runs[0]
	l := &parting{metric: x.Metric, money: x.Metric.Unit == outcome.InUSD, out: []Part{}}
	if !IsSum(x.Metric) || l.money && !r.Priced() {
		return l.out
	}
	l.total, _ = r.Exact(x.Metric.Name)
	tier, one := l.metric.Tier()
	var sum billing.Line
	for _, line := range r.PoolLines() {
		if !one || line.Tier == tier {
			l.slots("pool", line.Name, &line.Line)
			addLine(&sum, &line.Line, 1)
		}
	}
	if !one || tier == billing.OnDemand {
		moved := billing.Line{Direct: r.Invoice.Total.Moved}
		l.slots("pool", "moved data", &moved)
		addLine(&sum, &moved, 1)
	}
	if one {
		rest := tierLine(r, tier)
		addLine(&rest, &sum, -1)
		l.slots("pool", "commitments", &rest)
	}
	l.months(r)
	if l.money && !one && len(l.metric.Slots()) == 4 {
		for i := range r.Invoice.ByTenant {
			b := &r.Invoice.ByTenant[i]
			l.add("tenant", cmp.Or(b.Name, "(none)"), "held", b.Direct, 0)
			l.add("tenant", cmp.Or(b.Name, "(none)"), "share of what nobody held", b.Share, 0)
		}
		l.add("tenant", "(nobody)", "no tenant used anything", r.Invoice.Unallocated, 0)
	}
	return l.out
}

// tierLine returns the invoice's line of a tier, with the time that commitments could have covered
// and did not as idle time.
func tierLine(r *play.Run, tier billing.Tier) billing.Line {
	line := r.Invoice.ByTier[tier]
	if tier == billing.Committed {
		line.Time.Idle += r.Invoice.Uncovered()
	}
	return line
}

// parting is the work of splitting a figure.
type parting struct {
	metric *outcome.Metric
	money  bool
	total  float64
	out    []Part
}

// addLine adds the slots of o, times sign, to l.
func addLine(l, o *billing.Line, sign int64) {
	l.Direct += capcli.USD(sign) * o.Direct
	l.Idle += capcli.USD(sign) * o.Idle
	l.Blocked += capcli.USD(sign) * o.Blocked
	l.Down += capcli.USD(sign) * o.Down
	l.Time.Used += capcli.GPUTime(sign) * o.Time.Used
	l.Time.Idle += capcli.GPUTime(sign) * o.Time.Idle
	l.Time.Blocked += capcli.GPUTime(sign) * o.Time.Blocked
	l.Time.Down += capcli.GPUTime(sign) * o.Time.Down
}

// add appends a part unless it is zero.
func (l *parting) add(by, name, what string, usd capcli.USD, t capcli.GPUTime) {
	p := Part{By: by, Name: name, What: what}
	switch {
	case l.money && usd != 0:
		p.Cost, p.Share = &usd, usd.Float()/cmp.Or(l.total, 1)
	case !l.money && t != 0:
		p.Time, p.Share = &t, t.Hours()/cmp.Or(l.total, 1)
	default:
		return
	}
	l.out = append(l.out, p)
}

func (l *parting) slots(by, name string, line *billing.Line) {
	for _, slot := range l.metric.Slots() {
		usd, t := line.InSlot(slot)
		l.add(by, name, slot.String(), usd, t)
	}
}

// sum returns the sum of the metric's slots of a line.
func (l *parting) sum(line *billing.Line) (usd capcli.USD, t capcli.GPUTime) {
	for _, slot := range l.metric.Slots() {
		u, d := line.InSlot(slot)
		usd, t = usd+u, t+d
	}
	return usd, t
}

func (l *parting) months(r *play.Run) {
	tier, one := l.metric.Tier()
	all := one && len(l.metric.Slots()) == 4
	var sumUSD capcli.USD
	var sumTime capcli.GPUTime
	for m := range r.Invoice.ByMonth {
		month := &r.Invoice.ByMonth[m]
		var usd capcli.USD
		var t capcli.GPUTime
		for p := range month.ByPool {
			if !counts(l.metric, r.Result.Record.Pools[p].Terms) {
				continue
			}
			poolUSD, poolTime := l.sum(&month.ByPool[p])
			usd += poolUSD
			t += poolTime
		}
		if !one {
			movedUSD, _ := l.sum(&billing.Line{Direct: month.Line.Moved})
			usd += movedUSD
		}
		if all {
			usd = month.ByTier[tier]
		}
		sumUSD += usd
		sumTime += t
		l.add("month", month.Start.Std().Format("2006-01-02"), "", usd, t)
	}
	if one && !all {
		whole := tierLine(r, tier)
		usd, t := l.sum(&whole)
		l.add("month", "commitments, all months", "", usd-sumUSD, t-sumTime)
	}
}
