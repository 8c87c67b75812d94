package curve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan"
)

// maxDocument is the largest demand curve in JSON, in bytes.
const maxDocument = 256 << 20

// demandDocument is a demand curve in one JSON document: a forecast, or a start, a step and values.
type demandDocument struct {
	Schema string             `json:"schema"`
	Step   string             `json:"step"`
	StepS  *float64           `json:"step_s"`
	Start  any                `json:"start"`
	DS     []any              `json:"ds"`
	Y      []*float64         `json:"y"`
	Values []*float64         `json:"values"`
	Series []forecastSeries   `json:"series"`
	Lines  map[string]float64 `json:"line_quantiles"`
}

// forecastSeries is one series of the output of capcli forecast -o json.
type forecastSeries struct {
	ID        string                `json:"unique_id"`
	DS        []any                 `json:"ds"`
	Mean      []*float64            `json:"mean"`
	Intervals []forecastInterval    `json:"intervals"`
	Lines     map[string][]*float64 `json:"lines"`
}

type forecastInterval struct {
	Level float64    `json:"level"`
	Lo    []*float64 `json:"lo"`
	Hi    []*float64 `json:"hi"`
}

// demandRow is one value of a list of rows.
type demandRow struct {
	ID any      `json:"unique_id"`
	DS any      `json:"ds"`
	Y  *float64 `json:"y"`
}

// isDocument reports whether a file that begins with head is one JSON document with a curve, rather
// than a row of JSON on each line or a list of jobs.
func isDocument(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))))
	first, err := d.Token()
	if err != nil {
		return false
	}
	wanted := []string{"values", "series", "schema", "step_s"}
	if first == json.Delim('[') {
		wanted = []string{"ds", "y"}
		if first, err = d.Token(); err != nil {
			return false
		}
		if first != json.Delim('{') {
			return true // a list of values, or nothing
		}
	}
	return first == json.Delim('{') && hasKey(d, wanted)
}

// hasKey reports whether the object that d is in has one of the keys. It looks as far as the JSON
// can be read.
func hasKey(d *json.Decoder, wanted []string) bool {
	key, columns := true, false
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return false
		}
		if columns && t == json.Delim('[') {
			return true // a list for each column
		}
		columns = false
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > 1 {
			key = false
			continue
		}
		text, ok := t.(string)
		if key = !key; !key && ok && slices.Contains(wanted, text) {
			return true
		}
		columns = !key && (text == "ds" || text == "y")
	}
	return false
}

// readDocument reads a curve in JSON.
func (s *Source) readDocument(in trace.Input) (*Demand, error) {
	r, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", in.Name, err)
	}
	if len(text) > maxDocument {
		return nil, &capcli.InputError{File: in.Name, Text: "expected at most 256 MiB of JSON, found more", Hint: "give a table: ds,y"}
	}
	return s.parseDocument(in.Name, bytes.TrimPrefix(text, []byte("\ufeff")))
}

func (s *Source) parseDocument(name string, text []byte) (*Demand, error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '[' {
		return s.fromList(name, text)
	}
	var doc demandDocument
	if err := decodeWhole(name, text, &doc); err != nil {
		return nil, err
	}
	if doc.Schema != "" && !strings.HasPrefix(doc.Schema, "capcli/forecast/") && doc.Values == nil {
		return nil, &capcli.InputError{File: name, Field: "schema", Text: fmt.Sprintf("expected a demand curve or capcli/forecast/v1, found %q", doc.Schema), Hint: "write a forecast with capcli forecast -o json"}
	}
	if doc.Values == nil && doc.Y != nil && doc.DS != nil {
		doc.Series = []forecastSeries{{ID: "series", DS: doc.DS, Mean: doc.Y}}
	} else if doc.Values == nil {
		doc.Values = doc.Y
	}
	if doc.Series != nil {
		return s.fromForecast(name, &doc)
	}
	if s.Quantile > 0 {
		return nil, &capcli.RequestError{Field: "quantile", Text: "is for what capcli forecast -o json wrote, and " + name + " has only one value a step"}
	}
	return s.fromValues(name, &doc)
}

// decodeWhole decodes text as one JSON document with nothing after it.
func decodeWhole(name string, text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			return &capcli.InputError{File: name, Line: lineAt(text, d.InputOffset()), Text: "expected one JSON document, found more after it", Hint: "give each curve a file"}
		}
		return nil
	}
	out := &capcli.InputError{File: name, Text: "is no JSON: " + err.Error(), Hint: `write {"start": "2027-01-01", "step_s": 3600, "values": [4, 5]}, or [{"ds": "2027-01-01", "y": 4}]`, Err: err}
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		out.Line = lineAt(text, syntax.Offset)
	case errors.As(err, &typed):
		out.Line, out.Field = lineAt(text, typed.Offset), typed.Field
		out.Text = fmt.Sprintf("expected %s, found a %s", jsonKind(typed.Type.String()), typed.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		out.Text = "the document ends in the middle"
	}
	return out
}

// jsonKind returns a Go type in words.
func jsonKind(kind string) string {
	switch kind {
	case "float64", "int":
		return "a number"
	case "string":
		return "a text"
	}
	if strings.HasPrefix(kind, "[]") {
		return "a list"
	}
	return "an object"
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte{'\n'})
}

// orMissing returns the value of v; NaN for nil.
func orMissing(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// fromValues returns the curve of a start, a step and values.
func (s *Source) fromValues(name string, doc *demandDocument) (*Demand, error) {
	if len(doc.Values) == 0 {
		return nil, &capcli.InputError{File: name, Field: "values", Text: "expected a list of values, found none", Hint: `write {"start": "2027-01-01", "step_s": 3600, "values": [4, 5]}`}
	}
	start, step := capcli.NoTime, capcli.Step{Seconds: capcli.Hour}
	switch at := doc.Start.(type) {
	case nil:
	case string:
		t, err := capcli.ParseTime(at, s.Trace.TZ, false)
		if err != nil {
			return nil, &capcli.InputError{File: name, Field: "start", Text: "expected a date or a time: " + err.Error(), Hint: "write 2027-01-01 or 2027-01-01T00:00:00Z; leave it out where there is none"}
		}
		start = t
	default:
		return nil, &capcli.InputError{File: name, Field: "start", Text: fmt.Sprintf("expected a date or a time in quotes, found %v", at), Hint: "leave it out where there is none"}
	}
	switch {
	case doc.StepS != nil:
		if n := *doc.StepS; n != math.Trunc(n) || n < 1 || n > 1e9 {
			return nil, &capcli.InputError{File: name, Field: "step_s", Text: fmt.Sprintf("expected whole seconds from 1, found %g", n), Hint: "an hour is 3600"}
		}
		step.Seconds = capcli.Seconds(*doc.StepS)
	case doc.Step != "":
		var err error
		if step, err = capcli.ParseStep(doc.Step); err != nil {
			return nil, &capcli.InputError{File: name, Field: "step", Text: err.Error()}
		}
	case s.Step.Length() > 0:
		step = s.Step
	}
	values := capcli.Map(doc.Values, orMissing)
	fill(values, s.Gaps)
	out := &Demand{Input: name}
	var err error
	out.Curve, err = plan.NewCurve(start, step, values)
	var at *plan.StepError
	if errors.As(err, &at) {
		err = &capcli.InputError{File: name, Field: fmt.Sprintf("values[%d]", at.Step), Text: at.Text, Hint: "a demand is GPUs, 0 or more; for gaps say --gaps zero, linear or previous", Err: err}
	}
	return out, err
}

// fill fills missing values by the given rule.
func fill(values []float64, how series.Gaps) {
	switch how {
	case series.Zero, series.Previous:
		last := math.NaN()
		for i, v := range values {
			if !math.IsNaN(v) {
				last = v
				continue
			}
			if values[i] = 0; how == series.Previous {
				values[i] = last
			}
		}
	case series.Linear:
		series.Interpolate(values)
	case series.Leave, series.Refuse:
	}
}

// fromList returns the curve of a list of values or of rows.
func (s *Source) fromList(name string, text []byte) (*Demand, error) {
	if first := bytes.TrimLeft(text, " \t\r\n["); len(first) > 0 && first[0] != '{' {
		var doc demandDocument
		if err := decodeWhole(name, text, &doc.Values); err != nil {
			return nil, err
		}
		return s.fromValues(name, &doc)
	}
	var rows []demandRow
	if err := decodeWhole(name, text, &rows); err != nil {
		return nil, err
	}
	t := s.newRowTable(name)
	for i, row := range rows {
		id := "series"
		if row.ID != nil {
			id = fmt.Sprint(row.ID)
		}
		if err := t.add(i+1, id, row.DS, orMissing(row.Y)); err != nil {
			return nil, err
		}
	}
	return t.demand("")
}

// fromForecast returns the curve of a forecast: its mean, or a quantile.
func (s *Source) fromForecast(name string, doc *demandDocument) (*Demand, error) {
	t := s.newRowTable(name)
	n := 0
	var notes []string
	for i := range doc.Series {
		x := &doc.Series[i]
		values, note, err := x.valuesAt(name, s.Quantile, doc.Lines)
		if err != nil {
			return nil, err
		}
		if note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
		for k, ds := range x.DS {
			n++
			if err := t.add(n, x.ID, ds, orMissing(values[k])); err != nil {
				return nil, err
			}
		}
	}
	out, err := t.demand(doc.Step)
	if err == nil {
		out.Notes = append(out.Notes, notes...)
	}
	return out, err
}

// rowTable collects rows of JSON as a table of series.
type rowTable struct {
	source *Source
	build  *series.Builder
}

func (s *Source) newRowTable(name string) *rowTable {
	opts := series.Options{Name: name, Zone: s.Trace.TZ, DSTLater: s.Trace.DSTLater}
	return &rowTable{s, series.NewBuilder(opts, []string{"unique_id", "ds", "y"}, series.Columns{IDs: []int{0}, Time: 1, Value: 2})}
}

func (t *rowTable) add(row int, id string, ds any, v float64) error {
	switch at := ds.(type) {
	case string:
		return t.build.Text(row, []byte(id), strings.TrimSpace(at), v)
	case float64:
		if at == math.Trunc(at) && math.Abs(at) < 1e15 {
			return t.build.Number(row, []byte(id), int64(at), v)
		}
	}
	return t.build.Fault(row, "ds", fmt.Sprintf("expected a time or a whole number, found %v", ds), "write 2027-01-01T00:00:00Z, or number the rows evenly")
}

// demand puts the rows on equal steps. A single row takes the step said.
func (t *rowTable) demand(said string) (*Demand, error) {
	table, err := t.build.Table()
	if err != nil {
		return nil, err
	}
	hs, err := demand.FromTable(t.source.Request, table)
	if err != nil {
		return nil, err
	}
	if step, err := capcli.ParseStep(said); err == nil && hs.Clock && len(hs.List[0].Values) == 1 {
		hs.Step = step
	}
	return fromHistories(hs, t.source.Series, t.source.Step)
}
