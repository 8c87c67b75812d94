package main

import (
	"cmp"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// partJSON is a part of the figure of the first run; the parts of one kind sum
// to it.
type partJSON struct {
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

// counts tells whether a pool counts towards the figure.
func counts(metric string, t simulate.Terms) bool {
	tier := billing.TierOf(t)
	switch metric {
	case "committed", "stranded_usd", "stranded_gpu_hours":
		return tier == billing.Committed
	case "on_demand":
		return tier == billing.OnDemand
	case "spot":
		return tier == billing.Spot
	}
	return true
}

// slotUSD and slotTime are a line's amounts by slot. What minimum billing times
// add to on-demand and spot time is idle time, but is paid as held.
func slotUSD(l *billing.Line) [4]capcli.USD {
	return [4]capcli.USD{l.Direct, l.Idle, l.Blocked, l.Down}
}

func slotTime(s *simulate.Span) [4]capcli.GPUTime {
	return [4]capcli.GPUTime{s.Used, s.Idle, s.Blocked, s.Down}
}

// parts are the figure of the first run by pool and slot, by tenant and by
// month, where it is a sum of such.
func (x *explanation) parts() []partJSON {
	out := []partJSON{}
	use := slotsOf(x.metric.Name)
	r := x.results[0]
	if use == nil || x.metric.Unit == scenarios.InUSD && !r.priced() {
		return out
	}
	money := x.metric.Unit == scenarios.InUSD
	total, _ := r.metric(x.metric.Name)
	add := func(by, name, what string, usd capcli.USD, t capcli.GPUTime) {
		p := partJSON{By: by, Name: name, What: what}
		if money {
			p.Cost, p.Share = &usd, usd.Float()/cmp.Or(total, 1)
		} else {
			p.Time, p.Share = &t, t.Hours()/cmp.Or(total, 1)
		}
		if usd != 0 || t != 0 {
			out = append(out, p)
		}
	}
	pools := r.result.Record.Pools
	for p := range pools {
		if !counts(x.metric.Name, pools[p].Terms) {
			continue
		}
		usd, t := slotUSD(&r.invoice.ByPool[p]), slotTime(&r.invoice.ByPool[p].Time)
		for _, k := range use {
			if money {
				t[k] = 0
			} else {
				usd[k] = 0
			}
			add("pool", pools[p].Name, slots[k], usd[k], t[k])
		}
	}
	x.byMonth(use, money, add)
	if slices.Contains([]string{"cost", "total"}, x.metric.Name) {
		for i := range r.invoice.ByTenant {
			b := &r.invoice.ByTenant[i]
			add("tenant", cmp.Or(b.Name, "(none)"), "held", b.Direct, 0)
			add("tenant", cmp.Or(b.Name, "(none)"), "share of what nobody held", b.Share, 0)
		}
		add("tenant", "(nobody)", "no tenant used anything", r.invoice.Unallocated, 0)
	}
	return out
}

// byMonth are the same by calendar month; where a price changes within one, the
// invoice has it in parts.
func (x *explanation) byMonth(use []int, money bool, add func(by, name, what string, usd capcli.USD, t capcli.GPUTime)) {
	r := x.results[0]
	var usd capcli.USD
	var t capcli.GPUTime
	name := func(m int) string { return r.invoice.ByMonth[m].Start.Std().Format("2006-01") }
	for m := range r.invoice.ByMonth {
		month := &r.invoice.ByMonth[m]
		if m > 0 && name(m) != name(m-1) {
			usd, t = 0, 0
		}
		for p := range month.ByPool {
			if !counts(x.metric.Name, r.result.Record.Pools[p].Terms) {
				continue
			}
			lineUSD, lineTime := slotUSD(&month.ByPool[p]), slotTime(&month.ByPool[p].Time)
			for _, k := range use {
				usd += lineUSD[k]
				t += lineTime[k]
			}
		}
		if m+1 < len(r.invoice.ByMonth) && name(m) == name(m+1) {
			continue
		}
		if money {
			add("month", name(m), "", usd, 0)
		} else {
			add("month", name(m), "", 0, t)
		}
	}
}

// partsTable shows the parts of one kind.
func (x *explanation) partsTable(parts []partJSON, by, title string) report.Table {
	t := report.Table{Name: "by_" + by, Title: title, Columns: []report.Column{{Name: by}}}
	if by != "month" {
		t.Columns = append(t.Columns, report.Column{Name: "what", Head: "for"})
	}
	amount := report.Column{Name: "gpu_hours", Head: "GPU-hours"}
	if x.metric.Unit == scenarios.InUSD {
		amount = report.Column{Name: "cost_usd", Head: "cost*"}
	}
	t.Columns = append(t.Columns, amount, report.Column{Name: "share"})
	for _, p := range parts {
		if p.By != by {
			continue
		}
		row := []any{p.Name}
		if by != "month" {
			row = append(row, p.What)
		}
		if p.Cost != nil {
			row = append(row, *p.Cost)
		} else {
			row = append(row, *p.Time)
		}
		t.Rows = append(t.Rows, append(row, report.Percent(p.Share)))
	}
	return t
}
