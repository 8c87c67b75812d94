package trace

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// rowsOf reads data as a table and gives its rows.
func rowsOf(t testing.TB, data string, sep byte) (rows [][]string, rep Report) {
	t.Helper()
	r := newReader(Input{Name: "test"}, Options{})
	r.text = capcli.NewLineReader(strings.NewReader(data))
	tab, err := newTable(r, capcli.Fields{Separator: sep})
	if err != nil {
		t.Fatal(err)
	}
	for tab.nextRow() {
		row := make([]string, len(tab.Row))
		for i, cell := range tab.Row {
			row[i] = string(cell)
		}
		rows = append(rows, row)
	}
	return rows, r.Report()
}

// TestTableRFC4180 compares with the standard library on records of its own
// writing, with separators, quotes and line ends inside fields.
func TestTableRFC4180(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 5).Draw(t, "width")
		field := rapid.StringMatching(`[ab,;"\n é]{0,6}`)
		want := rapid.SliceOfN(rapid.SliceOfN(field, width, width), 1, 20).Draw(t, "rows")
		var b bytes.Buffer
		b.WriteString(strings.Repeat("h,", width-1) + "h\n")
		w := csv.NewWriter(&b)
		if err := w.WriteAll(want); err != nil {
			t.Fatal(err)
		}
		r := newReader(Input{Name: "test"}, Options{})
		r.text = capcli.NewLineReader(&b)
		tab, err := newTable(r, capcli.Fields{Separator: ','})
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range want {
			if !tab.nextRow() {
				t.Fatalf("ended at row %d: %+v", i, r.Report())
			}
			got := make([]string, len(tab.Row))
			for j, cell := range tab.Row {
				got[j] = string(cell)
			}
			if !reflect.DeepEqual(got, row) {
				t.Fatalf("row %d: got %q, want %q", i, got, row)
			}
		}
		if tab.nextRow() {
			t.Fatal("there is a row too many")
		}
	})
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name, in string
		sep      byte
		want     [][]string
		rejected int64
	}{
		{"plain", "a,b\n1,2\n", 0, [][]string{{"1", "2"}}, 0},
		{"tabs", "a\tb\n1\t2\n", 0, [][]string{{"1", "2"}}, 0},
		{"semicolons", "a;b\n1;2\n", 0, [][]string{{"1", "2"}}, 0},
		{"carriage returns and no last line end", "a,b\r\n1,2", 0, [][]string{{"1", "2"}}, 0},
		{"mark and comments", "\ufeff# note\n\na,b\n1,2\n\n3,4\n", 0, [][]string{{"1", "2"}, {"3", "4"}}, 0},
		{"too few and too many", "a,b\n1\n1,2,3\n1,2\n", 0, [][]string{{"1", "2"}}, 2},
		{"comment behind the header is a row", "a,b\n#1,2\n", 0, [][]string{{"#1", "2"}}, 0},
		{"quote in a bare field", "a,b\n1,x\"y\n", 0, [][]string{{"1", "x\"y"}}, 0},
		{"text behind a quote", "a,b\n\"1\"x,2\n", 0, [][]string{{"1x", "2"}}, 0},
		{"quote never closed", "a,b\n1,\"2\n3,4\n", 0, nil, 1},
	} {
		rows, rep := rowsOf(t, c.in, c.sep)
		if !reflect.DeepEqual(rows, c.want) || rep.Rejected != c.rejected {
			t.Errorf("%s: got %q and %d rejected, want %q and %d", c.name, rows, rep.Rejected, c.want, c.rejected)
		}
	}
}
