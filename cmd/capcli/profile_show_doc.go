package main

import (
	"fmt"
	"math"
	"strconv"

	"capcli/cmd/report"
	"capcli/profile"
)

// doc is the picture.
func (s *gpuShow) doc() report.Doc {
	name := "GPU " + strconv.Itoa(s.device.Index)
	if s.device.MIG() {
		name += fmt.Sprintf(" %s #%d", s.device.Profile, s.device.GI)
	}
	samples := fmt.Sprintf("%v samples", s.every)
	if s.share > 1 {
		samples += fmt.Sprintf(", %s in a column: their mean, and the highest", grouped(s.share))
	}
	d := report.Doc{Lead: fmt.Sprintf("%s of %s, %s: %s to %s.", name, s.host, s.device.Model, s.text(s.from), s.text(s.to))}
	for i, m := range shownMetrics {
		mean, highest, any := make([]float64, len(s.cells)), make([]float64, len(s.cells)), false
		for k := range s.cells {
			f := s.cells[k].of[i]
			mean[k], highest[k] = math.NaN(), math.NaN()
			if f.n > 0 {
				mean[k], highest[k], any = f.sum/float64(f.n), f.max, true
			}
		}
		if !any {
			d.Notes = append(d.Notes, m.title+" was not told")
			continue
		}
		lines := []report.Line{{Name: "mean", Values: mean}}
		if s.share > 1 {
			lines = append(lines, report.Line{Name: "highest", Values: highest})
		}
		title := name + " " + m.title
		if len(d.Charts) == 0 {
			title += ", " + samples
		}
		d.Charts = append(d.Charts, report.Chart{Title: title, Height: 5, Top: m.top, From: s.text(s.from), To: s.text(s.to), Lines: lines})
	}
	d.Tables = []report.Table{s.table()}
	d.Data = s.json(d.Tables[0])
	return d
}

func (s *gpuShow) text(at profile.Instant) string {
	return at.Std().In(s.zone).Format("2006-01-02 15:04:05")
}

// table gives the columns of the picture as rows.
func (s *gpuShow) table() report.Table {
	t := report.Table{Name: "samples", Aside: true, Columns: []report.Column{{Name: "from"}, {Name: "samples"}}}
	for _, m := range shownMetrics {
		t.Columns = append(t.Columns, report.Column{Name: m.name + "_mean"}, report.Column{Name: m.name + "_max"})
	}
	for i := range s.cells {
		row := []any{s.columnStart(i).Stamp(), s.cells[i].samples}
		for k := range shownMetrics {
			f := s.cells[i].of[k]
			if f.n == 0 {
				row = append(row, nil, nil)
				continue
			}
			row = append(row, f.sum/float64(f.n), f.max)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// showJSON is the JSON of profile show --gpu.
type showJSON struct {
	Schema string           `json:"schema"`
	Host   string           `json:"host"`
	GPU    int              `json:"gpu"`
	UUID   string           `json:"gpu_uuid"`
	Model  string           `json:"gpu_model"`
	From   string           `json:"from"`
	To     string           `json:"to"`
	EveryS float64          `json:"every_s"`
	Rows   []map[string]any `json:"samples"`
}

func (s *gpuShow) json(t report.Table) showJSON {
	out := showJSON{"capcli/profile_show/v1", s.host, s.device.Index, s.device.UUID, s.device.Model, s.from.Stamp(), s.to.Stamp(), s.every.Seconds(), []map[string]any{}}
	for _, row := range t.Rows {
		one := map[string]any{}
		for i, c := range t.Columns {
			one[c.Name] = row[i]
		}
		out.Rows = append(out.Rows, one)
	}
	return out
}
