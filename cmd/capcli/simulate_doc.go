package main

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// describeRuns says the results: one sentence, then tables; a single run in
// depth, several plans side by side. People see the largest tenants only when
// there are many; programs see all.
func describeRuns(plans []*play.Case, results [][]*play.Run, form string) report.Doc {
	people := form == "table" || form == "md"
	data := outcome.NewDocument()
	for i := range results {
		for _, r := range results[i] {
			data.Runs = append(data.Runs, r.Outcome)
		}
	}
	d := report.Doc{Data: data}
	for i, p := range plans {
		if form != "csv" && form != "tsv" { // those have no place for what stderr has said
			d.Notes = append(d.Notes, p.Notes...)
		}
		d.Notes = append(d.Notes, warnings(results[i])...)
		d.Notes = append(d.Notes, starredPrices(p.Scenario)...)
		d.Notes = append(d.Notes, owedNotes(results[i][0])...)
		d.Notes = append(d.Notes, moneyNotesOf(results[i])...)
	}
	d.Notes = slices.Compact(d.Notes)
	data.Notes = d.Notes
	d.Tables = append(d.Tables, summaryTable(plans, results, people))
	recorded := recordedWaits(plans, results)
	if len(plans) > 1 {
		d.Lead = joinSentences(leadOfMany(plans, results), recorded)
		if len(results[0]) > 1 {
			d.Notes = append(d.Notes, rangesNote(results))
		}
		return d
	}
	r := results[0][0]
	d.Lead = joinSentences(leadOf(plans[0], results[0]), recorded)
	if people && len(results[0]) == 1 && len(plans[0].Scenario.Limits) > 0 {
		d.Tables = append(d.Tables, limitTable(r))
	}
	runs := results[0]
	d.Tables = append(d.Tables, poolTable(runs), tenantTable(runs, people), sizeTable(runs), loadTable(runs))
	d.Tables = append(d.Tables, contractTables(runs)...)
	d.Tables = append(d.Tables, moneyTablesOf(runs)...)
	if len(runs) > 1 {
		d.Notes = append(d.Notes, rangesNote(results))
	}
	if people {
		d.Charts = append(d.Charts, chartOf(runs)...)
	}
	return d
}

// joinSentences puts sentences on a line each, without those that are empty.
func joinSentences(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "\n")
}

func rangesNote(results [][]*play.Run) string {
	return fmt.Sprintf("ranges hold 90%% of the %d runs; the figure before a range is their mean", len(results[0]))
}

// warnings are what the reader must know beside the figures.
func warnings(runs []*play.Run) []string {
	var out []string
	first := runs[0]
	name, s := first.Case.Label(), first.Case.Scenario
	mean := func(of func(*play.Run) int64) float64 {
		sum := int64(0)
		for _, r := range runs {
			sum += of(r)
		}
		return float64(sum) / float64(len(runs))
	}
	out = append(out, loadWarnings(runs)...)
	out = append(out, s.PriceDoubts()...)
	if un := s.Unpriced(); len(un) > 0 {
		out = append(out, fmt.Sprintf("%s: no price is stated for %s, so what it costs is not known", s.Name, strings.Join(un, ", ")))
	}
	if n := mean(func(r *play.Run) int64 { return r.Result.Jobs.CPUOnly }); n > 0 {
		out = append(out, fmt.Sprintf("%s: left out, for they want no GPU: %s", name, countText(n)))
	}
	if n := mean(func(r *play.Run) int64 { return r.OutsideThePeriod }); n > 0 {
		out = append(out, fmt.Sprintf("%s: left out, for they are outside the period: %s", name, countText(n)))
	}
	endless := slices.ContainsFunc(runs, func(r *play.Run) bool { return r.Result.Endless })
	if span := meanLength(runs).Hours() / (365.25 * 24); span > 50 && !endless {
		out = append(out, fmt.Sprintf("%s: the run spans %.0f years: is one of the log's times wrong?", name, span))
	}
	waiting := mean(func(r *play.Run) int64 { return r.Result.Jobs.Waiting })
	ordered := mean(func(r *play.Run) int64 { return r.Result.Jobs.Starting })
	running := mean(func(r *play.Run) int64 { return r.Result.Jobs.Running })
	if first.Result.Stopped && waiting+ordered+running > 0 {
		when := "at the end of the period"
		if endless {
			when = "fifty years after the last job came, where the run was ended,"
		}
		starting := ""
		if ordered > 0 {
			starting = fmt.Sprintf(", %s waited for GPUs that were ordered", strings.TrimSuffix(strings.TrimSuffix(countText(ordered), "s"), " job"))
		}
		out = append(out, fmt.Sprintf("%s: %s %s waited%s and %s ran", name, when, countText(waiting), starting, strings.TrimSuffix(strings.TrimSuffix(countText(running), "s"), " job")))
	}
	return out
}

// loadWarnings name the capacity for which more work came than it can do, in the
// mean of the runs.
func loadWarnings(runs []*play.Run) []string {
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
		if l.Span < capcli.Hour || load < 1.005 { // an hour shows no rhythm; what reads as 1.00 is no news
			continue
		}
		where := "its committed capacity"
		if l.Partition != "" {
			where = "the committed capacity of partition " + l.Partition
		}
		if l.GPUModel != "" {
			where += " for " + l.GPUModel
		}
		out = append(out, fmt.Sprintf("%s: the work that came is %.2f times what %s (%d GPUs) can do in that time: without overflow the queue cannot drain while jobs come",
			runs[0].Case.Label(), load, where, l.GPUs))
	}
	return out
}

// chartOf shows GPUs in use against what is committed: of several runs their mean,
// where they are of one length.
func chartOf(runs []*play.Run) []report.Chart {
	values, peaks := play.GPUsInUse(runs)
	if values == nil {
		return nil
	}
	title := "GPUs in use"
	if n := len(runs); n > 1 {
		title = fmt.Sprintf("GPUs in use, mean of %d runs", n)
	}
	first := runs[0]
	c := report.Chart{
		Title: title, Height: 8,
		Lines: []report.Line{{Name: "in use", Values: values, Peaks: peaks}},
		From:  first.Start.Date(),
		To:    (first.Start + capcli.Time(first.Ended)).Date(),
	}
	level := first.Curve.Committed(first.Result.Record.Pools, first.Ended, len(values))
	if most := slices.Max(append(level, 0)); most > 0 && most < 1<<24 {
		c.Lines = append(c.Lines, report.Line{Name: "committed", Values: level})
	}
	return []report.Chart{c}
}

// starredPrices say what the * of a cost stands for.
func starredPrices(s *scenarios.Scenario) []string {
	var out []string
	for _, a := range s.Assumptions() {
		out = append(out, "* "+a.Text)
	}
	return slices.Compact(out)
}
