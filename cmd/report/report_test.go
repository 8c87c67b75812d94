package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"capcli"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func usd(t *testing.T, text string) capcli.USD {
	t.Helper()
	sign := capcli.USD(1)
	if text[0] == '-' {
		sign, text = -1, text[1:]
	}
	u, err := capcli.ParseUSD(text)
	if err != nil {
		t.Fatal(err)
	}
	return sign * u
}

// samples are results of the kinds that commands make.
func samples(t *testing.T) map[string]Doc {
	hours := func(h float64) capcli.GPUTime { return capcli.GPUTime(h * 3600 * 1000) }
	runs := Table{
		Name: "runs", Title: "runs",
		Columns: []Column{
			{Name: "plan", Head: "plan"},
			{Name: "cost_usd", Head: "cost"},
			{Name: "wait_p50_s", Head: "wait p50", Priority: 2},
			{Name: "wait_p95_s", Head: "wait p95"},
			{Name: "used_gpu_hours", Head: "used GPU-h", Priority: 1},
			{Name: "used_share", Head: "used %", Priority: 1},
			{Name: "slowdown", Head: "slowdown", Priority: 3},
			{Name: "first_submit", Head: "from", Priority: 4},
			{Name: "limit_held", Head: "limit"},
		},
		Rows: [][]any{
			{
				"reserve64",
				Range{usd(t, "1695168"), usd(t, "1660000"), usd(t, "1740000.126")},
				2 * capcli.Minute,
				Range{22 * capcli.Minute, 17 * capcli.Minute, 29 * capcli.Minute},
				hours(521956), Percent(0.931), Ratio(2.5), capcli.Time(1798761600),
				Verdict{"held", true},
			},
			{
				"flex-spot", usd(t, "1579539.20"), 6 * capcli.Minute, capcli.Seconds(5640),
				hours(394900.25), Percent(0.978), nil, capcli.NoTime,
				Verdict{"not held", false},
			},
		},
	}
	change := Table{
		Name: "change", Title: "flex-spot less reserve64",
		Columns: []Column{{Name: "figure"}, {Name: "value"}},
		Rows: [][]any{
			{Label{"cost_usd", "cost"}, Change{usd(t, "-115628.80")}},
			{"wait p95", Change{72 * capcli.Minute}},
			{"preemptions", Change{431}},
			{"same", Change{0}},
		},
	}
	nasty := Table{
		Name:    "tenants",
		Columns: []Column{{Name: "tenant"}, {Name: "cost_usd", Head: "cost"}, {Name: "jobs"}, {Name: "paying"}},
		Rows: [][]any{
			{"=HYPERLINK(\"http://x\")", usd(t, "-0.000123"), 1204311, true},
			{"a|b`c*[d](e)<script>", usd(t, "0.5"), 0, false},
			{"clear\x1b[2Jscreen\x1b]0;title\x07 \u202edcba\r\nx", usd(t, "99.995"), -5, nil},
			{"研究室", usd(t, "100"), 3, true},
			{"@tab\there", nil, nil, nil},
			{"-12.5", usd(t, "2.65"), int64(math.MaxInt64), true},
		},
	}
	used := make([]float64, 300)
	limit := make([]float64, 300)
	for i := range used {
		used[i], limit[i] = 32+32*math.Sin(float64(i)/40), 64
	}
	used[150], used[151], used[152], used[153], used[154], used[155] = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.Inf(1)
	return map[string]Doc{
		"runs": {
			Title: "h100, 2027", Lead: "reserve64 costs $115,629 more than flex-spot and waits 1h12m less.",
			Tables: []Table{runs, change}, Notes: []string{"spot price of 2026-10-01"},
			Charts: []Chart{{
				Title: "GPUs in use", From: "2027-01-01", To: "2027-12-31",
				Lines: []Line{{Name: "in use", Values: used}, {Name: "capacity", Values: limit}},
			}},
		},
		"nasty": {Tables: []Table{nasty}},
		"empty": {Lead: "No job.", Tables: []Table{{Name: "runs", Columns: []Column{{Name: "plan"}, {Name: "cost_usd"}}}}},
	}
}

func TestGolden(t *testing.T) {
	cases := []struct {
		name string
		form string
		o    Options
	}{
		{"table-80", "table", Options{Width: 80}},
		{"table-100", "table", Options{Width: 100}},
		{"table-140", "table", Options{Width: 140}},
		{"table-wide", "table", Options{}},
		{"table-color", "table", Options{Width: 140, Color: true}},
		{"md", "md", Options{}},
		{"csv", "csv", Options{}},
		{"excel", "excel", Options{}},
		{"tsv", "tsv", Options{}},
		{"json", "json", Options{}},
		{"jsonl", "jsonl", Options{}},
	}
	for doc, d := range samples(t) {
		for _, tt := range cases {
			t.Run(doc+"/"+tt.name, func(t *testing.T) {
				form, err := Forms.Get(tt.form)
				if err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				if err := form(&got, d, tt.o); err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata", doc+"-"+tt.name+".golden"), got.Bytes())
			})
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; make it with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", name, got, want)
	}
}

func TestHuman(t *testing.T) {
	tests := []struct {
		cell any
		want string
	}{
		{usd(t, "1695168"), "$1,695,168"},
		{usd(t, "-115628.80"), "-$115,629"},
		{usd(t, "99.995"), "$100.00"},
		{usd(t, "2.65"), "$2.65"},
		{usd(t, "0.0042"), "$0.0042"},
		{usd(t, "-0.0042"), "-$0.0042"},
		{capcli.USD(0), "$0.00"},
		{capcli.Seconds(1320), "22 min"},
		{Percent(0.931), "93.1%"},
		{Percent(-0.0001), "0.0%"},
		{Ratio(2.5), "2.50"},
		{MeanTime(1320.4), "22 min"},
		{ShortTime(0.1832), "183 ms"},
		{1204311.0, "1,204,311"},
		{99.95, "100"},
		{12.34, "12.3"},
		{0.714, "0.71"},
		{0.00123, "0.00123"},
		{-1234.5, "-1,234"},
		{398117, "398,117"},
		{capcli.GPUTime(3600_000), "1.00"},
		{capcli.NoTime, "n/a"},
		{nil, "n/a"},
		{Range{nil, nil, nil}, "n/a"},
		{Range{usd(t, "2"), nil, nil}, "$2.00"},
		{Range{Percent(0.5), Percent(0.4), Percent(0.6)}, "50.0% (40.0 to 60.0)"},
		{Range{capcli.Seconds(5640), capcli.Seconds(4260), capcli.Seconds(7860)}, "1h34m (1h11m to 2h11m)"},
		{Change{Percent(0.087)}, "+8.7%"},
		{Change{usd(t, "-9100")}, "-$9,100"},
	}
	for _, tt := range tests {
		got, err := human(tt.cell)
		if err != nil || got != tt.want {
			t.Errorf("%T %v: %q, %v, want %q", tt.cell, tt.cell, got, err, tt.want)
		}
	}
}

// TestNoFormLetsANonNumberOut plants NaN and infinities in each kind of cell and
// in Data: every form must refuse, and write nothing.
func TestNoFormLetsANonNumberOut(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, cell := range []any{v, Percent(v), Ratio(v), MeanTime(v), ShortTime(v), Range{1, 2, v}, Range{v, 1, 2}, Change{v}} {
			for _, f := range Forms.All() {
				d := Doc{Tables: []Table{{Name: "t", Columns: []Column{{Name: "x"}}, Rows: [][]any{{cell}}}}}
				var out bytes.Buffer
				if err := f.Value(&out, d, Options{}); err == nil || out.Len() > 0 {
					t.Errorf("%s of %T %v: error %v, wrote %q", f.Name, cell, cell, err, out.String())
				}
			}
		}
		var out bytes.Buffer
		if err := writeJSON(&out, Doc{Data: map[string]any{"a": 1, "b": v}}, Options{}); err == nil || out.Len() > 0 {
			t.Errorf("json Data %v: error %v, wrote %q", v, err, out.String())
		}
	}
}

func TestFormsRefuseARowOfAnotherLength(t *testing.T) {
	d := Doc{Tables: []Table{{Name: "t", Columns: []Column{{Name: "x"}}, Rows: [][]any{{1, 2}}}}}
	for _, f := range Forms.All() {
		var out bytes.Buffer
		if err := f.Value(&out, d, Options{}); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v, wrote %q", f.Name, err, out.String())
		}
	}
}

func TestUnknownTableAndColumn(t *testing.T) {
	d := samples(t)["runs"]
	tests := []struct {
		o    Options
		want string
	}{
		{Options{Table: "chnge"}, `unknown table "chnge"; did you mean "change"? have change, runs`},
		{Options{Columns: []string{"plan", "costs"}}, `unknown column "costs"`},
	}
	for _, tt := range tests {
		for _, form := range []string{"csv", "tsv", "table", "md", "jsonl"} {
			f, _ := Forms.Get(form)
			var out bytes.Buffer
			err := f(&out, d, tt.o)
			var unknown *capcli.UnknownError
			if !errors.As(err, &unknown) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s %+v: %v, want %s", form, tt.o, err, tt.want)
			}
		}
	}
	var out bytes.Buffer
	if err := writeCSV(&out, d, Options{Columns: []string{"limit_held", "plan"}}); err != nil {
		t.Fatal(err)
	}
	want := "limit_held,plan\nheld,reserve64\nnot held,flex-spot\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

type lines []int

func (l lines) Lines() []any { return []any{map[string]int{"run": l[0]}, map[string]int{"run": l[1]}} }

func TestJSONLWritesALineForEachRun(t *testing.T) {
	var out bytes.Buffer
	if err := writeJSONL(&out, Doc{Data: lines{7, 8}}, Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "{\"run\":7}\n{\"run\":8}\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestAnyTextIsSafe writes any text through every form: no byte of it may act on
// a terminal or a spreadsheet, and CSV and JSON must read back as one field.
func TestAnyTextIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("=+-@\t\r\n|\x1b[]2J;\x07\u009b\\\"',a1")), 0, 12, -1)).Draw(t, "text")
		d := Doc{
			Title: text, Lead: text, Notes: []string{text},
			Tables: []Table{{Name: "t", Title: text, Columns: []Column{{Name: "a", Head: text}, {Name: "b"}}, Rows: [][]any{{text, 1}, {"x", 2}}}},
			Charts: []Chart{{Title: text, From: text, To: text, Lines: []Line{{Name: text, Values: []float64{1}}, {Name: text}}}},
		}
		for _, f := range Forms.All() {
			var out bytes.Buffer
			if err := f.Value(&out, d, Options{Width: 80}); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			switch f.Name {
			case "csv", "excel":
				rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(out.Bytes(), []byte("\ufeff")))).ReadAll()
				if err != nil || len(rows) != 3 || len(rows[1]) != 2 {
					t.Fatalf("csv does not read back: %v %v", rows, err)
				}
				if c := rows[1][0]; c != "" && strings.ContainsAny(c[:1], "=+-@\t\r") && !isNumber(c) {
					t.Fatalf("csv cell %q is a formula", c)
				}
			case "json", "jsonl":
				for line := range strings.Lines(out.String()) {
					if f.Name == "jsonl" && !json.Valid([]byte(line)) {
						t.Fatalf("jsonl line %q", line)
					}
				}
			default:
				for _, r := range out.String() {
					separates := r == '\n' || r == '\t' && f.Name == "tsv"
					if r < ' ' && !separates || r >= 0x7f && r <= 0x9f {
						t.Fatalf("%s lets %U through: %q", f.Name, r, out.String())
					}
				}
			}
		}
	})
}

var number = regexp.MustCompile(`(?i)^[+-]?([0-9_]*\.?[0-9_]*(e[+-]?[0-9]+)?|inf|infinity|nan)$`)

func isNumber(s string) bool { return number.MatchString(s) }

// TestNothingIsCut checks that at any width each cell is whole or its column is
// gone and named.
func TestNothingIsCut(t *testing.T) {
	d := samples(t)["runs"]
	d.Charts = nil
	for width := 20; width <= 160; width++ {
		var out bytes.Buffer
		if err := writeTable(&out, d, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for _, must := range []string{"reserve64", "flex-spot", "$1,695,168", "($1,660,000 to $1,740,000)", "22 min", "(17 to 29)"} {
			if !strings.Contains(out.String(), must) {
				t.Fatalf("at width %d %q is cut:\n%s", width, must, out.String())
			}
		}
		all := strings.Contains(out.String(), "2027-01-01 00:00")
		if told := strings.Contains(out.String(), "--columns"); all == told {
			t.Fatalf("at width %d the last column shows: %v, hidden is told: %v\n%s", width, all, told, out.String())
		}
		widest := 0
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "reserve64 ") {
				widest = max(widest, twwidth.Width(strings.TrimSuffix(line, "\n")))
			}
		}
		// The columns that are always shown need 84.
		if widest > max(width, 84) {
			t.Errorf("at width %d a row has %d columns", width, widest)
		}
	}
}

func TestLongTablesAreCutByRowsAndSayIt(t *testing.T) {
	d := Doc{Tables: []Table{
		{Name: "tenants", Most: 2, Columns: []Column{{Name: "x"}}, Rows: [][]any{{"a"}, {"b"}, {"c"}, {"d"}}},
		{Name: "bars", Aside: true, Columns: []Column{{Name: "n"}, {Name: "bar", Head: " ", Picture: true, Align: Left}}, Rows: [][]any{{7, "███"}}},
		{Name: "hours", Aside: true, Columns: []Column{{Name: "hour"}}, Rows: [][]any{{7}}},
	}}
	tests := []struct {
		form string
		o    Options
		want string
	}{
		{"table", Options{}, "x\na\nb\n2 more rows: --table tenants\n"},
		{"table", Options{Table: "tenants"}, "x\na\nb\nc\nd\n"},
		{"table", Options{Table: "hours"}, "hour\n   7\n"},
		{"md", Options{}, "| x |\n| :-- |\n| a |\n| b |\n\n2 more rows: --table tenants\n"},
		{"csv", Options{}, "x\na\nb\nc\nd\n"},
		{"table", Options{Table: "bars"}, "n\n7  ███\n"},
		{"csv", Options{Table: "bars"}, "n\n7\n"},
		{"jsonl", Options{Table: "bars"}, "{\"n\":7}\n"},
	}
	for _, tt := range tests {
		f, err := Forms.Get(tt.form)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := f(&out, d, tt.o); err != nil || out.String() != tt.want {
			t.Errorf("%s %+v: %q, %v, want %q", tt.form, tt.o, out.String(), err, tt.want)
		}
	}
}

func TestBarAndSpark(t *testing.T) {
	tests := []struct{ got, want string }{
		{Bar(1, 2, 4), "██"},
		{Bar(2, 2, 4), "████"},
		{Bar(9, 2, 4), "████"},
		{Bar(0.0001, 2, 4), "▏"},
		{Bar(0, 2, 4), ""},
		{Bar(1, 0, 4), ""},
		{Bar(math.NaN(), 1, 4), ""},
		{Spark([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}), "▁▂▃▄▅▆▇██"},
		{Spark([]float64{0, math.NaN(), 0}), "▁ ▁"},
		{Spark(nil), ""},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestChart(t *testing.T) {
	tests := []struct {
		name string
		c    Chart
		want string
	}{
		{"steps", Chart{Title: "GPUs", Height: 3, From: "a", To: "b", Lines: []Line{{Values: []float64{0, 4, 4, 2}}}}, `GPUs
4 ┤      ╭─────────────╮
2 ┤      │             ╰──────
0 ┤──────╯
   a                         b
`},
		{
			"what sums of floats leave of nothing is zero, and the commitment says its height",
			Chart{Height: 5, Lines: []Line{{Name: "in use", Values: []float64{-1.14e-13, 90.4, 12}}, {Name: "committed", Values: []float64{40, 40, 40}}}},
			`100 ┤
    ┤        ╭───────╮
 75 ┤        │       │
    ┤        │       │
 50 ┤        │       │
 40 ┤╌╌╌╌╌╌╌╌│╌╌╌╌╌╌╌│╌╌╌╌╌╌╌╌
 25 ┤        │       │
    ┤        │       ╰────────
  0 ┤────────╯
     ── in use   ╌╌ committed, 40
`,
		},
		{
			"the highest of each column", Chart{Height: 3, Lines: []Line{{Name: "x", Values: []float64{1, 1, 1}, Peaks: []float64{1, 8, 1}}}}, `10 ┤         •••••••••
 5 ┤
 0 ┤──────────────────────────
    ── x   •• its highest
`,
		},
		{"below zero", Chart{Height: 3, Lines: []Line{{Values: []float64{-3, 3}}}}, ` 5 ┤            ╭─────────────
 0 ┤            │
-5 ┤────────────╯
`},
		{"nothing", Chart{Title: "GPUs", Lines: []Line{{}}}, "GPUs\n(no data)\n"},
		{"only gaps", Chart{Title: "GPUs", Lines: []Line{{Values: []float64{math.NaN()}}}}, "GPUs\n(no data)\n"},
	}
	for _, tt := range tests {
		if got := tt.c.Draw(30); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestColumnsByHead: what a table prints over a column names it too; a name goes
// before a head, and a head over two columns is refused.
func TestColumnsByHead(t *testing.T) {
	table := Table{
		Name: "t", Columns: []Column{
			{Name: "cost_usd", Head: "cost*"}, {Name: "wait_p95_s", Head: "wait p95"}, {Name: "used_gpu_hours", Head: "used"}, {Name: "used_share", Head: "used"}, {Name: "jobs"},
		},
		Rows: [][]any{{1, 2, 3, 4, 5}},
	}
	tests := []struct {
		columns []string
		want    string // the head of the csv, or a part of the error
	}{
		{[]string{"wait_p95_s", "cost"}, "wait_p95_s,cost_usd\n"},
		{[]string{"Wait P95", "cost*", "jobs"}, "wait_p95_s,cost_usd,jobs\n"},
		{[]string{"wait_p95"}, "wait_p95_s\n"},
		{[]string{"used"}, "two columns are headed"},
		{[]string{"used_share"}, "used_share\n"},
		{[]string{"*"}, "unknown column"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		err := writeCSV(&out, Doc{Tables: []Table{table}}, Options{Columns: tt.columns})
		got := out.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%v: got %q, want %q", tt.columns, got, tt.want)
		}
	}
}

// TestNoLineIsWiderThanTheTerminal: ranges, heads, texts, notes and the sentence
// fold between words, and columns that do not fit beside the others stand below
// them; of each cell every word is there.
func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	long := "one year at the list price of the region, paid month by month, for as many as are always in use"
	d := Doc{
		Lead: "The sentence that answers is longer than a narrow terminal, and no word of it may break at the edge.",
		Tables: []Table{{
			Name: "t", Columns: []Column{
				{Name: "plan"}, {Name: "cost"}, {Name: "wait"}, {Name: "used"}, {Name: "stranded"}, {Name: "held: wait_p95 <= 40m", Head: "wait_p95 <= 40m held"}, {Name: "what"},
			},
			Rows: [][]any{{
				"default",
				Range{Mid: 82543.0, Lo: 73483.0, Hi: 90145.0},
				Range{Mid: 33.0, Lo: 31.0, Hi: 35.0},
				Range{Mid: Percent(.762), Lo: Percent(.727), Hi: Percent(.786)},
				Range{Mid: 17800.0, Lo: 17060.0, Hi: 18953.0},
				Percent(1), long,
			}},
		}},
		Notes: []string{long + ", " + long},
	}
	for _, width := range []int{60, 80, 100, 160} {
		var out bytes.Buffer
		if err := writeTable(&out, d, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if w := lineWidth(line); w > width {
				t.Errorf("at %d columns a line has %d: %q", width, w, line)
			}
		}
		for _, word := range []string{"82,543", "(73,483", "76.2%", "17,800", "held", "100.0%", "month,", "answers"} {
			if !strings.Contains(out.String(), word) {
				t.Errorf("at %d columns %q is lost:\n%s", width, word, out.String())
			}
		}
	}
}
