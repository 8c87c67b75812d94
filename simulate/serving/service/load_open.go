package service

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
	"capcli/simulate/serving/traffic"
)

// Opening says for which run requests are opened.
type Opening struct {
	Open  trace.Opener // opens the files that requests: names
	Start capcli.Time  // of the run; NoTime is not known
	Seed  capcli.Seed
	Note  func(string) // gets what the user must know; nil is ignored
}

// note passes remarks on, each with the service's name.
func (o *Opening) note(name string, remarks ...string) {
	for _, r := range remarks {
		if o.Note != nil {
			if name != "" {
				r = name + ": " + r
			}
			o.Note(r)
		}
	}
}

// Traffic returns the requests of the service, as requests: says. It reads the files that are named
// there. It fails with a *capcli.InputError for a file that is not valid, and with a *capcli.RequestError
// where there are no requests.
func (s *Spec) Traffic(ctx context.Context, o Opening) (traffic.Source, error) {
	if s.Agents != nil {
		return s.agentTraffic(&o)
	}
	q := s.Requests
	if q == nil {
		return nil, &capcli.RequestError{Field: "requests", Text: ": the service says nothing of its requests", Hint: "requests: {from: FILE}, or requests: {rate: 10/s, tokens_in: 512, tokens_out: 200}"}
	}
	if q.From != "" {
		return s.replayed(ctx, &o)
	}
	d := q.Demand
	d.Name, d.Curve.Start, d.Curve.Scale = s.Name, o.Start, q.Scale
	d.Tokens.Cached = max(0, q.Cached)
	if err := s.openLengths(ctx, &o, &d); err != nil {
		return nil, err
	}
	if q.Curve != "" {
		if err := s.openCurve(&o, &d.Curve); err != nil {
			return nil, err
		}
	}
	return traffic.Draw(d, o.Seed)
}

// replayed returns the requests of a trace.
func (s *Spec) replayed(ctx context.Context, o *Opening) (traffic.Source, error) {
	q := s.Requests
	read := q.Read
	read.TZ = q.Demand.Curve.Zone
	t, err := requests.ReadFile(ctx, o.Open, q.From, read)
	if err != nil {
		return nil, err
	}
	o.note(s.Name, t.Report.Remarks()...)
	if s.HasBatchTime() {
		for i := range t.Rows {
			r := &t.Rows[i]
			r.In, r.Out, r.Cached, r.Prefix = 1, 1, 0, 0
		}
	}
	shift, err := q.Start.shift(t.Start, o.Start, q.From)
	if err != nil {
		return nil, err
	}
	p, err := traffic.Play(t, traffic.Replay{
		Scale: q.Scale, Speed: q.Speed, Spread: q.Spread, Repeat: q.Repeat, Model: q.Only, Cached: q.Cached, Shift: shift, Name: s.Name,
	}, o.Seed)
	if err != nil {
		return nil, err
	}
	if !q.Start.Own && t.Start != requests.NoStart && o.Start.IsKnown() {
		o.note(s.Name, fmt.Sprintf("the first request of %s, of %s, comes %s after the start of the run", q.From, t.StartTime(), capcli.Seconds(max(0, shift)/requests.Second)))
	}
	if end := p.Length(); end > 0 {
		o.note(s.Name, fmt.Sprintf("the requests of %s end after %s; repeat: true begins them anew", q.From, end))
	}
	return p, nil
}

// shift returns the microseconds from the start of the run to the first time of a file.
func (b *Begin) shift(first int64, start capcli.Time, file string) (int64, error) {
	switch {
	case b.Own && first == requests.NoStart:
		return 0, &capcli.RequestError{Field: "start", Text: ": own needs dates, and the times of " + file + " are none", Hint: "start: 2027-01-31T08:00, or leave it out"}
	case (b.Own || b.At.IsKnown()) && !start.IsKnown():
		return 0, &capcli.RequestError{Field: "start", Text: " is a date, and the run has none", Hint: "leave start out, or give the run a period"}
	case b.Own:
		return first - int64(start)*requests.Second, nil
	case b.At.IsKnown():
		return int64(b.At-start) * requests.Second, nil
	}
	return int64(b.After) * requests.Second, nil
}

// openLengths reads the lengths that tokens_in and tokens_out take from traces.
func (s *Spec) openLengths(ctx context.Context, o *Opening, d *traffic.Demand) error {
	q := s.Requests
	if q.InFrom == "" && q.OutFrom == "" {
		return nil
	}
	open := func(name string) ([]requests.Row, error) {
		if name == "" {
			return nil, nil
		}
		in, done, err := o.Open(name)
		if err != nil {
			return nil, err
		}
		defer done.Close() //nolint:errcheck // it was only read
		rows, report, err := requests.ReadLengths(ctx, in, q.Read)
		if err != nil {
			return nil, err
		}
		o.note(s.Name, report.Remarks()...)
		return rows, nil
	}
	ins, err := open(q.InFrom)
	if err != nil {
		return err
	}
	if q.InFrom == q.OutFrom {
		d.Tokens.Pairs, d.Tokens.Cached = ins, q.Cached
		return nil
	}
	outs, err := open(q.OutFrom)
	if err != nil {
		return err
	}
	for _, r := range ins {
		d.Tokens.Ins = append(d.Tokens.Ins, r.In)
	}
	for _, r := range outs {
		d.Tokens.Outs = append(d.Tokens.Outs, r.Out)
	}
	return nil
}

// stepColumns are columns of a curve whose values are requests in a step.
var stepColumns = []string{"requests", "count", "load"}

// firstIn returns the first of names that a header has; "" is none.
func firstIn(names []string, header string) string {
	have := strings.FieldsFunc(strings.ToLower(header), func(c rune) bool { return strings.ContainsRune(",;\t\" \r\ufeff", c) })
	for _, name := range names {
		if slices.Contains(have, name) {
			return name
		}
	}
	return ""
}

// openCurve reads the rates of a file.
func (s *Spec) openCurve(o *Opening, c *traffic.Curve) error {
	q := s.Requests
	in, done, err := o.Open(q.Curve)
	if err != nil {
		return err
	}
	defer done.Close() //nolint:errcheck // it was only read
	head := trace.Peek(&in)
	plain, err := trace.Unpack(in)
	if err != nil {
		return err
	}
	usual := append([]string{"requests_per_second", "rate", "rps", "y", "mean"}, stepColumns...)
	t, err := series.Read(plain, series.Options{Name: q.Curve, Zone: c.Zone, Usual: usual})
	if err != nil {
		return err
	}
	perStep := q.Within == "per_step"
	if q.Within == "" {
		first, _, _ := strings.Cut(string(trace.PlainHead(q.Curve, head)), "\n")
		perStep = slices.Contains(stepColumns, firstIn(usual, first))
	}
	points, origin, err := pointsOf(t, perStep)
	if err != nil {
		return err
	}
	c.Points = points
	first := requests.NoStart
	if t.Stamp == series.Instant {
		first = origin * requests.Second
	}
	shift, err := q.Start.shift(first, o.Start, q.Curve)
	if err != nil {
		return err
	}
	c.Shift = capcli.Seconds(shift / requests.Second)
	length := points[len(points)-1].At
	switch {
	case q.Repeat == traffic.RepeatOwn:
		c.Repeat = length
	case q.Repeat > 0 && q.Repeat < length:
		return &capcli.RequestError{Field: "repeat", Text: fmt.Sprintf("wants at least the length of %s, %s; found %s", q.Curve, length, q.Repeat)}
	default:
		c.Repeat = q.Repeat
	}
	if c.Repeat == 0 {
		o.note(s.Name, fmt.Sprintf("the rates of %s end after %s; repeat: true begins them anew", q.Curve, c.Shift+length))
	}
	return nil
}

// pointsOf returns the rates of a table of one series, in order of time, and the time of the first. The
// last point says where the one before it ends: after the usual step.
func pointsOf(t *series.Table, perStep bool) ([]traffic.Point, int64, error) {
	fault := func(line int, text, hint string) error {
		return &capcli.InputError{File: t.File, Line: line, Text: text, Hint: hint}
	}
	if len(t.Series) != 1 {
		return nil, 0, fault(0, fmt.Sprintf("expected one series of rates, found %d", len(t.Series)), "take out one of them")
	}
	rows := slices.Clone(t.Series[0].Rows)
	slices.SortStableFunc(rows, func(a, b series.Row) int { return cmp.Compare(a.At, b.At) })
	if t.Stamp != series.Instant {
		return nil, 0, fault(0, "the rates have no times", "give a column time, in dates or seconds since 1970")
	}
	if len(rows) < 2 {
		return nil, 0, fault(0, "expected at least two rates", "")
	}
	step := rows[1].At - rows[0].At
	out := make([]traffic.Point, 0, len(rows)+1)
	for i, r := range rows {
		if i+1 < len(rows) {
			step = rows[i+1].At - r.At
		} else {
			step = rows[1].At - rows[0].At
		}
		switch {
		case step <= 0:
			return nil, 0, fault(r.Line, "the time is there twice", "leave one out")
		case math.IsNaN(r.Value) || r.Value < 0 || r.Value > 1e12:
			return nil, 0, fault(r.Line, fmt.Sprintf("expected a rate from 0, found %v", r.Value), "fill gaps first")
		}
		rate := r.Value
		if perStep {
			rate /= float64(step)
		}
		out = append(out, traffic.Point{At: capcli.Seconds(r.At - rows[0].At), Rate: rate})
	}
	if !slices.ContainsFunc(out, func(p traffic.Point) bool { return p.Rate > 0 }) {
		return nil, 0, fault(0, "all rates are 0", "check its columns")
	}
	return append(out, traffic.Point{At: out[len(out)-1].At + capcli.Seconds(step)}), rows[0].At, nil
}
