package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"capcli/cmd/report/paper"
	"capcli/scenarios/figure"
	"capcli/testdata/figuretest"
)

// wholePaper returns a paper with a figure of each kind and something in each of its parts.
func wholePaper() *paper.Paper {
	p := samplePaper()
	p.Figures = figuretest.Samples()
	p.Answer.Sentence = "Reserve 64 H100 for a year: $1,601,040, 98.8% of the work served, p95 wait 22 min, and over $1,840,000 in 1 of 20 futures."
	p.Answer.Heads = []paper.Headline{
		{Name: "Cost a year", Value: 1601040, Unit: figure.USD, Text: "$1.60M", About: "2027, effective"},
		{Name: "Work served", Value: 0.988, Unit: figure.Share, Text: "98.8%", About: "of 640,356 GPU-hours; 7,684 were not"},
		{Name: "Wait p95", Value: 1320, Unit: figure.Seconds, Text: "22 min", About: "of 96,412 jobs"},
		{Name: "Bad year", Value: 1840000, Unit: figure.USD, Text: "$1.84M", About: "1 of 20 futures costs more"},
	}
	p.Figures[0].Notes = []string{"Ranges hold 90% of the futures."}
	p.Assumptions = []paper.Assumption{{Text: "H100 on demand costs $3.90 an hour", Source: "prices.yaml:14", Date: "2026-10-01"}, {Text: "Spot is interrupted once in 11 days"}}
	p.Glossary = []paper.Term{{Name: "wait p95", Text: "The wait that 95% of the jobs do not exceed."}, {Name: "stranded", Text: "Committed GPU-hours that nobody held: idle, blocked and down."}}
	p.Inputs = []paper.Input{{File: "jobs.parquet", SHA256: strings.Repeat("3f1c09ab", 8)}, {File: "prices.yaml", SHA256: strings.Repeat("77ab21cd", 8)}}
	p.Notes = []string{"A quick run of 20 replications: the ranges are wide."}
	p.Command = "capcli report runs/reserve64 runs/flex-spot plan.json --out h100-2027.html"
	return p
}

// smallPaper returns a paper with a figure of each kind and few points.
func smallPaper() *paper.Paper {
	p := wholePaper()
	for i := range p.Figures {
		f := &p.Figures[i]
		for j := range f.Series {
			s := &f.Series[j]
			if len(f.X.Names) > 0 || len(s.X) <= 10 {
				continue
			}
			cut := func(list []figure.Number) []figure.Number { return list[:min(len(list), 10)] }
			s.X, s.Y, s.Lo, s.Hi, s.Chosen = cut(s.X), cut(s.Y), cut(s.Lo), cut(s.Hi), nil
		}
	}
	return p
}

// rename sets each text below v that holds a name or a sentence, and counts them. Texts of a list get
// a number, for names of series must differ.
func rename(v reflect.Value, text string, count *int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			if s, ok := v.Elem().Interface().(string); ok && v.CanSet() {
				*count++
				v.Set(reflect.ValueOf(text + s[:0]))
				return
			}
			rename(v.Elem(), text, count)
		}
	case reflect.Slice:
		for i := range v.Len() {
			rename(v.Index(i), text, count)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if slices.Contains([]string{"Schema", "ID", "Kind", "Unit", "Axis"}, name) && v.Field(i).Kind() == reflect.String {
				continue
			}
			rename(v.Field(i), text, count)
		}
	case reflect.String:
		*count++
		v.SetString(text)
		if *count%2 == 0 {
			v.SetString(fmt.Sprintf("%d%s%d", *count, text, *count))
		}
	default:
	}
}

// attackedPaper returns a paper in which every name is text.
func attackedPaper(text string) (p *paper.Paper, names int) {
	p = smallPaper()
	rename(reflect.ValueOf(p), text, &names)
	for i := range p.Figures {
		for j := range p.Figures[i].Series {
			p.Figures[i].Series[j].Name = fmt.Sprint(text, j)
		}
	}
	return p, names
}

// largePaper returns a paper such as a run of 100,000 jobs makes.
func largePaper() *paper.Paper {
	p := wholePaper()
	numbers := func(n int, f func(i int) float64) []figure.Number {
		out := make([]figure.Number, n)
		for i := range out {
			out[i] = figure.Number(math.Round(f(i)))
		}
		return out
	}
	hours := numbers(2200, func(i int) float64 { return 1798761600 + 4*3600*float64(i) })
	for k := range 5 {
		f := figure.Figure{ID: fmt.Sprintf("hourly-%d", k), Title: fmt.Sprintf("Use %d", k), Kind: figure.Lines, X: figure.Axis{Unit: figure.Time}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count}}
		if k%2 == 0 {
			f.Kind = figure.Stack
		}
		for j := range 5 {
			f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("pool %d", j), X: hours, Y: numbers(2200, func(i int) float64 { return 50 + 40*math.Sin(float64(i*(j+1))/50) + float64(i*7919%13) })})
		}
		p.Figures = append(p.Figures, f)
	}
	p.Figures = append(p.Figures, figure.Figure{
		ID: "jobs", Title: "Recorded against simulated waits", Kind: figure.Points, X: figure.Axis{Label: "recorded", Unit: figure.Seconds}, Y: figure.Axis{Label: "simulated", Unit: figure.Seconds},
		Series: []figure.Series{{Name: "jobs", X: numbers(20000, func(i int) float64 { return float64(i * 7919 % 40000) }), Y: numbers(20000, func(i int) float64 { return float64(i * 104729 % 40000) })}},
	})
	table := paper.Table{ID: "all", Title: "All tenants", Columns: []paper.Column{{Name: "tenant", Unit: figure.Name}, {Name: "cost", Unit: figure.USD, Sum: true}}}
	for i := range 5000 {
		table.Rows = append(table.Rows, []any{fmt.Sprintf("tenant-%d", i), figure.Number(i)})
	}
	p.Tables = append(p.Tables, table)
	return p
}

// wording is a value and the text that figure gives it, for the script of the page to give the same.
type wording struct {
	Unit  figure.Unit   `json:"unit"`
	Value figure.Number `json:"value"`
	Text  string        `json:"text"`
}

func wordings() []wording {
	values := []float64{
		0, 1, -1, 0.5, 1.5, 2.5, 12.5, 100.5, 101.5, 0.125, 0.375, 0.005, 0.0049, 0.00001234, 9.994, 9.995, 9.996, 99.94, 99.95, 99.96, 999.5, 1234567.891,
		-1234567.891, 59, 59.6, 60, 61, 599, 600, 629, 630, 3599, 3600, 5640, 86400, 172799, 172800, 1e6, 1e9, 1798761600, 1798765200, 1798765260, 1798765261, -86400,
		1e12, 1e15, 1e21, 1.5e21, 1e30, -1e300, 0.0995, 0.931, 0.0004, 2.675, 1.005, 0.285, math.NaN(), 0.01, 0.009, 0.000001, 0.0000004,
	}
	var out []wording
	for _, u := range figure.Units {
		for _, v := range values {
			out = append(out, wording{u, figure.Number(v), u.Text(figure.Number(v))})
		}
	}
	return out
}

// TestBrowserPages writes the pages that testdata/browser/check.mjs opens into the folder
// CAPCLI_PAGES. Without it the pages are made, and must be small enough.
func TestBrowserPages(t *testing.T) {
	dir := os.Getenv("CAPCLI_PAGES")
	put := func(name string, data []byte) {
		if dir == "" {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, p *paper.Paper) []byte {
		var b bytes.Buffer
		if err := Write(&b, p, Options{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		put(name, b.Bytes())
		return b.Bytes()
	}
	write("whole.html", wholePaper())
	if n := len(write("large.html", largePaper())); n > 3_000_000 {
		t.Errorf("the page of a large run has %d bytes, want 3,000,000 or fewer", n)
	}
	attacks := figuretest.Attacks()
	if len(attacks) < 60 {
		t.Errorf("%d attacks, want 60", len(attacks))
	}
	for i, text := range attacks {
		p, names := attackedPaper(text)
		if names < 80 {
			t.Errorf("%d names in the paper: the test misses most", names)
		}
		write(fmt.Sprintf("attack-%02d.html", i), p)
	}
	data, err := json.Marshal(wordings())
	if err != nil {
		t.Fatal(err)
	}
	put("wordings.json", data)
}
