// Package heat says what GPUs did hour by hour: a grid with a row for each box, GPU, job or tenant. It takes
// spans (profile.Span), so that it reads samples and roll-ups alike.
package heat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/accelerator"
)

// Request is what a heatmap shows.
type Request struct {
	By      string         // a row of Bys
	Measure string         // of Measures
	Week    bool           // columns are the hours of the week, not of the time
	Price   *capcli.USD    // of a GPU-hour; nil is not known
	Zone    *time.Location // of days and weeks; nil is UTC
	Rows    int            // most rows, those with the most idle GPU-hours; the rest are summed up in one
}

// Limits on a heatmap.
const (
	MostRows  = 1000
	mostHours = 10 * 366 * 24 // between the first and the last
	mostCells = 50_000_000    // of all devices: 800 MB
)

// Check refuses an unknown kind of row or measure, a number of rows out of range, and dollars without a price.
func (r *Request) Check() error {
	if _, err := Bys.Get(r.By); err != nil {
		return &capcli.RequestError{Field: "by", Text: ": " + err.Error()}
	}
	if _, err := Measures.Get(r.Measure); err != nil {
		return &capcli.RequestError{Field: "measure", Text: ": " + err.Error()}
	}
	if r.Measure == PricedMeasure && r.Price == nil {
		return &capcli.RequestError{Field: "price", Text: " is missing: " + PricedMeasure + " needs the price of a GPU-hour", Hint: "--price 2.20, or --measure idle for GPU-hours"}
	}
	if r.Rows < 1 || r.Rows > MostRows {
		return &capcli.RequestError{Field: "rows", Text: fmt.Sprintf(" wants 1 to %d, found %d", MostRows, r.Rows)}
	}
	return nil
}

// cell is what was seen in one hour. It is a gap where weight is 0.
type cell struct{ sum, weight float64 }

func (c *cell) add(o cell) { c.sum, c.weight = c.sum+o.sum, c.weight+o.weight }

// Builder makes a heatmap of spans.
type Builder struct {
	r       Request
	measure Measure
	lines   map[lineKey]*line
	order   []*line
	base    profile.Instant // hour of index 0 of every line
	any     bool
	cells   int
	wrong   error // of the first span that could not be taken
	from    profile.Instant
	to      profile.Instant
}

// lineKey tells devices, or jobs and tenants, apart.
type lineKey struct {
	host, name, space string
	kind              string
	pid               int64
}

// line is the hours of a device, job or tenant.
type line struct {
	host, name string
	device     *profile.Device // nil of jobs and tenants
	first      int             // hour of cells[0]
	cells      []cell
	idle, held int64 // microseconds of GPUs
	apart      bool  // a job that is another one on another box
}

// NewBuilder returns a Builder. It fails as Check does.
func NewBuilder(r Request) (*Builder, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	m, _ := Measures.Get(r.Measure)
	r.Zone = cmp.Or(r.Zone, time.UTC)
	return &Builder{r: r, measure: m, lines: map[lineKey]*line{}}, nil
}

const hourMicros = 3_600_000_000

// Add takes a span, those of one device in order; boxes may come in any order.
func (b *Builder) Add(s *profile.Span) {
	if b.wrong == nil {
		b.wrong = b.add(s)
	}
}

func (b *Builder) add(s *profile.Span) error {
	if !b.any {
		b.any, b.base, b.from, b.to = true, s.Hour, s.First, s.Last
	}
	b.from, b.to = min(b.from, s.First), max(b.to, s.Last)
	hour := int((s.Hour - b.base) / hourMicros)
	if hour > mostHours || hour < -mostHours {
		return &capcli.InputError{File: s.Host, Text: fmt.Sprintf("expected samples within %d hours, found some further apart", mostHours), Hint: "choose a time: --from, --to"}
	}
	d, share := s.Device, float64(s.Share)/accelerator.WholeGPU
	switch {
	case b.r.By == "gpu" && s.Divided && b.r.Measure != powerMeasure:
		return nil // its instances have rows
	case b.r.By == "host" || b.r.By == "gpu":
		return b.put(b.line(lineKey{host: s.Host, name: d.UUID}, s.Host, d), hour, share, s.Use)
	}
	for i := range s.Parts {
		p := &s.Parts[i]
		h := &p.Holder
		// A line is of one box, so that its sums are the same in whatever order boxes come.
		key, name := lineKey{host: s.Host, name: h.Name, space: h.Namespace, kind: h.Kind, pid: h.PID}, h.ID()
		if b.r.By == "tenant" {
			key, name = lineKey{host: s.Host, name: h.Tenant}, cmp.Or(h.Tenant, "(not known)")
		}
		l := b.line(key, s.Host, nil)
		l.name, l.apart = name, b.r.By == "job" && !h.Everywhere()
		if err := b.put(l, hour, share, p.Use); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) line(key lineKey, host string, d *profile.Device) *line {
	l := b.lines[key]
	if l == nil {
		l = &line{host: host, device: d}
		b.lines[key] = l
		b.order = append(b.order, l)
	}
	return l
}

// uuid is the UUID of a line's device, "" of jobs and tenants.
func (l *line) uuid() string {
	if l.device == nil {
		return ""
	}
	return l.device.UUID
}

// put adds a Use of a share of a GPU to an hour of a line.
func (b *Builder) put(l *line, hour int, share float64, u *profile.Use) error {
	if len(l.cells) == 0 {
		l.first = hour
	}
	before, after := max(0, l.first-hour), max(0, hour-l.first-len(l.cells)+1)
	if b.cells += before + after; b.cells > mostCells {
		return &capcli.InputError{File: l.host, Text: fmt.Sprintf("expected at most %s hours of GPUs, found more", capcli.Grouped(mostCells)), Hint: "choose a time or boxes: --from, --to, --host"}
	}
	if before > 0 {
		l.cells, l.first = append(make([]cell, before), l.cells...), hour
	}
	for range after {
		l.cells = append(l.cells, cell{})
	}
	sum, weight := b.measure.of(u)
	weigh := share
	if b.r.Measure == powerMeasure {
		weigh = 1 // only whole GPUs have power
	}
	l.cells[hour-l.first].add(cell{sum * weigh, weight * weigh})
	l.idle += int64(math.Round(float64(u.Idle) * share))
	l.held += int64(math.Round(float64(u.Held) * share))
	return nil
}

// Result returns the heatmap. input are the names of the folders. It fails with *capcli.InputError where
// there was no span.
func (b *Builder) Result(input []string) (*Result, error) {
	if b.wrong != nil {
		return nil, b.wrong
	}
	if !b.any {
		return nil, &capcli.InputError{File: strings.Join(input, ", "), Text: "expected samples of GPUs, found none", Hint: "is it a folder that capcli profile wrote, and do --from, --to, --host and --gpu leave any?"}
	}
	rows := b.rows()
	if len(rows) == 0 {
		return nil, &capcli.InputError{File: strings.Join(input, ", "), Text: "expected jobs that held GPUs, found none", Hint: "--by host or --by gpu shows GPUs that nobody held, too"}
	}
	slices.SortStableFunc(rows, func(x, y *Row) int {
		return cmp.Or(cmp.Compare(y.idle, x.idle), cmp.Compare(y.held, x.held), strings.Compare(x.Host, y.Host), cmp.Compare(number(x), number(y)), strings.Compare(x.Name, y.Name))
	})
	out := &Result{
		Schema: "capcli/profile_heat/v1", Input: input, From: b.from.Stamp(), To: b.to.Stamp(), Zone: b.r.Zone.String(), By: b.r.By, Measure: b.r.Measure,
		Title: b.measure.Title, Unit: b.measure.Unit, Week: b.r.Week, Price: b.r.Price, measure: b.measure, zone: b.r.Zone,
	}
	out.total = b.merge("all", rows)
	if len(rows) > b.r.Rows {
		rest := rows[b.r.Rows:]
		out.LeftOut = len(rest)
		rows = append(rows[:b.r.Rows:b.r.Rows], b.merge(fmt.Sprintf("%s others", capcli.Grouped(int64(len(rest)))), rest))
		rows[b.r.Rows].Others = len(rest)
	}
	out.rows, out.base = rows, b.base
	out.fill()
	return out, nil
}

func number(r *Row) int {
	if r.GPU == nil {
		return -1
	}
	return *r.GPU
}

// rows returns a row for each box, GPU, job or tenant.
func (b *Builder) rows() []*Row {
	slices.SortFunc(b.order, func(x, y *line) int {
		return cmp.Or(strings.Compare(x.host, y.host), strings.Compare(x.uuid(), y.uuid()), strings.Compare(x.name, y.name))
	})
	var rows []*Row
	known := map[string]*Row{} // boxes, jobs and tenants, by name
	for _, l := range b.order {
		name := l.name
		if b.r.By == "host" {
			name = l.host
		}
		r := known[name]
		if r == nil || l.apart || b.r.By == "gpu" {
			r = &Row{Name: name}
			if l.apart || l.device != nil {
				r.Host = l.host
			}
			if b.r.By == "gpu" {
				r.Name, r.UUID, r.GPU = l.host+" "+l.device.Label(), l.device.UUID, &l.device.Index
			}
			rows = append(rows, r)
			if !l.apart {
				known[name] = r
			}
		}
		r.add(l.first, l.cells)
		r.idle, r.held = r.idle+l.idle, r.held+l.held
	}
	return rows
}

func (b *Builder) merge(name string, rows []*Row) *Row {
	out := &Row{Name: name}
	for _, r := range rows {
		out.add(r.first, r.cells)
		out.idle, out.held = out.idle+r.idle, out.held+r.held
	}
	return out
}
