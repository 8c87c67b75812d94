package tables

import (
	"fmt"
	"time"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile"
	"capcli/profile/store"
)

// TrackDoc is the report of one GPU over time.
func TrackDoc(t *store.Track, zone *time.Location) report.Doc {
	text := func(at profile.Instant) string { return at.Std().In(zone).Format("2006-01-02 15:04:05") }
	name := "GPU " + t.Device.Label()
	samples := fmt.Sprintf(", %v samples", t.Every)
	if t.Share > 1 {
		samples += fmt.Sprintf(", %s in a column: their mean, and the highest", capcli.Grouped(t.Share))
	}
	d := report.Doc{Lead: fmt.Sprintf("%s of %s, %s: %s to %s.", name, t.Host, t.Device.Model, text(t.From), text(t.To)), Data: t}
	for _, l := range t.Lines {
		if !l.Known {
			d.Notes = append(d.Notes, l.Title+" was not reported")
			continue
		}
		lines := []report.Line{{Name: "mean", Values: l.Mean}}
		if t.Share > 1 {
			lines = append(lines, report.Line{Name: "highest", Values: l.Max})
		}
		d.Charts = append(d.Charts, report.Chart{Title: name + " " + l.Title + samples, Height: 5, Top: l.Top, From: text(t.From), To: text(t.To), Lines: lines})
		samples = "" // the first chart alone says how samples are grouped
	}
	rows := make([]int, len(t.Starts))
	fields := []report.Field[int]{
		{Name: "from", Cell: func(i int) any { return t.Starts[i].Stamp() }},
		{Name: "samples", Cell: func(i int) any { return t.Samples[i] }},
	}
	for _, l := range t.Lines {
		fields = append(fields,
			report.Field[int]{Name: l.Name + "_mean", Cell: func(i int) any { return Figure(l.Mean[i]) }},
			report.Field[int]{Name: l.Name + "_max", Cell: func(i int) any { return Figure(l.Max[i]) }})
	}
	for i := range rows {
		rows[i] = i
	}
	d.Tables = []report.Table{report.Fill(report.Table{Name: "samples", Aside: true}, rows, fields)}
	return d
}
