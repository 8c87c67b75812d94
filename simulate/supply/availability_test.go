package supply_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/supply"
)

var spotDir = filepath.Join("..", "..", "..", "shared", "data", "spot")

// spotTable reads a CSV of the spot data without its header, or skips the test.
func spotTable(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(spotDir, name))
	if err != nil {
		t.Skipf("the spot data are not here: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func history(t *testing.T, name string) supply.Availability {
	t.Helper()
	f, err := os.Open(filepath.Join(spotDir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := supply.ParseAvailability(f, supply.CountsAvailable)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Each recorded history against what its summary says, both as read and as a
// pool that follows it: node-seconds up over node-seconds in all.
func TestRecordedHistories(t *testing.T) {
	for _, row := range spotTable(t, "summary.csv") {
		a := history(t, row[0])
		gap, _ := strconv.Atoi(row[1])
		ticks, _ := strconv.Atoi(row[2])
		nodes, _ := strconv.Atoi(row[4])
		mean, _ := strconv.ParseFloat(row[5], 64)
		if int(a.Gap) != gap || len(a.Counts) != ticks || a.Size() != nodes {
			t.Errorf("%s: gap %d, ticks %d, nodes %d; want %d, %d, %d", row[0], a.Gap, len(a.Counts), a.Size(), gap, ticks, nodes)
		}
		var up, at, sum capcli.Seconds = capcli.Seconds(nodes), 0, 0
		for _, c := range changesUntil(supply.NewAvailability(a, nodes, supply.Following{}), a.Span()) {
			sum, at = sum+up*(c.At-at), c.At
			if c.Kind == simulate.Gain {
				up++
			} else {
				up--
			}
		}
		sum += up * (a.Span() - at)
		if got := float64(sum) / float64(int(a.Span())*nodes); math.Abs(got-mean) > 0.00005001 {
			t.Errorf("%s: up %.5f of the time, want %.4f", row[0], got, mean)
		}
	}
}

// Every tick of every history against its run lengths, told by others.
func TestEveryTickOfTheHistories(t *testing.T) {
	read := map[string]supply.Availability{}
	for _, row := range spotTable(t, "all_ticks_rle.csv") {
		a, ok := read[row[0]]
		if !ok {
			a = history(t, row[0])
			read[row[0]] = a
		}
		from, _ := strconv.Atoi(row[1])
		to, _ := strconv.Atoi(row[2])
		want, _ := strconv.Atoi(row[3])
		for i := from / int(a.Gap); i < to/int(a.Gap); i++ {
			if a.Counts[i] != want {
				t.Fatalf("%s: tick %d is %d, want %d", row[0], i, a.Counts[i], want)
			}
		}
	}
	if len(read) < 30 {
		t.Errorf("%d histories, want the 34 of the data", len(read))
	}
}

func TestParseAvailability(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		polarity   supply.Polarity
		want       []int
		field, err string
	}{
		{"available", `{"metadata": {"gap_seconds": 300, "start": {"x": [1]}}, "data": [0, 3, 2.0], "prices": [0.3, [null]]}`, supply.CountsAvailable, []int{0, 3, 2}, "", ""},
		{"preempted", `{"data": [0, 1, 1], "metadata": {"gap_seconds": 300}}`, supply.CountsPreempted, []int{1, 0, 0}, "", ""},
		{"preempted of four", `{"data": [0, 4, 1], "metadata": {"gap_seconds": 300}}`, supply.CountsPreempted, []int{4, 0, 3}, "", ""},
		{"empty", ``, 0, nil, "", "found nothing"},
		{"cut", `{"data": [0, 1`, 0, nil, "", "ends in the middle"},
		{"not json", `gap,data`, 0, nil, "", "expected JSON"},
		{"a list", `[1]`, 0, nil, "", "expected {, found ["},
		{"no gap", `{"data": [0, 1]}`, 0, nil, "metadata.gap_seconds", "is missing"},
		{"no data", `{"metadata": {"gap_seconds": 300}}`, 0, nil, "data", "is missing"},
		{"gap 0", `{"metadata": {"gap_seconds": 0}, "data": [1]}`, 0, nil, "metadata.gap_seconds", "from 1 to"},
		{"negative", `{"metadata": {"gap_seconds": 1}, "data": [1, -1]}`, 0, nil, "data[1]", "found -1"},
		{"half", `{"metadata": {"gap_seconds": 1}, "data": [1, 0.5]}`, 0, nil, "data[1]", "found 0.5"},
		{"huge", `{"metadata": {"gap_seconds": 1}, "data": [1e300]}`, 0, nil, "data[0]", "found 1e300"},
		{"text", `{"metadata": {"gap_seconds": 1}, "data": ["1"]}`, 0, nil, "data[0]", "found 1"},
		{"null", `{"metadata": {"gap_seconds": 1}, "data": [null]}`, 0, nil, "data[0]", "found null"},
		{"twice", `{"data": [1], "data": [1]}`, 0, nil, "data", "twice"},
		{"more", `{"metadata": {"gap_seconds": 1}, "data": [1]} {}`, 0, nil, "", "more follows"},
		{"deep", `{"x": ` + strings.Repeat("[", 200), 0, nil, "", "nested"},
	} {
		a, err := supply.ParseAvailability(strings.NewReader(tt.text), tt.polarity)
		var in *capcli.InputError
		switch {
		case tt.err == "" && (err != nil || !slices.Equal(a.Counts, tt.want) || a.Gap != 300):
			t.Errorf("%s: %v, gap %d, %v; want %v", tt.name, a.Counts, a.Gap, err, tt.want)
		case tt.err != "" && (!errors.As(err, &in) || in.Field != tt.field || !strings.Contains(in.Text, tt.err)):
			t.Errorf("%s: error %v, want one with %q of field %q", tt.name, err, tt.err, tt.field)
		}
	}
	if _, err := supply.ParseAvailability(broken{}, 0); !errors.Is(err, errBroken) || errors.As(err, new(*capcli.InputError)) {
		t.Errorf("a reader that fails gives %v", err)
	}
}

var errBroken = errors.New("disk is on fire")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func FuzzParseAvailability(f *testing.F) {
	f.Add([]byte(`{"metadata": {"gap_seconds": 300}, "data": [0, 3, 16]}`), false)
	f.Add([]byte(`{"data": [1, 0], "prices": [0.1], "metadata": {"gap_seconds": 1e1}}`), true)
	f.Fuzz(func(t *testing.T, b []byte, gone bool) {
		p := supply.CountsAvailable
		if gone {
			p = supply.CountsPreempted
		}
		a, err := supply.ParseAvailability(bytes.NewReader(b), p)
		if err != nil {
			if !errors.As(err, new(*capcli.InputError)) {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		if a.Gap < 1 || len(a.Counts) == 0 || slices.Min(a.Counts) < 0 {
			t.Fatalf("gap %d, %d ticks", a.Gap, len(a.Counts))
		}
		up := make([]bool, 8)
		for i := range up {
			up[i] = true
		}
		for _, c := range changesUntil(supply.NewAvailability(a, 8, supply.Following{Notice: 60, Repeat: true}), 1000) {
			if c.Kind != simulate.Drain && up[c.Node] == (c.Kind == simulate.Gain) {
				t.Fatalf("node %d: %s twice", c.Node, c.Kind)
			}
			if c.Kind != simulate.Drain {
				up[c.Node] = c.Kind == simulate.Gain
			}
		}
	})
}
