package series

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"capcli"
)

// usual names of a column of capacity, as a caller has them.
var levelNames = []string{"capacity", "gpus"}

func TestLevels(t *testing.T) {
	const hours = "unique_id,ds,y\na,2026-01-01T00:00:00Z,1\na,2026-01-01T01:00:00Z,1\na,2026-01-01T02:00:00Z,1\na,2026-01-01T03:00:00Z,1\n"
	const numbers = "unique_id,ds,y\na,1,1\na,2,1\na,3,1\na,4,1\n"
	tests := []struct {
		name, history, levels string
		want                  string // of series a, over one step more than there are
	}{
		{"constant", hours, "unique_id,capacity\na,8\nb,9\n", "[8 8 8 8 8]"},
		{"constant, no name", hours, "capacity\n8\n", "[8 8 8 8 8]"},
		{"a step", hours, "unique_id,ds,capacity\na,2026-01-01T00:00:00Z,8\na,2026-01-01T02:00:00Z,16\n", "[8 8 16 16 16]"},
		{"a step before the history", hours, "unique_id,ds,gpus\na,2025-06-01,8\n", "[8 8 8 8 8]"},
		{"out of order, other names", hours, "series,timestamp,capacity\na,2026-01-01T03:00:00Z,4\na,2026-01-01T00:00:00Z,8\n", "[8 8 8 4 4]"},
		{"not known at first", hours, "unique_id,ds,capacity\na,2026-01-01T02:00:00Z,16\n", "[NaN NaN 16 16 16]"},
		{"not known from some time", hours, "unique_id,ds,capacity\na,2026-01-01T00:00:00Z,16\na,2026-01-01T02:00:00Z,\n", "[16 16 NaN NaN NaN]"},
		{"within a step", hours, "unique_id,ds,capacity\na,2026-01-01T00:00:00Z,8\na,2026-01-01T01:15:00Z,16\n", "[8 14 16 16 16]"},
		{"twice within a step", hours, "unique_id,ds,capacity\na,2026-01-01T00:00:00Z,8\na,2026-01-01T01:15:00Z,16\na,2026-01-01T01:45:00Z,0\n", "[8 10 0 0 0]"},
		{"begins within a step", hours, "unique_id,ds,capacity\na,2026-01-01T01:15:00Z,16\n", "[NaN NaN 16 16 16]"},
		{"whole numbers", numbers, "unique_id,ds,capacity\na,1,8\na,3,16\n", "[8 8 16 16 16]"},
		{"one column for each series", hours, "ds,b,a\n2026-01-01T00:00:00Z,1,8\n2026-01-01T02:00:00Z,1,16\n", "[8 8 16 16 16]"},
		{"one column for each series, always", hours, "b,a\n1,8\n", "[8 8 8 8 8]"},
		{"JSON lines", hours, "{\"unique_id\":\"a\",\"capacity\":8}\n", "[8 8 8 8 8]"},
		{"JSON lines with stamps", hours, "{\"unique_id\":\"a\",\"ds\":\"2026-01-01T01:00:00Z\",\"capacity\":8}\n", "[NaN 8 8 8 8]"},
	}
	for _, tt := range tests {
		history, err := read(t, tt.history, Options{}).Regular(Rules{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := read(t, tt.levels, Options{Levels: true, Usual: levelNames, Loose: true, ID: "who"}).Levels(nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		name := "a"
		if len(l.Names()) == 1 {
			name = l.Names()[0]
		}
		if got := fmt.Sprint(l.MeanOver(name, &history[0], 0, 5)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestBadLevelsNameThePlace(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"negative", "unique_id,capacity\na,8\nb,-1\n", "in: line 3: capacity: b: expected 0 or more, found -1"},
		{"twice", "unique_id,capacity\na,8\na,9\n", "in: line 3: a is there twice, also at line 2"},
		{"twice at one stamp", "unique_id,ds,capacity\na,2026-01-01,8\na,2026-01-01,9\n", "in: line 3: ds: a: two figures for 2026-01-01, also at line 2"},
		{"no number", "unique_id,capacity\na,many\n", `in: line 2: capacity: expected a number, found "many"`},
		{"no number, wide", "ds,a,b\n1,2,many\n", `in: line 2: b: expected a number, found "many"`},
		{"two columns of one name", "ds,a,a\n1,2,3\n", "in: line 1: a: expected a name of its own for each column, which is a series"},
		{"no column of capacity", "unique_id,ds,c,d\na,1,2,3\n", "in: line 1: there is no column of values: expected capacity, found unique_id, ds, c, d"},
		{"empty", "", "in: the file is empty: expected a table of series"},
		{"wide JSON lines", `{"ds":1,"a":2,"b":3}` + "\n", "in: line 1: expected the fields unique_id, ds and capacity in each object"},
	}
	for _, tt := range tests {
		table, err := Read(strings.NewReader(tt.text), Options{Name: "in", Levels: true, Usual: levelNames})
		if err == nil {
			_, err = table.Levels(nil)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.name, err, tt.want)
			continue
		}
		if _, ok := errors.AsType[*capcli.InputError](err); !ok {
			t.Errorf("%s: %T is no InputError", tt.name, err)
		}
	}
}

func TestMoreColumnsHaveTheSameRows(t *testing.T) {
	for _, text := range []string{
		"unique_id,ds,y,wait,room\na,2026-01-01T00:00:00Z,1,0,8\na,2026-01-01T01:00:00Z,2,,8\na,2026-01-01T03:00:00Z,4,3,16\n",
		`{"unique_id":"a","ds":"2026-01-01T00:00:00Z","y":1,"wait":0,"room":8}` + "\n" + `{"unique_id":"a","ds":"2026-01-01T01:00:00Z","y":2,"room":8}` + "\n" + `{"unique_id":"a","ds":"2026-01-01T03:00:00Z","y":4,"wait":3,"room":16}` + "\n",
	} {
		table := read(t, text, Options{More: []string{"room", "wait"}})
		list, err := table.Regular(Rules{})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(table.More[0].MeansOn(&list[0], "a"), table.More[1].MeansOn(&list[0], "a"), table.More[1].MeansOn(&list[0], "b"))
		if want := "[8 8 NaN 16] [0 NaN NaN 3] [NaN NaN NaN NaN]"; got != want {
			t.Errorf("%s: %s, want %s", text[:9], got, want)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{"ds,y\n1,2\n", "in: line 1: wait: there is no such column; have ds, y"},
		{"1\n2\n", "in: wait: there is no such column: this is no table with columns"},
		{"ds,y,wait\n1,2,x\n", `in: line 2: wait: expected a number, found "x"`},
	} {
		if _, err := Read(strings.NewReader(tt.text), Options{Name: "in", More: []string{"wait"}}); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// Of any bytes at all: levels that are finite, not negative, or missing, and as
// many as there are steps.
func FuzzLevels(f *testing.F) {
	for _, s := range []string{
		"unique_id,capacity\na,8\n", "unique_id,ds,capacity\na,2026-01-01,8\na,2026-01-05T10:00:00Z,16\n", "ds,a,b\n1,2,3\n2,3,4\n", "8\n", "capacity\n8\n",
		"{\"unique_id\":\"a\",\"capacity\":8}\n", "a;b\n\"1;2\n", "unique_id,capacity\na,-1\n", "ds,capacity\n1,1e99\n2,1e99\n",
	} {
		f.Add(s)
	}
	grid := Regular{Series: capcli.Series{Values: make([]float64, 20)}, Grid: capcli.Grid{Origin: 1_767_225_600, Step: capcli.Step{Seconds: 7200}}}
	index := Regular{Series: grid.Series, First: -3, Stride: 2}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Read(strings.NewReader(text), Options{Name: "in", MaxRows: 10000, Levels: true, Usual: levelNames, Loose: true})
		if err != nil {
			return
		}
		l, err := table.Levels(nil)
		if err != nil {
			return
		}
		for _, name := range l.Names() {
			for _, r := range []*Regular{&grid, &index} {
				got := l.MeanOver(name, r, -5, 25)
				if len(got) != 30 {
					t.Fatalf("%q: %d levels, want 30", name, len(got))
				}
				for k, v := range got {
					if v < 0 || math.IsInf(v, 0) {
						t.Fatalf("%q: level %d is %v", name, k, v)
					}
				}
			}
		}
		if native := table.Native(nil); native.Length() < 0 {
			t.Fatalf("the stamps come each %v", native)
		}
	})
}
