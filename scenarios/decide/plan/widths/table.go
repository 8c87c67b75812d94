package widths

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/simulate/width"
)

// rowsMost is the most rows of a table.
const rowsMost = 1 << 20

// Names under which a table may have its columns, ours first.
var (
	modelNames = []string{"gpu_model", "model", "gpu", "accelerator"}
	countNames = []string{"gpus", "num_gpus", "gpu_count", "width"}
	timeNames  = []string{"run_s", "run_time_s", "seconds", "duration_s"}
	rateNames  = []string{"steps_per_s", "steps_per_second", "throughput"}
	typeNames  = []string{"job_type", "job", "class"}
)

// table is delimited text with a header, and which of its columns are which.
type table struct {
	*capcli.Sheet
	model, gpus, time int
	rate              bool // time is a rate in steps a second
	filters           []filter
	seen              map[string][]string // first row of each model and count, its line last
}

// filter keeps the rows that have a value in a column.
type filter struct {
	column int
	value  string
	values map[string]bool // other values of the column that were met
	kept   bool            // a row has the value
}

func (t *table) fault(field, hint, format string, args ...any) error {
	return &capcli.InputError{File: t.File, Line: t.Line, Field: field, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// readRows reads the rows of a table that the request chooses.
func (q *question) readRows(text io.Reader) error {
	t, err := q.openTable(text)
	if err != nil {
		return err
	}
	unpriced := map[string]bool{}
	var idle []string
	for n := 0; ; n++ {
		more, err := t.Next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if n == rowsMost {
			return t.fault("", "cut the table", "more than %d rows", rowsMost)
		}
		row := t.words()
		if !t.choose(row) {
			continue
		}
		m := q.find(row[t.model])
		if m == nil {
			unpriced[row[t.model]] = true
			continue
		}
		p, runs, err := q.readPoint(t, row)
		switch {
		case err != nil:
			return err
		case !runs:
			idle = append(idle, fmt.Sprintf("%d %s", p.GPUs, m.Name))
		default:
			m.Points = append(m.Points, p)
		}
	}
	return q.checkRows(t, unpriced, idle)
}

func (q *question) openTable(text io.Reader) (*table, error) {
	s, err := capcli.NewSheet(q.Table, text, ",;\t")
	if err != nil {
		return nil, err
	}
	t := &table{Sheet: s, seen: map[string][]string{}}
	if t.model, err = t.Column(modelNames...); err != nil {
		return nil, err
	}
	if t.gpus, err = t.Column(countNames...); err != nil {
		return nil, err
	}
	if t.time = t.FindColumn(timeNames...); t.time < 0 {
		t.rate = true
		if t.time, err = t.Column(append(slices.Clone(timeNames[:1]), rateNames...)...); err != nil {
			return nil, err
		}
	}
	switch {
	case t.rate && q.Steps < 1:
		return nil, refuse("steps", "steps=2000000", "is missing: %s has rates in steps a second, so the steps of the job are needed", q.Table)
	case !t.rate && q.Steps != 0:
		return nil, refuse("steps", "leave it out", "is of no use: %s has run times, not rates", q.Table)
	}
	if q.JobType != "" {
		c, err := t.Column(typeNames...)
		if err != nil {
			return nil, err
		}
		t.filters = append(t.filters, filter{column: c, value: q.JobType, values: map[string]bool{}})
	}
	pairs, err := splitPairs("where", "where=batch_size=64", q.Where)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		c, err := t.Column(p[0])
		if err != nil {
			return nil, err
		}
		t.filters = append(t.filters, filter{column: c, value: p[1], values: map[string]bool{}})
	}
	return t, nil
}

func (t *table) words() []string {
	return capcli.Map(t.Row, func(f []byte) string { return strings.TrimSpace(string(f)) })
}

// valuesMost is the most values of a column that an error lists.
const valuesMost = 30

// choose reports whether the filters keep a row.
func (t *table) choose(row []string) bool {
	for i := range t.filters {
		f := &t.filters[i]
		if !strings.EqualFold(row[f.column], f.value) {
			if len(f.values) <= valuesMost {
				f.values[row[f.column]] = true
			}
			return false
		}
		f.kept = true
	}
	return true
}

// readPoint reads the GPU count and the run time of a row; runs is false where the job does not run so.
func (q *question) readPoint(t *table, row []string) (p width.Point, runs bool, err error) {
	n, err := strconv.Atoi(row[t.gpus])
	if err != nil || n < 1 || n > gpusMost {
		return p, false, t.fault(t.Names[t.gpus], "", "wants a number of GPUs from 1 to %d, found %s", gpusMost, capcli.Quoted(row[t.gpus]))
	}
	p.GPUs = n
	key := strings.ToLower(row[t.model]) + "|" + row[t.gpus]
	if first, twice := t.seen[key]; twice {
		return p, false, t.rowTwice(first, row)
	}
	t.seen[key] = append(slices.Clone(row), strconv.Itoa(t.Line))
	value, err := width.ParseDecimal(row[t.time])
	if err != nil {
		return p, false, t.fault(t.Names[t.time], "", "%v", err)
	}
	if t.rate {
		p.Run, runs, err = width.RunOfSteps(q.Steps, value)
	} else if value.Sign() != 0 {
		p.Run, err = width.RoundUp(value)
		runs = err == nil
	}
	if err != nil || p.Run > timeMost {
		return p, false, t.fault(t.Names[t.time], "", "wants a run time over 0 and under 1000 years, found %s", capcli.Quoted(row[t.time]))
	}
	return p, runs, nil
}

// rowTwice is the error of two rows with one model and GPU count: it names the column that tells them apart.
func (t *table) rowTwice(first, row []string) error {
	hint := "leave one of them out"
	for i := range t.Names {
		if i != t.time && first[i] != row[i] {
			hint = fmt.Sprintf("choose with --where %s=%s or --where %s=%s", t.Names[i], first[i], t.Names[i], row[i])
			break
		}
	}
	return t.fault("", hint, "%s on %s GPUs is in line %s too: one job has one run time there", row[t.model], row[t.gpus], first[len(first)-1])
}

// checkRows fails where a value was nowhere or a model has no row, and notes what was left out.
func (q *question) checkRows(t *table, unpriced map[string]bool, idle []string) error {
	for i := range t.filters {
		if f := &t.filters[i]; !f.kept {
			return &capcli.InputError{
				File: t.File, Field: t.Names[f.column], Text: fmt.Sprintf("no row has %s", capcli.Quoted(f.value)),
				Hint: "values: " + strings.Join(capcli.Abridge(slices.Sorted(maps.Keys(f.values)), valuesMost), ", "),
			}
		}
	}
	for i := range q.models {
		if m := &q.models[i]; len(m.Points) == 0 {
			have := slices.Sorted(maps.Keys(unpriced))
			for j := range q.models {
				if len(q.models[j].Points) > 0 {
					have = append(have, q.models[j].Name)
				}
			}
			text := fmt.Sprintf("no row with a run time for %s, which has a price", m.Name)
			return &capcli.InputError{File: t.File, Field: t.Names[t.model], Text: text, Hint: "models of the rows chosen: " + cmp.Or(strings.Join(have, ", "), "none")}
		}
	}
	if len(idle) > 0 {
		q.notes = append(q.notes, "the job does not run on "+strings.Join(capcli.Abridge(idle, 8), ", ")+" (rate 0)")
	}
	if len(unpriced) > 0 {
		q.notes = append(q.notes, "without a price, so left out: "+strings.Join(capcli.Abridge(slices.Sorted(maps.Keys(unpriced)), 8), ", "))
	}
	return nil
}
