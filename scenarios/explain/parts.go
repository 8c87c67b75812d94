package explain

import (
	"cmp"

	"capcli"
	"capcli/scenarios/play"
	"capcli/simulate"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
)

// Part is a part of the figure of the first run; the parts of one kind sum
// to it.
type Part struct {
	By    string          `json:"by"`
	Name  string          `json:"name"`
	What  string          `json:"what,omitempty"` // held, idle, blocked, down
	Cost  *capcli.USD     `json:"cost_usd,omitempty"`
	Time  *capcli.GPUTime `json:"gpu_hours,omitempty"`
	Share float64         `json:"share"`
}

// slots are what GPU time and its cost are of, in the order of the glossary.
var slots = [...]string{"held", "idle", "blocked", "down"}

// slotsOf are the slots that a figure is the sum of; nil where it is none.
func slotsOf(metric string) []int {
	switch metric {
	case "cost", "total", "committed", "on_demand", "spot":
		return []int{0, 1, 2, 3}
	case "stranded_usd", "stranded_gpu_hours":
		return []int{1, 2, 3}
	case "used_gpu_hours":
		return []int{0}
	case "idle_gpu_hours":
		return []int{1}
	case "blocked_gpu_hours":
		return []int{2}
	case "down_gpu_hours":
		return []int{3}
	}
	return nil
}

// IsSum reports whether a metric is a sum of GPU time or of what it costs, so that an
// answer has its parts.
func IsSum(m *outcome.Metric) bool { return slotsOf(m.Name) != nil }

// tierOf is the tier that the figure is of; false where it is of all.
func tierOf(metric string) (billing.Tier, bool) {
	switch metric {
	case "committed", "stranded_usd", "stranded_gpu_hours":
		return billing.Committed, true
	case "on_demand":
		return billing.OnDemand, true
	case "spot":
		return billing.Spot, true
	}
	return 0, false
}

// counts tells whether a pool counts towards the figure.
func counts(metric string, t simulate.Terms) bool {
	tier, one := tierOf(metric)
	return !one || billing.TierOf(t) == tier
}

// slotUSD and slotTime are a line's amounts by slot. What minimum billing times
// add to on-demand and spot time is idle time, but is paid as held.
func slotUSD(l *billing.Line) [4]capcli.USD {
	return [4]capcli.USD{l.Direct, l.Idle, l.Blocked, l.Down}
}

func slotTime(s *simulate.Span) [4]capcli.GPUTime {
	return [4]capcli.GPUTime{s.Used, s.Idle, s.Blocked, s.Down}
}

// parts are the figure of the first run by pool and slot, by month and by
// tenant, where it is a sum of such. What commitments beside the pools' own
// terms pay for a pool is of another tier than the pool: that has rows of its
// own, so that the sums hold.
func (x *explanation) parts() []Part {
	r := x.Runs[0]
	l := &parting{metric: x.Metric.Name, use: slotsOf(x.Metric.Name), money: x.Metric.Unit == outcome.InUSD, out: []Part{}}
	if l.use == nil || l.money && !r.Priced() {
		return l.out
	}
	l.total, _ = r.Exact(x.Metric.Name)
	pools := r.Result.Record.Pools
	var sum billing.Line
	for p := range pools {
		if counts(l.metric, pools[p].Terms) {
			line := &r.Invoice.ByPool[p]
			l.slots("pool", pools[p].Name, line)
			addLine(&sum, line, 1)
		}
	}
	if tier, one := tierOf(l.metric); one {
		rest := r.Invoice.ByTier[tier]
		addLine(&rest, &sum, -1)
		l.slots("pool", "commitments", &rest)
	}
	l.months(r)
	if l.metric == "cost" || l.metric == "total" {
		for i := range r.Invoice.ByTenant {
			b := &r.Invoice.ByTenant[i]
			l.add("tenant", cmp.Or(b.Name, "(none)"), "held", b.Direct, 0)
			l.add("tenant", cmp.Or(b.Name, "(none)"), "share of what nobody held", b.Share, 0)
		}
		l.add("tenant", "(nobody)", "no tenant used anything", r.Invoice.Unallocated, 0)
	}
	return l.out
}

// parting takes a figure apart.
type parting struct {
	metric string
	use    []int // slots
	money  bool
	total  float64
	out    []Part
}

// addLine adds the amounts by slot of o to l, sign times.
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

// add notes a part, if it is any.
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

// slots notes the slots of a line.
func (l *parting) slots(by, name string, line *billing.Line) {
	usd, t := slotUSD(line), slotTime(&line.Time)
	for _, k := range l.use {
		l.add(by, name, slots[k], usd[k], t[k])
	}
}

// months are the same by calendar month.
func (l *parting) months(r *play.Run) {
	tier, one := tierOf(l.metric)
	whole := one && len(l.use) == len(slots)
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
			lineUSD, lineTime := slotUSD(&month.ByPool[p]), slotTime(&month.ByPool[p].Time)
			for _, k := range l.use {
				usd += lineUSD[k]
				t += lineTime[k]
			}
		}
		if whole {
			usd = month.ByTier[tier]
		}
		sumUSD += usd
		sumTime += t
		l.add("month", month.Start.Std().Format("2006-01-02"), "", usd, t)
	}
	if one && !whole {
		usd, t := slotUSD(&r.Invoice.ByTier[tier]), slotTime(&r.Invoice.ByTier[tier].Time)
		for _, k := range l.use {
			sumUSD -= usd[k]
			sumTime -= t[k]
		}
		l.add("month", "commitments, all months", "", -sumUSD, -sumTime)
	}
}
