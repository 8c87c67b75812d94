package heat

import (
	"fmt"
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/profile"
)

// Result is a heatmap. A value that is not known, for want of samples, is null.
type Result struct {
	Schema  string      `json:"schema"`
	Input   []string    `json:"input"`
	From    string      `json:"from"` // first and last sample, RFC 3339
	To      string      `json:"to"`
	Zone    string      `json:"zone"` // of days and of hours of the week
	By      string      `json:"by"`
	Measure string      `json:"measure"`
	Title   string      `json:"title"`
	Unit    string      `json:"unit"`
	Week    bool        `json:"hours_of_week"`
	Price   *capcli.USD `json:"price_usd_per_gpu_hour"`
	Columns []Column    `json:"columns"` // hours
	Rows    []*Row      `json:"rows"`    // the one with the most idle GPU-hours first; those left out are summed up in the last
	LeftOut int         `json:"rows_summed_up"`
	Total   *Row        `json:"total"`

	measure Measure
	zone    *time.Location
	rows    []*Row
	total   *Row
	base    profile.Instant
}

// Column is an hour, or an hour of the week.
type Column struct {
	From string `json:"from"` // RFC 3339, or "Monday 08:00" of an hour of the week
	at   capcli.Time
}

// Row is a box, GPU, job or tenant.
type Row struct {
	Name   string          `json:"name"`
	Host   string          `json:"host,omitempty"`
	GPU    *int            `json:"gpu,omitempty"`
	UUID   string          `json:"gpu_uuid,omitempty"`
	Others int             `json:"others,omitempty"` // rows that are summed up in this one
	Value  capcli.Figure   `json:"value"`            // mean over the time, or the sum
	Held   capcli.Figure   `json:"held_gpu_hours"`
	Idle   capcli.Figure   `json:"idle_held_gpu_hours"`
	Cost   *capcli.USD     `json:"idle_cost_usd,omitempty"` // nil without a price
	Values []capcli.Figure `json:"values"`                  // one for each column

	idle, held int64
	first      int // hour of cells[0]
	cells      []cell
}

func (r *Row) add(first int, cells []cell) {
	if len(r.cells) == 0 {
		r.first, r.cells = first, slices.Clone(cells)
		return
	}
	if first < r.first {
		r.cells, r.first = append(make([]cell, r.first-first), r.cells...), first
	}
	for len(r.cells) < first+len(cells)-r.first {
		r.cells = append(r.cells, cell{})
	}
	for i, c := range cells {
		r.cells[first-r.first+i].add(c)
	}
}

// hoursOfWeek is the number of columns of a week.
const hoursOfWeek = 7 * 24

// fill sets the columns and the values of all rows.
func (r *Result) fill() {
	first, last := r.total.first, r.total.first+len(r.total.cells)
	if r.Week {
		for i := range hoursOfWeek {
			r.Columns = append(r.Columns, Column{From: fmt.Sprintf("%s %02d:00", time.Weekday((i/24+1)%7), i%24)})
		}
	} else {
		for hour := first; hour < last; hour++ {
			at := r.hourAt(hour)
			r.Columns = append(r.Columns, Column{at.Std().In(r.zone).Format(time.RFC3339), at.Second()})
		}
	}
	r.Rows, r.Total = r.rows, r.total
	for _, row := range append(slices.Clone(r.rows), r.total) {
		into := make([]cell, len(r.Columns))
		all := cell{}
		for i, c := range row.cells {
			into[r.column(row.first+i, first)].add(c)
			all.add(c)
		}
		row.cells, row.first = into, 0
		row.Values = r.values(into)
		row.Value = r.value(all)
		row.Held, row.Idle = capcli.Figure(float64(row.held)/3.6e9), capcli.Figure(float64(row.idle)/3.6e9)
		if r.Price != nil {
			cost := capcli.USD(math.Round(float64(*r.Price) * float64(row.idle) / 3.6e9))
			row.Cost = &cost
		}
	}
}

func (r *Result) hourAt(hour int) profile.Instant { return r.base + profile.Instant(hour)*hourMicros }

func (r *Result) column(hour, first int) int {
	if !r.Week {
		return hour - first
	}
	local := r.hourAt(hour).Std().In(r.zone)
	return (int(local.Weekday())+6)%7*24 + local.Hour()
}

// value returns the value of a cell: its mean or sum, NaN for a gap.
func (r *Result) value(c cell) capcli.Figure {
	switch {
	case c.weight == 0:
		return capcli.Figure(math.NaN())
	case !r.measure.Adds:
		return capcli.Figure(c.sum / c.weight)
	case r.Measure == PricedMeasure:
		return capcli.Figure(c.sum * r.Price.Float())
	}
	return capcli.Figure(c.sum)
}

func (r *Result) values(cells []cell) []capcli.Figure {
	out := make([]capcli.Figure, len(cells))
	for i, c := range cells {
		out[i] = r.value(c)
	}
	return out
}

// Picture is a heatmap whose hours are joined so that few enough columns remain.
type Picture struct {
	Step   capcli.Step // of a column
	Labels []string    // of each column, "" for none that fits under it alone
	Names  []string    // of each column, whole
	Rows   []PictureRow
	Top    float64 // top of the scale
}

// PictureRow is a row of a Picture.
type PictureRow struct {
	Name   string
	Values []float64 // NaN is a gap
}

// steps are the lengths of columns of a Picture.
var steps = []capcli.Step{
	{Seconds: 3600},
	{Seconds: 2 * 3600},
	{Seconds: 3 * 3600},
	{Seconds: 4 * 3600},
	{Seconds: 6 * 3600},
	{Seconds: 12 * 3600},
	{Days: 1},
	{Days: 2},
	{Days: 7},
	{Days: 14},
	{Months: 1},
	{Months: 3},
	{Months: 12},
}

// Picture returns the heatmap with at most so many columns, which are hours joined. A column is a gap only
// where all of its hours are. Where values are means, the last row is that of all. The scale is that of single
// rows: what is summed up may be above it.
func (r *Result) Picture(columns int) *Picture {
	p := &Picture{}
	index := make([]int, len(r.Columns))
	n := 0
	for _, s := range steps {
		p.Step = s
		n = r.join(p, index)
		if n <= columns {
			break
		}
	}
	rows := slices.Clone(r.Rows)
	if !r.measure.Adds { // a sum over all rows would be off their scale
		rows = append(rows, r.Total)
	}
	for _, row := range rows {
		joined := make([]cell, n)
		for i, c := range row.cells {
			joined[index[i]].add(c)
		}
		one := PictureRow{Name: row.Name}
		for _, v := range r.values(joined) {
			one.Values = append(one.Values, float64(v))
		}
		p.Rows = append(p.Rows, one)
	}
	p.Top = r.measure.Top
	for i, row := range p.Rows {
		for _, v := range row.Values {
			if r.measure.Top == 0 && v > p.Top && (i < len(r.Rows) && r.Rows[i].Others == 0) {
				p.Top = v
			}
		}
	}
	return p
}

// join sets the column of p of each hour, and the names of the columns, and returns their number.
func (r *Result) join(p *Picture, index []int) int {
	p.Labels, p.Names = nil, nil
	if r.Week {
		return r.joinWeek(p, index)
	}
	g := p.Step.Grid(r.Columns[0].at, r.zone)
	day := ""
	for i := range index {
		index[i] = g.Index(r.Columns[i].at)
		for len(p.Names) <= index[i]-index[0] {
			at := g.At(index[0] + len(p.Names)).Std().In(r.zone)
			label, name := at.Format("Jan 2"), at.Format("Jan 2 15:04")
			if p.Step.Seconds == 0 {
				name = at.Format("Mon Jan 2 2006")
			}
			if label == day {
				label = ""
				if p.Step.Seconds > 0 && p.Step.Seconds <= 6*3600 {
					label = at.Format("15h")
				}
			} else {
				day = label
			}
			p.Labels, p.Names = append(p.Labels, label), append(p.Names, name)
		}
	}
	base := index[0]
	for i := range index {
		index[i] -= base
	}
	return len(p.Names)
}

func (r *Result) joinWeek(p *Picture, index []int) int {
	hours := max(1, int(p.Step.Length()/3600))
	for i := range index {
		if index[i] = i / hours; i%hours == 0 {
			label := ""
			if i%24 == 0 {
				label = r.Columns[i].From[:3]
			}
			p.Labels, p.Names = append(p.Labels, label), append(p.Names, r.Columns[i].From)
		}
	}
	return len(p.Names)
}
