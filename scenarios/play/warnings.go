package play

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/outcome"
)

// Warnings returns what a reader must know about the runs of one case in addition to the figures.
func Warnings(runs []*Run) []string {
	var out []string
	first := runs[0]
	name, s := first.Case.Label(), first.Case.Scenario
	mean := func(of func(*Run) int64) float64 {
		sum := int64(0)
		for _, r := range runs {
			sum += of(r)
		}
		return float64(sum) / float64(len(runs))
	}
	out = append(out, loadWarnings(runs)...)
	out = append(out, serviceWarnings(runs)...)
	out = append(out, speedNotes(runs)...)
	out = append(out, campaignNotes(runs)...)
	out = append(out, s.PriceDoubts()...)
	if un := s.Unpriced(); len(un) > 0 {
		out = append(out, fmt.Sprintf("%s: no price is stated for %s, so what it costs is not known", s.Name, strings.Join(un, ", ")))
	}
	if n := mean((*Run).leftOut); n > 0 {
		out = append(out, fmt.Sprintf("%s: left out, because they ask for no GPU: %s", name, outcome.JobsText(n)))
	}
	if n := mean(func(r *Run) int64 { return r.OutsideThePeriod }); n > 0 {
		out = append(out, fmt.Sprintf("%s: left out, because they are outside the period: %s", name, outcome.JobsText(n)))
	}
	endless := slices.ContainsFunc(runs, func(r *Run) bool { return r.Result.Endless })
	if span := MeanLength(runs).Hours() / (365.25 * 24); span > 50 && !endless {
		out = append(out, fmt.Sprintf("%s: the run spans %.0f years: check the times of the log", name, span))
	}
	for _, r := range first.Result.Remarks {
		out = append(out, fmt.Sprintf("%s: %s", name, r))
	}
	waiting := mean(func(r *Run) int64 { return r.Result.Jobs.Waiting })
	ordered := mean(func(r *Run) int64 { return r.Result.Jobs.Starting })
	running := mean(func(r *Run) int64 { return r.Result.Jobs.Running })
	if first.Result.Stopped && waiting+ordered+running > 0 {
		when := "at the end of the period"
		if endless {
			when = "fifty years after the last job came, where the run was ended,"
		}
		starting := ""
		if ordered > 0 {
			starting = fmt.Sprintf(", %s waited for GPUs that were ordered", strings.TrimSuffix(strings.TrimSuffix(outcome.JobsText(ordered), "s"), " job"))
		}
		out = append(out, fmt.Sprintf("%s: %s %s waited%s and %s ran", name, when, outcome.JobsText(waiting), starting, strings.TrimSuffix(strings.TrimSuffix(outcome.JobsText(running), "s"), " job")))
	}
	return out
}

// loadWarnings warn of committed capacity whose offered load exceeds 1 in the mean of the runs.
func loadWarnings(runs []*Run) []string {
	var out []string
	for i := range runs[0].Result.Loads {
		l := &runs[0].Result.Loads[i]
		sum, n := 0.0, 0
		for _, r := range runs {
			for k := range r.Result.Loads {
				if o := &r.Result.Loads[k]; o.Partition == l.Partition && o.GPUModel == l.GPUModel {
					sum, n = sum+o.Offered(), n+1
				}
			}
		}
		load := sum / float64(max(n, 1))
		if l.Span < capcli.Hour || load < 1.005 { // an hour is too short to judge, and 1.00 is no overload
			continue
		}
		where := "its committed capacity"
		if l.Partition != "" {
			where = "the committed capacity of partition " + l.Partition
		}
		if l.GPUModel != "" {
			where += " for " + l.GPUModel
		}
		out = append(out, fmt.Sprintf("%s: the offered load is %.2f times what %s (%d GPUs) can serve: without overflow the queue grows while jobs arrive",
			runs[0].Case.Label(), load, where, l.GPUs))
	}
	return out
}

// MeanLength returns the mean length of runs, in seconds.
func MeanLength(runs []*Run) capcli.Seconds {
	var sum capcli.Seconds
	for _, r := range runs {
		sum += r.Ended
	}
	n := capcli.Seconds(len(runs))
	return (sum + n/2) / n
}

// Rank returns the figures by which a case is ranked: means over its runs.
func Rank(runs []*Run) outcome.Ranking {
	u, queued := outcome.MeanUnserved(runs), outcome.Mean(runs, "queue_time_mean")
	out := outcome.Ranking{
		Name: runs[0].Case.Label(), Length: MeanLength(runs), Queued: &queued, JCT: outcome.Mean(runs, "jct_mean"),
		Preempts: outcome.Mean(runs, "preemptions") > 0, Unserved: &u,
	}
	if runs[0].Priced() {
		cost := outcome.Mean(runs, "cost")
		out.Cost = &cost
	}
	if s, ok := outcome.SpreadOf(runs, "wait_p95"); ok {
		out.Wait = &s.Mean
	}
	return out
}
