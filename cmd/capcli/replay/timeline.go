package replay

import (
	"fmt"

	"capcli/cmd/report"
	"capcli/cmd/timeline"
	"capcli/scenarios/outcome"
)

// The values of --timeline.
const (
	timelineAuto  = "auto"
	timelineGantt = "gantt"
)

// ganttMost is the most jobs that --timeline=gantt shows.
const ganttMost = 1000

// lines returns how many jobs of a run are followed one by one.
func (o *SimulateOptions) lines() int {
	if o.timeline == timelineGantt {
		return ganttMost
	}
	return timeline.MaxJobs
}

// addTimeline adds the run over time to the report, as charts for people and as tables. For a form of
// one table it comes first. Without --timeline, a timeline that --out keeps is not shown.
func (o *SimulateOptions) addTimeline(d *report.Doc, t *outcome.Timeline, form string) {
	if o.timeline == "" {
		o.hideTimeline(d)
		return
	}
	tables := timeline.Tables(t)
	if form == "table" || form == "md" {
		d.Tables = append(d.Tables, tables...)
		d.Charts = timeline.Charts(t, 12)
	} else {
		d.Tables = append(tables, d.Tables...)
	}
	if o.timeline == timelineGantt && t.Jobs == nil {
		d.Notes = append(d.Notes, fmt.Sprintf("the jobs are not shown one by one, for there are over %d: --period shows a part of them", ganttMost))
	}
}

// hideTimeline leaves the timeline that --out keeps out of a document that did not ask for it.
func (o *SimulateOptions) hideTimeline(d *report.Doc) {
	if data, is := d.Data.(*outcome.Document); is {
		for i := range data.Runs {
			data.Runs[i].Timeline = nil
		}
	}
}
