package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"capcli/cmd/report"
	"capcli/profile"
)

// shownGPUs and shownJobs are how many rows people see.
const (
	shownGPUs   = 48
	shownJobs   = 20
	shownEvents = 12
)

// profiled is a summary of profiles on its way out.
type profiled struct {
	*profile.Result
	zone *time.Location
}

// doc is the summary as tables.
func (p *profiled) doc() report.Doc {
	return report.Doc{
		Lead: p.lead(), Notes: p.notes(), Data: p.Result, Charts: p.heat(),
		Tables: []report.Table{p.gpuTable(), p.jobTable(), p.tenantTable(), p.fitTable(), p.hourTable(), p.eventTable()},
	}
}

// lead says what matters in two sentences.
func (p *profiled) lead() string {
	total := p.Total.Use
	if total.Seen == 0 {
		return "No samples."
	}
	hosts := map[string]bool{}
	verdicts := map[profile.VerdictKind]int{}
	for i := range p.GPUs {
		hosts[p.GPUs[i].Host] = true
		verdicts[p.GPUs[i].Verdict]++
	}
	where := p.GPUs[0].Host
	if len(hosts) > 1 {
		where = fmt.Sprintf("%d boxes", len(hosts))
	}
	n := len(p.GPUs)
	text := fmt.Sprintf("%d %s on %s, %s: held %.1f%% of the time", n, plural(int64(n), "GPU"), where, p.Span().Round(time.Second), 100*float64(total.Held)/float64(total.Seen))
	if busy := total.BusyShare(); !math.IsNaN(busy) {
		text += fmt.Sprintf(", busy %.1f%%", 100*busy)
	}
	text += "."
	var found []string
	for _, v := range []struct {
		kind  profile.VerdictKind
		words string
	}{
		{profile.NeverBusy, "allocated but never busy"},
		{profile.MostlyIdle, "mostly idle"},
		{profile.Starved, "short of input"},
		{profile.CommBound, "waiting on other GPUs"},
		{profile.MemoryBound, "bound by memory"},
		{profile.Light, "lightly used"},
		{profile.Free, "free"},
	} {
		if k := verdicts[v.kind]; k > 0 {
			found = append(found, fmt.Sprintf("%d %s", k, v.words))
		}
	}
	if len(found) > 0 {
		text += " " + strings.Join(found, ", ") + "."
	}
	if p.Total.IdleCost != nil {
		text += fmt.Sprintf(" Held and idle: %s, %s a month at this rate.", p.Total.IdleCost, p.Total.IdleCostPer)
	}
	return text
}
