package scenarios

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/simulate/width"
)

// rateTable is a table of run times by model and number of GPUs, as it was measured: more GPUs may be slower.
type rateTable struct {
	models []string // in the order of the file
	widths []int    // in increasing order
	points map[measuredAt]point
	rates  bool // whether the values are steps a second; else seconds
}

type measuredAt struct {
	model string // in lower case
	gpus  int
}

// point is a value of the table; nil where the job does not run.
type point struct {
	value *big.Rat
	line  int
}

// maxMeasured is the most rows that a table may have.
const maxMeasured = 100_000

// readMeasured reads the rows of a table that s is about. Its columns are gpu_model, gpus, and one of
// steps_per_s, seconds and run_s. Columns source, job_type, batch_size and consolidated choose rows. A value
// of 0 is that the job does not run there.
func readMeasured(b []byte, s *Scaling) (*rateTable, error) {
	r, err := capcli.NewSheet(s.Table, bytes.NewReader(b), ",")
	if err != nil {
		return nil, err
	}
	c, err := columnsOf(r, s)
	if err != nil {
		return nil, err
	}
	t := &rateTable{points: map[measuredAt]point{}, rates: c.rates}
	n := 0
	err = r.EachRow(func() error {
		if n++; n > maxMeasured {
			return &capcli.InputError{File: s.Table, Text: fmt.Sprintf("over %d rows", maxMeasured)}
		}
		return t.add(r, c, s)
	})
	if err != nil {
		return nil, err
	}
	return t, t.finish(s)
}

// columns are where a table has what.
type columns struct {
	model, gpus, value int
	rates              bool
	valueName          string
	choose             []chosen
}

// chosen is a column that chooses rows, and the value wanted.
type chosen struct {
	at   int
	name string
	want string
}

func columnsOf(r *capcli.Sheet, s *Scaling) (c columns, err error) {
	missing := func(name string) error {
		return &capcli.InputError{File: s.Table, Line: 1, Field: name, Text: "no such column; want a header gpu_model,gpus,steps_per_s"}
	}
	if c.model, c.gpus = r.FindColumn("gpu_model"), r.FindColumn("gpus"); c.model < 0 {
		return c, missing("gpu_model")
	}
	if c.gpus < 0 {
		return c, missing("gpus")
	}
	c.value = -1
	for _, name := range []string{"steps_per_s", "seconds", "run_s"} {
		if at := r.FindColumn(name); at >= 0 {
			c.value, c.valueName, c.rates = at, name, name == "steps_per_s"
			break
		}
	}
	if c.value < 0 {
		return c, missing("steps_per_s")
	}
	for _, x := range []chosen{{0, "job_type", s.Job}, {0, "batch_size", s.Batch}, {0, "source", s.Source}, {0, "consolidated", s.Consolidated}} {
		if x.at = r.FindColumn(x.name); x.want != "" && x.at < 0 {
			return c, missing(x.name)
		} else if x.want != "" {
			c.choose = append(c.choose, x)
		}
	}
	return c, nil
}

func (t *rateTable) add(r *capcli.Sheet, c columns, s *Scaling) error {
	for _, x := range c.choose {
		if r.Cell(x.at) != x.want {
			return nil
		}
	}
	fault := func(field, text string) error {
		return &capcli.InputError{File: s.Table, Line: r.Line, Field: field, Text: text}
	}
	model := r.Cell(c.model)
	gpus, err := strconv.Atoi(r.Cell(c.gpus))
	if err != nil || gpus < 1 || gpus > maxGPUs {
		return fault("gpus", fmt.Sprintf("want a whole number of 1 to %d, found %s", maxGPUs, capcli.Quoted(r.Cell(c.gpus))))
	}
	if model == "" {
		return fault("gpu_model", "the model is empty")
	}
	v, err := width.ParseDecimal(r.Cell(c.value))
	if err != nil || v.Sign() < 0 || v.Cmp(big.NewRat(1e15, 1)) > 0 {
		return fault(c.valueName, "want a number of 0 or more, found "+capcli.Quoted(r.Cell(c.value)))
	}
	at := measuredAt{strings.ToLower(model), gpus}
	if old, twice := t.points[at]; twice {
		return &capcli.InputError{
			File: s.Table, Line: r.Line,
			Text: fmt.Sprintf("%d GPUs of %s are in line %d too", gpus, capcli.Quoted(model), old.line),
			Hint: "job_type, batch_size, source and consolidated of scaling choose rows",
		}
	}
	p := point{line: r.Line}
	if v.Sign() > 0 {
		p.value = v
	}
	t.points[at] = p
	if !slices.ContainsFunc(t.models, func(m string) bool { return strings.EqualFold(m, model) }) {
		t.models = append(t.models, model)
	}
	if i, have := slices.BinarySearch(t.widths, gpus); !have {
		t.widths = slices.Insert(t.widths, i, gpus)
	}
	return nil
}

// finish fails if the table says nothing.
func (t *rateTable) finish(s *Scaling) error {
	if len(t.points) > 0 {
		return nil
	}
	var by []string
	for _, x := range [][2]string{{"job_type", s.Job}, {"batch_size", s.Batch}, {"source", s.Source}, {"consolidated", s.Consolidated}} {
		if x[1] != "" {
			by = append(by, x[0]+" "+capcli.Quoted(x[1]))
		}
	}
	if len(by) == 0 {
		return &capcli.InputError{File: s.Table, Text: "the table has no rows"}
	}
	return &capcli.InputError{File: s.Table, Text: "no row has " + strings.Join(by, " and ")}
}

// timeOf returns the run time on so many GPUs of a model, up to a common factor; nil where the job does not
// run.
func (t *rateTable) timeOf(model string, gpus int) *big.Rat {
	p := t.points[measuredAt{strings.ToLower(model), gpus}]
	switch {
	case p.value == nil:
		return nil
	case t.rates:
		return new(big.Rat).Inv(p.value)
	}
	return p.value
}
