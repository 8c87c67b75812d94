package main

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/parquet"
	"capcli/profile/series"
	"capcli/profile/trace"
)

// censorOptions say what bounds the forecast, and what held the history down.
// These are two things: a cap is a promise about the future, a past capacity is
// the reason why usage was not demand.
type censorOptions struct {
	capacity, past, cap string // N or FILE
	pending             string // FILE
	capacityCol         string
	pendingCol          string
	capacityQuery       string
	pendingQuery        string

	bound   levelSource // no forecast above it
	limit   levelSource // what there was
	waiting *series.Table
}

// levelSource is one figure for every series, or a table of levels; the zero
// value is nothing.
type levelSource struct {
	flag string // that gave it
	one  float64
	// measured is of the past capacity: what the GPU samples saw.
	measured bool
	file     string
	levels   *series.Levels
}

func (l *levelSource) given() bool { return l.flag != "" }

func (o *censorOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.capacity, "capacity", "", "a number is --cap, a FILE is --past-capacity: `N|FILE`")
	f.StringVar(&o.past, "past-capacity", "", "GPUs there were, `N|FILE`; of samples also measured: tells demand from usage")
	f.StringVar(&o.cap, "cap", "", "no forecast, range or future above it: `N|FILE` (unique_id, ds, capacity)")
	f.StringVar(&o.pending, "pending", "", "GPUs that waited: `FILE`; demand is then usage and queue together")
	f.StringVar(&o.capacityCol, "capacity-col", "", "`NAME` of the column of past capacity, in the history or in its file")
	f.StringVar(&o.pendingCol, "pending-col", "", "`NAME` of the column of waiting GPUs, in the history or in its file")
	f.StringVar(&o.capacityQuery, "capacity-query", "", "`PROMQL` of the past capacity")
	f.StringVar(&o.pendingQuery, "pending-query", "", "`PROMQL` of the waiting GPUs")
}

// asked tells whether demand is to be told from usage.
func (o *censorOptions) asked() bool {
	return o.limit.given() || o.pending != "" || o.capacityCol != "" || o.pendingCol != "" || o.capacityQuery != "" || o.pendingQuery != ""
}

// check tells numbers from files and refuses what says the same thing twice.
func (o *censorOptions) check() error {
	var err error
	if o.cap != "" {
		if o.bound, err = source("cap", o.cap); err != nil {
			return err
		}
	}
	if o.past != "" {
		o.limit = levelSource{flag: "past-capacity", measured: o.past == measured}
		if o.limit.measured {
			// the history itself says it
		} else if o.limit, err = source("past-capacity", o.past); err != nil {
			return err
		}
	}
	if o.capacityQuery != "" && o.limit.given() || o.pendingQuery != "" && o.pending != "" {
		return &usageError{text: "a query and a file say the same thing: --capacity-query and --past-capacity, or --pending-query and --pending", hint: "give one of them"}
	}
	if o.capacity == "" {
		return nil
	}
	s, err := source("capacity", o.capacity)
	switch {
	case err != nil:
		return err
	case s.file == "" && o.bound.given():
		return &usageError{text: fmt.Sprintf("--capacity %s and --cap %s say the same thing", o.capacity, o.cap), hint: "give one of them; the GPUs that there were are --past-capacity"}
	case s.file == "":
		o.bound = s
	case o.limit.given() || o.capacityQuery != "":
		return &usageError{text: fmt.Sprintf("--capacity %s and --past-capacity %s say the same thing", o.capacity, o.past), hint: "give one of them; a bound on the forecast is --cap"}
	default:
		o.limit = s
	}
	return nil
}

// source tells a number from the name of a file.
func source(flag, text string) (levelSource, error) {
	out := levelSource{flag: flag}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		out.file = text
	case !(v > 0) || math.IsInf(v, 0):
		return out, &usageError{text: fmt.Sprintf("--%s wants a number over 0, found %v", flag, v), hint: "or the name of a table with unique_id, ds and capacity"}
	}
	out.one = v
	return out, nil
}

// names of the column of values in tables beside the history.
var (
	capacityNames = []string{"capacity", "gpus", "limit", "quota", "cap", "capacity_gpus", "total"}
	pendingNames  = []string{"pending", "queue", "queued", "waiting", "pending_gpus", "gpus"}
)

// read reads the tables beside the history.
func (o *historyOptions) readBeside(e *env) error {
	c := &o.censor
	for _, s := range []*levelSource{&c.bound, &c.limit} {
		if s.file == "" {
			continue
		}
		opts := o.beside(s.file, capacityNames)
		if opts.Levels = true; s == &c.limit {
			opts.Value = c.capacityCol
		}
		t, err := o.readTable(e, opts)
		if err != nil {
			return err
		}
		if s.levels, err = t.Levels(o.zone); err != nil {
			return err
		}
	}
	if c.pending == "" {
		return nil
	}
	opts := o.beside(c.pending, pendingNames)
	opts.Value = c.pendingCol
	t, err := o.readTable(e, opts)
	if err != nil {
		return err
	}
	c.waiting = t
	return notNegative(t, o)
}

// beside are the options for a table that lies beside the history.
func (o *historyOptions) beside(file string, usual []string) series.Options {
	return series.Options{Name: file, ID: o.id, Time: o.time, Usual: usual, Loose: true, Zone: o.zone, DSTLater: o.read.dst == "later"}
}

// readTable reads a table beside the history.
func (o *historyOptions) readTable(e *env, opts series.Options) (*series.Table, error) {
	in, closer, err := openInput(e, opts.Name)
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	opts.Name = in.Name
	buf := bufio.NewReaderSize(in.R, headBytes)
	in.R = buf
	head, _ := buf.Peek(headBytes) // what is wrong with it shows when it is read
	if parquet.IsParquet(plainHead(in.Name, head)) {
		table, ok, err := o.parquetTable(&in, parquet.IsParquet(head), opts)
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

// notNegative refuses figures under 0.
func notNegative(t *series.Table, o *historyOptions) error {
	for _, s := range t.Series {
		for _, row := range s.Rows {
			if row.Value < 0 {
				return &capcli.InputError{
					File: t.File, Line: row.Line, Text: fmt.Sprintf("%s, %s: expected 0 or more GPUs, found %g", s.Name, t.Text(row.At, o.zone), row.Value),
					Hint: "leave it empty where it is not known",
				}
			}
		}
	}
	return nil
}

// more are the columns of the history that are to be read beside its values.
func (o *censorOptions) more() []string {
	var out []string
	if o.capacityCol != "" && o.limit.file == "" {
		out = append(out, o.capacityCol)
	}
	if o.pendingCol != "" && o.pending == "" {
		out = append(out, o.pendingCol)
	}
	return out
}

// matching finds the name under which a table beside the history knows the
// series called name, one of count. A table that names no series goes with the
// only one; names of Prometheus match by their labels, for the metric is another.
func matching(name string, count int, have []string, prom bool) (string, bool) {
	if slices.Contains(have, name) {
		return name, true
	}
	unnamed := func(n string) bool { return n == "series" }
	if count == 1 && len(have) == 1 && (prom || unnamed(name) || unnamed(have[0])) {
		return have[0], true
	}
	for _, h := range have {
		if prom && labels(h) == labels(name) {
			return h, true
		}
	}
	return "", false
}

// labels are those of a series of Prometheus.
func labels(name string) string {
	metric, in, braces := strings.Cut(name, "{")
	switch {
	case braces:
		return strings.TrimSuffix(in, "}")
	case strings.Contains(metric, "="):
		return metric
	}
	return ""
}
