package events

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capcli"
	"capcli/forecast/roadmap"
)

// planOf parses a file of events from its lines.
func planOf(t interface{ Fatal(args ...any) }, file, zone string, lines ...string) *Plan {
	text := "capcli: events/v1\n"
	if zone != "" {
		text += "timezone: " + zone + "\n"
	}
	p, err := Parse(file, []byte(text+"events:\n  - "+strings.Join(lines, "\n  - ")+"\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Events that are drawn, divided among files and given in two orders merge to the same plan: each event once, with its
// file and line, in the order of the files' names. An event that several files tell alike counts once, with a note.
func TestMergeHasNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := map[string][]string{}
		var want []string
		twice := 0
		for i := range rapid.IntRange(2, 12).Draw(t, "events") {
			line := fmt.Sprintf("{name: e%d, kind: step, from: 2027-01-%02d, gpus: %d, team: t%d}", i, rapid.IntRange(1, 28).Draw(t, "day"), rapid.IntRange(1, 64).Draw(t, "gpus"), i%3)
			if i%4 == 3 {
				line = fmt.Sprintf("{name: e%d, kind: holiday, dates: 12-%02d}", i, rapid.IntRange(1, 28).Draw(t, "day"))
			}
			files := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.yaml", "b.yaml", "c.yaml"}), 1, 2, rapid.ID[string]).Draw(t, "files")
			for _, f := range files {
				lines[f] = append(lines[f], line)
			}
			twice += len(files) - 1
		}
		var plans []*Plan
		for _, f := range []string{"a.yaml", "b.yaml", "c.yaml"} {
			if len(lines[f]) == 0 {
				continue
			}
			p := planOf(t, f, map[string]string{"b.yaml": "Asia/Tokyo"}[f], lines[f]...)
			for i := range p.List { // the zone of b.yaml is another, and with it its instants
				if f == "b.yaml" && p.List[i].Holiday == nil {
					p.List[i].Event.Start += 9 * 3600
				} else if p.List[i].Holiday != nil {
					p.List[i].Holiday.Zone = nil
				}
			}
			for _, e := range p.List {
				if !slices.Contains(want, e.Name) {
					want = append(want, e.Name)
				}
			}
			plans = append(plans, p)
		}
		first, err := Merge(plans)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Merge(rapid.Permutation(plans).Draw(t, "order"))
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Fatalf("another order gives another plan, %v:\n%+v\n%+v", err, first, second)
		}
		var got []string
		for _, e := range first.List {
			got = append(got, e.Name)
			if k := slices.IndexFunc(plans, func(p *Plan) bool { return p.File == e.File }); k < 0 || !slices.ContainsFunc(plans[k].List, func(x roadmap.Entry) bool { return x.Name == e.Name && x.Line == e.Line }) {
				t.Fatalf("%s is said to be in %s, and is not", e.Name, e.Place())
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("events %v, want %v", got, want)
		}
		once := 0
		for _, n := range first.Notes {
			if strings.HasSuffix(n, "and is the same: it counts once") {
				once++
			}
		}
		if len(plans) > 1 && once != twice {
			t.Fatalf("%d notes of events that are told twice, want %d: %v", once, twice, first.Notes)
		}
	})
}

// One name for two things is refused with both places and what differs.
func TestMergeRefusesOneNameForTwo(t *testing.T) {
	const same = "name: launch, kind: step, from: 2027-01-15, gpus: 64"
	for _, row := range []struct{ other, want string }{
		{"name: launch, kind: step, from: 2027-01-15, gpus: 80", "size: 64 GPUs and 80 GPUs"},
		{"name: launch, kind: step, from: 2027-01-16, gpus: 64", "from: 2027-01-15T00:00:00Z and 2027-01-16T00:00:00Z"},
		{"name: launch, kind: step, from: 2027-01-15, gpus: 64, probability: 50%", "probability: 1 and 0.5"},
		{"name: launch, kind: step, from: 2027-01-15, gpus: 64, team: nlp", "team: none and nlp"},
		{"name: launch, kind: step, from: 2027-01-15, gpus: 64, sd: 3", "low, high, sd, late or delays"},
		{"name: launch, kind: step, from: 2027-01-15, gpus: 64, series: h100", "series"},
		{"name: launch, kind: step, from: 2027-01-15, gpus: 64, reason: x", "what is said of the request"},
		{"name: launch, kind: pulse, from: 2027-01-15, to: 2027-01-16, gpus: 64", "kind: step and pulse"},
		{"name: launch, kind: holiday, dates: 01-15", "kind: step and holiday"},
	} {
		_, err := Merge([]*Plan{planOf(t, "b.yaml", "", "{name: x, kind: step, from: 2027-01-15, gpus: 1}", "{"+row.other+"}"), planOf(t, "a.yaml", "", "{"+same+"}")})
		in, ok := errors.AsType[*capcli.InputError](err)
		if !ok || in.File != "b.yaml" || in.Line != 4 || in.Text != `the event "launch" is in a.yaml:3 too, and the two differ in `+row.want+"; the output goes by the name" {
			t.Errorf("%s: %v", row.other, err)
		}
	}
	tokyo := planOf(t, "b.yaml", "Asia/Tokyo", "{name: day off, kind: holiday, dates: 12-25}")
	if _, err := Merge([]*Plan{planOf(t, "a.yaml", "", "{name: day off, kind: holiday, dates: 12-25}"), tokyo}); err == nil || !strings.Contains(err.Error(), "dates, before, after or timezone") {
		t.Errorf("holidays of two zones: %v", err)
	}
}

// Overlapping events of different files are named with their places and GPUs, the nearest starts first; those of one
// file, of other series or of other times are not.
func TestMergeNamesOverlaps(t *testing.T) {
	a := planOf(t, "a.yaml", "",
		"{name: chat launch, kind: step, from: 2027-01-15, gpus: 64}",
		"{name: own, kind: step, from: 2027-01-15, gpus: 1}",
		"{name: brief, kind: pulse, from: 2026-03-01, to: 2026-03-31, gpus: 8}",
		"{name: elsewhere, kind: step, from: 2027-01-15, gpus: 9, series: v100}")
	b := planOf(t, "b.yaml", "Europe/Berlin",
		"{name: assistant, kind: ramp, from: 2027-01-20, to: 2027-01-25, gpus: 60, series: h100}",
		"{name: spring, kind: pulse, from: 2026-03-31T12:00:00Z, to: 2026-04-30, share: 25%}",
		"{name: day off, kind: holiday, dates: 12-25}")
	got, err := Merge([]*Plan{b, a})
	if err != nil {
		t.Fatal(err)
	}
	want := "events of different files change the same series at the same time; where two tell of one thing, keep one: " + // 5, 5 and 30 days apart
		"chat launch (a.yaml:3, 64 GPUs from 2027-01-15) and assistant (b.yaml:4, 60 GPUs from 2027-01-20); " +
		"own (a.yaml:4, 1 GPU from 2027-01-15) and assistant (b.yaml:4, 60 GPUs from 2027-01-20); " +
		"brief (a.yaml:5, 8 GPUs from 2026-03-01) and spring (b.yaml:5, 25% of the forecast from 2026-03-31)"
	if len(got.Notes) != 1 || got.Notes[0] != want {
		t.Fatalf("notes %q,\nwant %q", got.Notes, want)
	}
	both := planOf(t, "c.yaml", "", "{name: christmas, kind: holiday, dates: [12-24, 12-25]}")
	if got, err = Merge([]*Plan{b, both}); err != nil || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "day off (b.yaml:6, as the history says) and christmas (c.yaml:3, as the history says)") {
		t.Errorf("%v %q", err, got.Notes)
	}
}

// The days of each file are in its own zone, also where a holiday is added to those of another file.
func TestMergeKeepsZones(t *testing.T) {
	got, err := Merge([]*Plan{
		planOf(t, "west.yaml", "America/New_York", "{name: w, kind: step, from: 2027-01-15, gpus: 1}", "{name: wd, kind: holiday, dates: 07-04}"),
		planOf(t, "east.yaml", "Asia/Tokyo", "{name: e, kind: step, from: 2027-01-15, gpus: 1}", "{name: ed, kind: holiday, dates: 02-11}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Asia/Tokyo", "Asia/Tokyo", "America/New_York", "America/New_York"} {
		e := &got.List[i]
		if e.Zone.String() != want {
			t.Errorf("%s is in %s, want %s", e.Name, e.Zone, want)
		}
		if e.Holiday != nil {
			day := capcli.TimeOf(time.Date(2027, e.Holiday.Days[0].Month, e.Holiday.Days[0].Day, 0, 0, 0, 0, e.Zone))
			c := e.Calendar(2027, 2027)
			if _, columns := c.Regressors([]capcli.Time{day - 3600, day, day + 86400, day + 90000}); !slices.Equal(columns[0], []float64{0, 1, 0}) {
				t.Errorf("%s: shares of the steps %v", e.Name, columns[0])
			}
		}
	}
	if d := got.List[2].Event.Start - got.List[0].Event.Start; d != 14*3600 {
		t.Errorf("one day begins %d s apart", d)
	}
}
