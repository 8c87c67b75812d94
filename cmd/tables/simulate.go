package tables

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/play"
)

// DescribeRuns is the report of the results: a lead, then tables. A single plan is shown in depth,
// several side by side. People see only the largest tenants; programs see all.
func DescribeRuns(plans []*play.Case, results [][]*play.Run, form string) report.Doc {
	people := form == "table" || form == "md"
	data := play.Document(results)
	d := report.Doc{Data: data}
	for i, p := range plans {
		if form != "csv" && form != "tsv" { // these forms have no place for notes, and stderr already has them
			d.Notes = append(d.Notes, p.Notes...)
		}
		d.Notes = append(d.Notes, play.Notes(results[i])...)
	}
	d.Notes = slices.Compact(d.Notes)
	data.Notes = d.Notes
	d.Tables = append(d.Tables, summaryTable(plans, results, people))
	recorded := JoinSentences(recordedWaits(plans, results), ownPast(plans, results))
	if len(plans) > 1 {
		d.Lead = JoinSentences(leadOfMany(results), recorded)
		if len(results[0]) > 1 {
			d.Notes = append(d.Notes, rangesNote(results))
		}
		return d
	}
	r := results[0][0]
	d.Lead = JoinSentences(leadOf(plans[0], results[0]), play.ServicesLead(results[0]), recorded)
	if people && len(results[0]) == 1 && len(plans[0].Scenario.Limits) > 0 {
		d.Tables = append(d.Tables, limitTable(r))
	}
	runs := results[0]
	d.Tables = append(d.Tables, stageTables(runs)...)
	d.Tables = append(d.Tables, serviceTables(runs)...)
	d.Tables = append(d.Tables, poolTable(runs))
	d.Tables = append(d.Tables, boughtTables(runs)...)
	d.Tables = append(d.Tables, nearTables(runs)...)
	d.Tables = append(d.Tables, placeTables(runs)...)
	d.Tables = append(d.Tables, sliceTables(runs)...)
	d.Tables = append(d.Tables, tenantTable(runs, people))
	d.Tables = append(d.Tables, tagTables(runs, people)...)
	d.Tables = append(append(d.Tables, sizeTable(runs)), wayTable(runs)...)
	d.Tables = append(d.Tables, loadTable(runs))
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

// JoinSentences puts each sentence on its own line and leaves out empty ones.
func JoinSentences(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "\n")
}

func rangesNote(results [][]*play.Run) string {
	return capcli.RangeNote(len(results[0]), "runs") + "; the figure before a range is their mean"
}

// chartOf draws GPUs in use against committed GPUs. Several runs are drawn as their mean if they
// have the same length.
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
