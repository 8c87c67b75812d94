package demand

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
	"capcli/profile/logs/parquet"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// Level is a capacity: one number of GPUs for every series, or a table. The zero value is none.
type Level struct {
	GPUs     float64
	File     string // name of a table with unique_id, ds and capacity
	Measured bool   // the capacity that the GPU samples measured
}

// measuredText is the past capacity of a request that stands for Level.Measured.
const measuredText = "measured"

// parseLevel parses a number over 0 or the name of a file. field is the name of the setting in
// errors.
func parseLevel(field, text string) (Level, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Level{File: text}, nil
	}
	if !(v > 0) || math.IsInf(v, 0) {
		return Level{}, &capcli.RequestError{Field: field, Text: fmt.Sprintf("wants a number over 0, found %v", v), Hint: "or the name of a table with unique_id, ds and capacity"}
	}
	return Level{GPUs: v}, nil
}

// IsGiven reports whether l is a level, not none.
func (l Level) IsGiven() bool { return l != Level{} }

// MarshalJSON implements json.Marshaler: a number, the name of a file, "measured", or null.
func (l Level) MarshalJSON() ([]byte, error) {
	switch {
	case l.File != "":
		return json.Marshal(l.File)
	case l.Measured:
		return json.Marshal(measuredText)
	case l.IsGiven():
		return json.Marshal(l.GPUs)
	}
	return []byte("null"), nil
}

// levels is a level of a request with its table.
type levels struct {
	Level
	table *series.Levels // nil where the level is not a table
}

// Common names of the column of values in tables besides the history.
var (
	capacityNames = []string{"capacity", "gpus", "limit", "quota", "cap", "capacity_gpus", "total"}
	pendingNames  = []string{"pending", "queue", "queued", "waiting", "pending_gpus", "gpus"}
)

// readBeside reads the tables besides the history: the cap, the past capacity and the queue.
func (r *reader) readBeside() error {
	for _, s := range []*levels{&r.cap, &r.past} {
		if s.File == "" {
			continue
		}
		opts := r.optionsBeside(s.File, capacityNames)
		if opts.Levels = true; s == &r.past {
			opts.Value = r.CapacityColumn
		}
		t, err := r.readLevels(opts)
		if err != nil {
			return err
		}
		if s.table, err = t.Levels(r.Trace.TZ); err != nil {
			return err
		}
	}
	if r.Pending == "" {
		return nil
	}
	opts := r.optionsBeside(r.Pending, pendingNames)
	opts.Value = r.PendingColumn
	t, err := r.readLevels(opts)
	if err != nil {
		return err
	}
	r.waiting = t
	return checkNotNegative(t, r.Trace.TZ)
}

// optionsBeside returns the options for a table besides the history. usual are the common names
// of its column of values.
func (r *reader) optionsBeside(file string, usual []string) series.Options {
	return series.Options{Name: file, ID: r.ID, Time: r.Time, Usual: usual, Loose: true, Zone: r.Trace.TZ, DSTLater: r.Trace.DSTLater, Dates: r.Trace.Dates}
}

// readLevels reads a table besides the history, as text or Parquet.
func (r *reader) readLevels(opts series.Options) (*series.Table, error) {
	in, closer, err := r.src.Open(opts.Name)
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	opts.Name = in.Name
	head := trace.Peek(&in)
	if parquet.IsParquet(trace.PlainHead(in.Name, head)) {
		table, ok, err := r.parquetTable(&in, parquet.IsParquet(head), opts)
		if err == nil && !ok {
			err = &capcli.InputError{File: in.Name, Text: "expected the columns unique_id, ds and capacity, found a job log", Hint: "the job log itself is the history: capcli forecast " + in.Name + " --measure usage"}
		}
		return table, err
	}
	text, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	return series.Read(text, opts)
}

// checkNotNegative returns an error for the first negative value.
func checkNotNegative(t *series.Table, zone *time.Location) error {
	for _, s := range t.Series {
		for _, row := range s.Rows {
			if row.Value < 0 {
				return &capcli.InputError{
					File: t.File, Line: row.Line, Text: fmt.Sprintf("%s, %s: expected 0 or more GPUs, found %g", s.Name, t.Text(row.At, zone), row.Value),
					Hint: "leave it empty where it is not known",
				}
			}
		}
	}
	return nil
}

// settle sets the cap, the past capacity and the queue of each series from the other tables, and
// adds a warning for each series that a table lacks. It fails where a table does not fit the
// history, and where usage is negative.
func (r *reader) settle(hs *Histories) error {
	hs.Past, hs.Cap, hs.caps, hs.labelled = r.past.Level, r.cap.Level, r.cap.table, r.Prometheus != ""
	hs.Ahead = r.Ahead
	if l := r.cap.table; l != nil {
		beside := tableBeside{r.cap.File, l.Stamp(), l.Constant(), l.Names(), "no cap in " + r.cap.File + ": nothing bounds it"}
		if err := hs.pairWith(beside, func(*Censoring, string) {}); err != nil {
			return err
		}
	}
	if !r.censored() {
		return nil
	}
	for _, h := range hs.List {
		if h.Censoring == nil {
			continue
		}
		if err := h.checkUsage(); err != nil {
			return err
		}
		if past := r.past.Level; past.File == "" && past.GPUs > 0 {
			h.Censoring.Limit = slices.Repeat([]float64{past.GPUs}, len(h.Censoring.Fine.Values))
		}
	}
	if l := r.past.table; l != nil {
		beside := tableBeside{r.past.File, l.Stamp(), l.Constant(), l.Names(), "no capacity in " + r.past.File}
		err := hs.pairWith(beside, func(c *Censoring, name string) { c.Limit = l.MeanOver(name, &c.Fine, 0, len(c.Fine.Values)) })
		if err != nil {
			return err
		}
	}
	if t := r.waiting; t != nil {
		beside := tableBeside{t.File, t.Stamp, false, t.Names(), "no queue in " + t.File}
		err := hs.pairWith(beside, func(c *Censoring, name string) { c.Pending = t.MeansOn(&c.Fine, name) })
		if err != nil {
			return err
		}
	}
	for _, h := range hs.List {
		if h.Censoring != nil {
			h.warnUnknown()
		}
	}
	return nil
}

// tableBeside describes a table besides the history.
type tableBeside struct {
	file    string
	stamp   series.Stamp
	always  bool     // its values hold always, so that its stamps do not matter
	names   []string // names of its series
	missing string   // warning for a history that the table lacks
}

// pairWith calls use for each history with a Censoring, with the name of its series in the table.
// It adds a warning to each history that the table lacks.
func (hs *Histories) pairWith(t tableBeside, use func(c *Censoring, name string)) error {
	if err := hs.checkStamps(t); err != nil {
		return err
	}
	found, err := hs.pair(t.file, t.names)
	if err != nil {
		return err
	}
	for i, h := range hs.List {
		switch {
		case found[i] == "":
			h.Warnings = append(h.Warnings, t.missing)
		case h.Censoring != nil:
			use(h.Censoring, found[i])
		}
	}
	return nil
}

// checkStamps returns an error where the stamps of a table are of another kind than those of the
// history.
func (hs *Histories) checkStamps(t tableBeside) error {
	if t.always || (t.stamp == series.Instant) == hs.Clock {
		return nil
	}
	kinds := map[bool]string{true: "times", false: "whole numbers"}
	return &capcli.InputError{
		File: t.file, Field: "ds", Text: fmt.Sprintf("its stamps are %s, those of the history %s", kinds[!hs.Clock], kinds[hs.Clock]),
		Hint: "write them as in the history, or leave them out where the figure never changed",
	}
}

// pair returns for each series of the history its name in a table, "" where the table lacks it.
// have are the names in the table. It fails where the table has no series of the history, and
// notes the other series of the table.
func (hs *Histories) pair(file string, have []string) ([]string, error) {
	out := make([]string, len(hs.List))
	used, mine := map[string]bool{}, []string{}
	for i, h := range hs.List {
		name, ok := matchName(h.Name, len(hs.List), have, hs.labelled)
		if ok {
			out[i], used[name] = name, true
		}
		mine = append(mine, h.Name)
	}
	if len(used) == 0 {
		return nil, &capcli.InputError{
			File: file, Field: "unique_id", Text: fmt.Sprintf("none of its series is in the history: found %s; the history has %s", strings.Join(capcli.Abridge(have, 3), ", "), strings.Join(capcli.Abridge(mine, 3), ", ")),
			Hint: "name them in both alike (unique_id)",
		}
	}
	var other []string
	for _, h := range have {
		if !used[h] {
			other = append(other, h)
		}
	}
	if len(other) > 0 {
		hs.Notes = append(hs.Notes, fmt.Sprintf("%s: %d series that the history does not have: %s", file, len(other), strings.Join(capcli.Abridge(other, 3), ", ")))
	}
	return out, nil
}

// CapOver returns the upper bound on a forecast of h, in GPUs, for each of the given number of
// steps from the start of h. It is +Inf where the bound is unknown, and nil where h has none.
func (hs *Histories) CapOver(h *History, steps int) []float64 {
	if !hs.Cap.IsGiven() {
		return nil
	}
	if hs.caps == nil {
		return slices.Repeat([]float64{hs.Cap.GPUs}, steps)
	}
	name, ok := matchName(h.Name, len(hs.List), hs.caps.Names(), hs.labelled)
	if !ok {
		return nil
	}
	out := hs.caps.MeanOver(name, &h.Regular, 0, steps)
	for i, v := range out {
		if math.IsNaN(v) {
			out[i] = math.Inf(1)
		}
	}
	return out
}

// matchName returns the name in a table, one of have, of the series called name in a history of
// count series. It reports false where there is none. A table of one unnamed series matches a
// history of one series. Names of Prometheus match by their labels, because their metrics differ.
func matchName(name string, count int, have []string, prom bool) (string, bool) {
	if slices.Contains(have, name) {
		return name, true
	}
	unnamed := func(n string) bool { return n == "series" }
	if count == 1 && len(have) == 1 && (prom || unnamed(name) || unnamed(have[0])) {
		return have[0], true
	}
	for _, h := range have {
		if prom && labelsIn(h) == labelsIn(name) {
			return h, true
		}
	}
	return "", false
}

// labelsIn returns the labels in the name of a Prometheus series.
func labelsIn(name string) string {
	metric, in, braces := strings.Cut(name, "{")
	switch {
	case braces:
		return strings.TrimSuffix(in, "}")
	case strings.Contains(metric, "="):
		return metric
	}
	return ""
}

// SetLevels sets the cap, the past capacity and the capacity ahead of the request from texts, each
// a number or the name of a file; past may also be "measured". The cap, limit, bounds the
// forecast. The past capacity limited usage, so that usage was not demand. capacity is the
// capacity ahead if it is a number, and a past capacity if it is a file. SetLevels fails with a *capcli.RequestError, also where two
// texts set the same level.
func (r *Request) SetLevels(capacity, past, limit string) error {
	r.Cap, r.Past, r.Ahead = Level{}, Level{}, 0
	var err error
	if limit != "" {
		if r.Cap, err = parseLevel("cap", limit); err != nil {
			return err
		}
	}
	switch {
	case past == measuredText:
		r.Past.Measured = true
	case past != "":
		if r.Past, err = parseLevel("past-capacity", past); err != nil {
			return err
		}
	}
	if capacity == "" {
		return nil
	}
	l, err := parseLevel("capacity", capacity)
	switch {
	case err != nil:
		return err
	case l.File == "" && r.Cap.IsGiven():
		return &capcli.RequestError{Text: fmt.Sprintf("--capacity %s and --cap %s are two capacities ahead", capacity, limit), Hint: "give one of them: --capacity asks when it is full, --cap also cuts the forecast there; the GPUs that there were are --past-capacity"}
	case l.File == "":
		r.Ahead = l.GPUs
	case r.Past.IsGiven() || r.CapacityQuery != "":
		return &capcli.RequestError{Text: fmt.Sprintf("--capacity %s and --past-capacity %s say the same thing", capacity, past), Hint: "give one of them; a bound on the forecast is --cap"}
	default:
		r.Past = l
	}
	return nil
}
