package figure

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

var unknown = Number(math.NaN())

func lines() *Figure {
	return &Figure{
		ID: "use", Kind: Lines, X: Axis{"time", Time, nil}, Y: Axis{"GPUs", Count, nil},
		Series: []Series{
			{Name: "demand", X: []Number{0, 3600}, Y: []Number{1, unknown}, Lo: []Number{0, 1}, Hi: []Number{2, 3}},
			{Name: "use", X: []Number{3600, 7200}, Y: []Number{5, 6}},
		},
	}
}

func TestCheckRefuses(t *testing.T) {
	if err := lines().Check(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		spoil func(f *Figure)
		want  string
	}{
		{"ID", func(f *Figure) { f.ID = `"><script>` }, "small letters"},
		{"no ID", func(f *Figure) { f.ID = "" }, "small letters"},
		{"kind", func(f *Figure) { f.Kind = "pie" }, `unknown kind "pie"`},
		{"unit", func(f *Figure) { f.Y.Unit = "EUR" }, `unknown unit`},
		{"no series", func(f *Figure) { f.Series = nil }, "no series"},
		{"name twice", func(f *Figure) { f.Series[1].Name = "demand" }, "two series"},
		{"short Y", func(f *Figure) { f.Series[1].Y = f.Series[1].Y[:1] }, "1 values of Y, want 2"},
		{"no Y", func(f *Figure) { f.Series[1].Y = nil }, "0 values of Y, want 2"},
		{"short Lo", func(f *Figure) { f.Series[0].Lo = f.Series[0].Lo[:1] }, "1 values of Lo, want 2"},
		{"no Hi", func(f *Figure) { f.Series[0].Hi = nil }, "only one of Lo and Hi"},
		{"labels", func(f *Figure) { f.Series[0].Labels = []string{"a"} }, "1 values of Labels"},
		{"chosen", func(f *Figure) { f.Series[0].Chosen = []int{2} }, "chosen point 2 of 2"},
		{"mark", func(f *Figure) { f.Marks = []Mark{{"limit", "z", 1}} }, `axis "z"`},
		{"bars without names", func(f *Figure) { f.Kind = Bars }, "needs the names"},
		{"two waterfalls", func(f *Figure) { f.Kind, f.X.Names = Waterfall, []string{"a", "b"} }, "has one"},
		{"moments up", func(f *Figure) { f.Y.Unit = Time }, "moments"},
	}
	for _, tt := range tests {
		f := lines()
		tt.spoil(f)
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// cells returns the rows of a table as JSON, for NaN is not equal to itself.
func cells(t *testing.T, table Table) string {
	t.Helper()
	text, err := json.Marshal(table.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTable(t *testing.T) {
	points := &Figure{ID: "p", Kind: Points, Series: []Series{
		{Name: "a", X: []Number{2, 1}, Y: []Number{3, 4}, Labels: []string{"one", "two"}},
		{Name: "b", X: []Number{1}, Y: []Number{5}, Lo: []Number{4}, Hi: []Number{6}},
	}}
	steps := &Figure{ID: "s", Kind: Lines, Series: []Series{{Name: "a", X: []Number{1, 1}, Y: []Number{3, 4}}}}
	heat := &Figure{ID: "h", Kind: Heat, X: Axis{"hour", Name, []string{"0", "1"}}, Series: []Series{
		{Name: "Mon", Y: []Number{1, 2}}, {Name: "Tue", Y: []Number{unknown, 4}},
	}}
	tornado := &Figure{ID: "t", Kind: Tornado, X: Axis{"what", Name, []string{"price"}}, Series: []Series{{Lo: []Number{9}, Hi: []Number{5}}}}
	spans := &Figure{ID: "g", Kind: Spans, Series: []Series{{Name: "r", Lo: []Number{1}, Hi: []Number{2}, Y: []Number{64}, Labels: []string{"64 GPUs"}}}}
	tests := []struct {
		f     *Figure
		heads []string
		rows  string
	}{
		{lines(), []string{"time", "demand", "demand, low", "demand, high", "use"}, `[[0,1,0,2,null],[3600,null,1,3,5],[7200,null,null,null,6]]`},
		{points, []string{"series", "label", "x", "y", "y, low", "y, high"}, `[["a","one",2,3,null,null],["a","two",1,4,null,null],["b",null,1,5,4,6]]`},
		{steps, []string{"series", "x", "y"}, `[["a",1,3],["a",1,4]]`},
		{heat, []string{"hour", "Mon", "Tue"}, `[["0",1,null],["1",2,4]]`},
		{tornado, []string{"what", "value, low", "value, high", "difference"}, `[["price",9,5,4]]`},
		{spans, []string{"row", "label", "from", "to", "value"}, `[["r","64 GPUs",1,2,64]]`},
	}
	for _, tt := range tests {
		table := tt.f.Table()
		var heads []string
		for _, c := range table.Columns {
			heads = append(heads, c.Name)
		}
		if !reflect.DeepEqual(heads, tt.heads) {
			t.Errorf("%s: columns %q, want %q", tt.f.ID, heads, tt.heads)
		}
		if got := cells(t, table); got != tt.rows {
			t.Errorf("%s: rows %s, want %s", tt.f.ID, got, tt.rows)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: a row of %d cells under %d columns", tt.f.ID, len(row), len(table.Columns))
			}
		}
	}
}

func TestText(t *testing.T) {
	tests := []struct {
		u    Unit
		n    Number
		want string
	}{
		{USD, 1695168.4, "$1,695,168"},
		{USD, -12.345, "-$12.35"},
		{USD, 0, "$0.00"},
		{USD, 0.0012, "$0.0012"},
		{USD, -4e-8, "$0.00"},
		{USD, Number(math.Inf(1)), "n/a"},
		{USD, 1e300, "$1e+300"},
		{Seconds, 1320, "22 min"},
		{Seconds, 5640, "1h34m"},
		{Seconds, 0.5, "0.50 s"},
		{Seconds, 1e15, "11,574,074,074 d"},
		{Share, 0.931, "93.1%"},
		{Share, 0.0004, "0.04%"},
		{Share, 1, "100.0%"},
		{Time, 1785628800, "2026-08-02"},
		{Time, 1785679200, "2026-08-02 14:00"},
		{Time, 1e30, "n/a"},
		{GPUHours, 521956.2, "521,956 GPU-h"},
		{Count, 64, "64"},
		{Count, 2.5, "2.50"},
		{Count, -1234, "-1,234"},
		{Count, unknown, "n/a"},
		{Count, -0.0001, "-0.0001"},
	}
	for _, tt := range tests {
		if got := tt.u.Text(tt.n); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.u, tt.n, got, tt.want)
		}
	}
	if got := Time.Exact(1785679200); got != "2026-08-02T14:00:00Z" {
		t.Error(got)
	}
	if got := USD.Exact(1695168.4); got != "1695168.4" {
		t.Error(got)
	}
}

func TestCell(t *testing.T) {
	for n, want := range map[Number]string{1695168.4: "$1,695,168.40", -0.5: "-$0.50", 0: "$0.00", 0.001: "$0.001", unknown: "n/a"} {
		if got := USD.Cell(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ text, want string }{
		{"research", "research"},
		{"Zürich 東京 👩‍🔬", "Zürich 東京 👩‍🔬"},
		{"a\x1b[2J\x00b\tc\nd", "a[2Jb c d"},
		{"a\u202eb\u2066c\u200fd", "abcd"},
		{"\xff", "\ufffd"},
		{"Z\u0301\u0302\u0303\u0304\u0305\u0306a\u0301", "Z\u0301\u0302\u0303\u0304a\u0301"},
		{"a\uffffb\ufffec", "abc"},
	}
	for _, tt := range tests {
		if got := Clean(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestBrief(t *testing.T) {
	if got := Brief(strings.Repeat("é", 1200), 3); got != "ééé… (1,200 characters)" {
		t.Error(got)
	}
	if got := Brief("abc", 3); got != "abc" {
		t.Error(got)
	}
}
